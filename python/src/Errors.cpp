//===- Errors.cpp - Exceptions of the Python module -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Errors.h"

#include <cstring>

using namespace attune;
using namespace attune::python;

nb::str python::toText(const char *text, size_t bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(bytes), "replace"));
}

std::string python::messageOf(nb::python_error &error) {
  std::string text = nb::str(error.value()).c_str();
  return text.substr(0, text.find('\n'));
}

void python::throwInvalid(const std::string &message) { throw Error(ATTUNE_INVALID_ARGUMENT, message); }

/// Sets the Python exception for |error|.
static void raise(const Error &error) {
  nb::object type = nb::module_::import_("attune.errors").attr("error_class")(static_cast<int>(error.status()));
  PyErr_SetObject(type.ptr(), toText(error.what(), std::strlen(error.what())).ptr());
}

void python::bindErrors(nb::module_ &module) {
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error &error) {
      raise(error);
    }
  });
  module.def(
      "status_name", [](int status) { return attune_status_name(static_cast<attune_status>(status)); }, nb::arg("status"));
}
