//===- Errors.cpp - Exceptions of the Python module -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Errors.h"

using namespace attune;
using namespace attune::python;

nb::str python::toText(const char *text, size_t bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(bytes), "replace"));
}

/// Returns |text| in UTF-8, with question marks for surrogates, which have no UTF-8.
static std::string encode(nb::handle text) {
  auto bytes = nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "replace"));
  if (!bytes.is_valid())
    nb::raise_python_error();
  return {bytes.c_str(), bytes.size()};
}

std::string python::messageOf(nb::python_error &error) {
  std::string text;
  try {
    text = encode(nb::str(error.value()));
  } catch (nb::python_error &) { // from the method __str__ of the exception's class, which may be the caller's
    text = "an exception of the class " + className(error.value());
  }
  return text.substr(0, text.find('\n'));
}

std::string python::className(nb::handle value) {
  nb::object name = nb::getattr(value.type(), "__name__", nb::none());
  return nb::isinstance<nb::str>(name) ? encode(name) : "?";
}

void python::throwInvalid(const std::string &message) { throw Error(ATTUNE_INVALID_ARGUMENT, message); }

/// Sets the Python exception for |error|. Names from the caller may contain line breaks and other control characters,
/// which become question marks, as in messages of the command line.
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
