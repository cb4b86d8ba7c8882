//===- Errors.cpp - Exceptions of the Python module -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Errors.h"

using namespace attune;
using namespace attune::python;

nb::str python::toText(const char *text, size_t bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(bytes), "replace"));
}

std::string python::messageOf(nb::python_error &error) {
  std::string text = nb::str(error.value()).c_str();
  return text.substr(0, text.find('\n'));
}

std::string python::className(nb::handle value) {
  nb::object name = nb::getattr(value.type(), "__name__", nb::none());
  return nb::isinstance<nb::str>(name) ? nb::borrow<nb::str>(name).c_str() : "?";
}

void python::throwInvalid(const std::string &message) { throw Error(ATTUNE_INVALID_ARGUMENT, message); }

/// Sets the Python exception for |error|. Names from the caller may contain line breaks, which become question marks, as
/// in messages of the command line.
static void raise(const Error &error) {
  std::string message = error.what();
  for (char &c : message)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  nb::object type = nb::module_::import_("attune.errors").attr("error_class")(static_cast<int>(error.status()));
  PyErr_SetObject(type.ptr(), toText(message.data(), message.size()).ptr());
}

void python::bindErrors(nb::module_ &module) {
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error &error) {
      raise(error);
    }
  });
  module.def("status_name", [](int status) { return attune_status_name(static_cast<attune_status>(status)); }, nb::arg("status"));
}
