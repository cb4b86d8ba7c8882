//===- TensorArgument.cpp - Arrays of Python as tensors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorArgument.h"

#include <cstring>

using namespace attune;
using namespace attune::python;

namespace {
/// A type of elements. |letters| are its format characters in the buffer protocol, each counted only if it has |bits|
/// bits on this machine; |code| and |bits| are its type in DLPack. |dtype| is the attune_dtype, -1 if the runtime has
/// no such type; |name| is for messages.
struct KnownType {
  const char *letters;
  uint8_t code, bits;
  int dtype;
  const char *name;
};
} // namespace

static constexpr KnownType knownTypes[] = {
    {"f", 2, 32, ATTUNE_F32, "f32"}, {"lqn", 0, 64, ATTUNE_I64, "i64"}, {"i", 0, 32, ATTUNE_I32, "i32"}, {"b", 0, 8, ATTUNE_I8, "i8"},
    {"e", 2, 16, ATTUNE_F16, "f16"}, {"", 4, 16, ATTUNE_BF16, "bf16"},  {"d", 2, 64, -1, "f64"},         {"?", 6, 8, -1, "bool"},
    {"B", 1, 8, -1, "u8"},           {"h", 0, 16, -1, "i16"},           {"H", 1, 16, -1, "u16"},         {"I", 1, 32, -1, "u32"},
    {"LQN", 1, 64, -1, "u64"}};

TensorArgument::TensorArgument(const char *name, nb::handle value, Access access, const attune_tensor_desc *signature, attune_device device)
    : name(name), access(access), signature(signature), device(device) {
  if (view(value))
    return;
  if (access == Access::Output)
    throwInvalid(label() + " is not contiguous, expected a dense array in row-major order");
  owner = convert(value);
  if (!view(owner))
    throwInvalid(label() + " cannot be made a dense array");
}

TensorArgument::~TensorArgument() {
  if (hasBuffer)
    PyBuffer_Release(&buffer);
}

std::string TensorArgument::label() const { return std::string(access == Access::Input ? "input '" : "output '") + name + "'"; }

attune_tensor TensorArgument::c() const {
  size_t bytes = type.bytes;
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= static_cast<size_t>(shape[i]);
  return {name, static_cast<attune_dtype>(type.dtype), rank, shape, data, bytes};
}

bool TensorArgument::view(nb::handle value) {
  if (PyObject_CheckBuffer(value.ptr()))
    return viewBuffer(value);
  if (PyObject_HasAttrString(value.ptr(), "__dlpack__"))
    return viewDlpack(value);
  bool isNumber = PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr());
  if (access == Access::Input && (isNumber || PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())))
    return false;
  throwInvalid(label() + " is of the class " + className(value) + ", expected an array (NumPy, DLPack)" +
               (access == Access::Input ? " or a list of numbers" : ""));
}

/// Returns the letter of the buffer format |format|: 'B' for null, as the protocol says, and 0 for a format of several
/// letters or of big-endian order.
static char findLetter(const char *format) {
  if (!format)
    return 'B';
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  return format[0] && !format[1] ? format[0] : '\0';
}

bool TensorArgument::viewBuffer(nb::handle value) {
  int flags = PyBUF_FORMAT | PyBUF_STRIDES | (access == Access::Output ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(value.ptr(), &buffer, flags) != 0) {
    nb::python_error error;
    throwInvalid(label() + ": " + messageOf(error));
  }
  hasBuffer = true;
  char letter = findLetter(buffer.format);
  type = {-1, buffer.format ? buffer.format : "unknown", static_cast<size_t>(buffer.itemsize)};
  for (const KnownType &known : knownTypes)
    if (letter && std::strchr(known.letters, letter) && size_t(known.bits) == 8 * type.bytes)
      type.dtype = known.dtype, type.name = known.name;
  checkDtype();
  if (buffer.ndim > ATTUNE_MAX_RANK)
    throwInvalid(label() + " has " + std::to_string(buffer.ndim) + " dimensions, at most " + std::to_string(ATTUNE_MAX_RANK) + " expected");
  for (int i = 0; i < buffer.ndim; ++i)
    shape[i] = buffer.shape[i];
  bool done = finishView(buffer.buf, buffer.ndim, PyBuffer_IsContiguous(&buffer, 'C'));
  if (!done) {
    PyBuffer_Release(&buffer);
    hasBuffer = false;
  }
  return done;
}

