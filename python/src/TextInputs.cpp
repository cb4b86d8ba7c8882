//===- TextInputs.cpp - Texts of Python for the C API ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TextInputs.h"

using namespace attune;
using namespace attune::python;

/// Returns the UTF-8 of the Python string |text|, and its length in |bytes|. The UTF-8 lives as long as |text|.
static const char *viewText(nb::handle text, size_t &bytes) {
  if (!PyUnicode_Check(text.ptr()))
    throwInvalid(std::string("expected a text or a pair of texts, got an object of the class ") + className(text));
  Py_ssize_t size;
  const char *utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!utf8) {
    PyErr_Clear();
    throwInvalid("the text has characters that Unicode has no UTF-8 for (surrogates)");
  }
  bytes = static_cast<size_t>(size);
  return utf8;
}

TextInputs::TextInputs(nb::sequence inputs) {
  PyObject *copy = PySequence_List(inputs.ptr());
  if (!copy)
    nb::raise_python_error();
  owners = nb::steal<nb::list>(copy);
  texts.reserve(owners.size());
  for (nb::handle input : owners) {
    attune_text_input text = {};
    if (PyTuple_Check(input.ptr()) && PyTuple_Size(input.ptr()) == 2) {
      text.text = viewText(PyTuple_GetItem(input.ptr(), 0), text.bytes);
      text.pair = viewText(PyTuple_GetItem(input.ptr(), 1), text.pair_bytes);
    } else {
      text.text = viewText(input, text.bytes);
    }
    total += text.bytes + text.pair_bytes;
    texts.push_back(text);
  }
}
