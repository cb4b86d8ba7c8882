//===- NumpyArrays.cpp - New arrays of NumPy ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "NumpyArrays.h"

#include <cstring>

using namespace attune;
using namespace attune::python;

namespace {
/// The objects of NumPy that makeArray needs. They live as long as the process, because Python may end before
/// destructors run.
struct Numpy {
  Numpy() {
    nb::module_ numpy = nb::module_::import_("numpy");
    empty = nb::object(numpy.attr("empty")).release();
    f32 = numpy.attr("dtype")("float32").release();
    i64 = numpy.attr("dtype")("int64").release();
    i32 = numpy.attr("dtype")("int32").release();
  }
  nb::handle empty, f32, i64, i32;
};
} // namespace

/// Returns the objects of NumPy; imports NumPy at the first call. The caller holds the GIL, which guards |made|.
static const Numpy &numpy() {
  static const Numpy *made = nullptr;
  if (!made)
    made = new Numpy;
  return *made;
}

nb::object python::makeArray(attune_dtype dtype, const int64_t *shape, uint32_t rank) {
  const Numpy &module = numpy();
  nb::handle element = dtype == ATTUNE_F32   ? module.f32
                       : dtype == ATTUNE_I64 ? module.i64
                       : dtype == ATTUNE_I32 ? module.i32
                                             : nb::handle();
  if (!element)
    throw Error(ATTUNE_INTERNAL, std::string("no array of NumPy has elements ") + attune_dtype_name(dtype));
  nb::object sizes = nb::steal(PyTuple_New(rank));
  if (!sizes)
    nb::raise_python_error();
  for (uint32_t i = 0; i < rank; ++i) {
    PyObject *size = PyLong_FromLongLong(shape[i]);
    if (!size)
      nb::raise_python_error();
    PyTuple_SetItem(sizes.ptr(), i, size);
  }
  PyObject *arguments[] = {sizes.ptr(), element.ptr()};
  PyObject *array = PyObject_Vectorcall(module.empty.ptr(), arguments, 2, nullptr);
  if (!array)
    nb::raise_python_error();
  return nb::steal(array);
}

nb::object python::copyArray(attune_dtype dtype, const int64_t *shape, uint32_t rank, const void *values) {
  nb::object array = makeArray(dtype, shape, rank);
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_SIMPLE | PyBUF_WRITABLE) != 0)
    nb::raise_python_error();
  if (buffer.len)
    std::memcpy(buffer.buf, values, static_cast<size_t>(buffer.len));
  PyBuffer_Release(&buffer);
  return array;
}