/// Returns the tensor that |value|, an object with `__dlpack__`, exports. |label| is for messages. Throws
/// INVALID_ARGUMENT if the export fails.
template <typename Array>
static Array importDlpack(nb::handle value, const std::string &label) {
  try {
    return nb::cast<Array>(value.attr("__dlpack__")());
  } catch (nb::python_error &error) {
    throwInvalid(label + ": " + messageOf(error));
  } catch (const std::exception &error) { // nanobind cannot convert the capsule
    throwInvalid(label + ": cannot be read by DLPack: " + error.what());
  }
}

bool TensorArgument::viewDlpack(nb::handle value) {
  auto read = [&](const auto &tensor) {
    type = {-1, "of an unknown type", 0};
    nanobind::dlpack::dtype element = tensor.dtype();
    for (const KnownType &known : knownTypes)
      if (known.code == element.code && known.bits == element.bits && element.lanes == 1)
        type = {known.dtype, known.name, size_t(known.bits / 8)};
    checkDtype();
    bool isHost = tensor.device_type() == nb::device::cpu::value || tensor.device_type() == nb::device::cuda_host::value ||
                  tensor.device_type() == nb::device::cuda_managed::value;
    if (!isHost && !(device == ATTUNE_DEVICE_CUDA && tensor.device_type() == nb::device::cuda::value))
      throwInvalid(label() + " is in memory of a device, expected memory of the CPU" +
                   (device == ATTUNE_DEVICE_CUDA ? " or of the GPU" : ""));
    if (tensor.ndim() > ATTUNE_MAX_RANK)
      throwInvalid(label() + " has " + std::to_string(tensor.ndim()) + " dimensions, at most " + std::to_string(ATTUNE_MAX_RANK) +
                   " expected");
    bool contiguous = true;
    int64_t stride = 1;
    for (size_t i = tensor.ndim(); i-- > 0; stride *= shape[i]) {
      shape[i] = tensor.shape(i);
      contiguous &= shape[i] <= 1 || tensor.stride(i) == stride;
    }
    return finishView(const_cast<void *>(static_cast<const void *>(tensor.data())), int(tensor.ndim()), contiguous || tensor.size() == 0);
  };
  bool done;
  if (access == Access::Output) {
    array = importDlpack<nb::ndarray<>>(value, label());
    done = read(array);
  } else {
    constantArray = importDlpack<nb::ndarray<nb::ro>>(value, label());
    done = read(constantArray);
  }
  return done;
}

bool TensorArgument::finishView(void *pointer, int dimensions, bool contiguous) {
  rank = static_cast<uint32_t>(dimensions);
  data = pointer;
  return contiguous && reinterpret_cast<uintptr_t>(pointer) % type.bytes == 0;
}

void TensorArgument::checkDtype() const {
  if (type.dtype >= 0)
    return;
  std::string expected = signature ? attune_dtype_name(static_cast<attune_dtype>(signature->dtype)) : "f32 or i64";
  if (signature && signature->dtype == ATTUNE_I64 && access == Access::Input)
    expected += " or i32";
  throwInvalid(label() + " has elements " + type.name + ", expected " + expected);
}

nb::object TensorArgument::convert(nb::handle value) const {
  try {
    return nb::module_::import_("attune._arrays")
        .attr("as_dense")(value, name, signature ? attune_dtype_name(static_cast<attune_dtype>(signature->dtype)) : "");
  } catch (nb::python_error &error) {
    throwInvalid(label() + ": " + messageOf(error));
  }
}

void TensorArguments::add(nb::dict named) {
  arguments.reserve(named.size());
  tensors.reserve(named.size());
  names.reserve(named.size());
  for (auto [key, value] : named) {
    if (!PyUnicode_Check(key.ptr()))
      throwInvalid("names of tensors are strings, got a key of the class " + className(key));
    Py_ssize_t bytes = 0;
    const char *name = PyUnicode_AsUTF8AndSize(key.ptr(), &bytes);
    if (!name || std::strlen(name) != static_cast<size_t>(bytes)) {
      PyErr_Clear();
      throwInvalid("the name of a tensor is not text without NUL");
    }
    names.push_back(nb::borrow(key));
    if (!value.is_none())
      add(name, value);
  }
}

void TensorArguments::add(const char *name, nb::handle value) {
  const attune_tensor_desc *signature = nullptr;
  if (entry) {
    const attune_tensor_desc *list = access == Access::Input ? entry->inputs : entry->outputs;
    uint32_t count = access == Access::Input ? entry->num_inputs : entry->num_outputs;
    for (uint32_t i = 0; i < count && !signature; ++i)
      signature = std::strcmp(list[i].name, name) == 0 ? &list[i] : nullptr;
  }
  arguments.push_back(std::make_unique<TensorArgument>(name, value, access, signature, static_cast<attune_device>(model.device)));
  tensors.push_back(arguments.back()->c());
}
