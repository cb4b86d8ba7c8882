//===- Errors.h - Exceptions of the Python module ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A failing call of the runtime throws attune::Error (runtime.hpp), which becomes the Python class of its status in
// attune/errors.py, with the runtime's words.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_ERRORS_H
#define ATTUNE_PYTHON_ERRORS_H

#include "attune/runtime.hpp"

#include <nanobind/nanobind.h>

namespace attune::python {

namespace nb = nanobind;

/// Adds the translation of attune::Error, and the table of statuses, to |module|.
void bindErrors(nb::module_ &module);

/// Returns |text|, UTF-8 that may have been cut or come from a file name, as a Python string.
nb::str toText(const char *text, size_t bytes);
/// Returns the first line of the message of a Python exception.
std::string messageOf(nb::python_error &error);

/// Returns the name of the class of |value|.
std::string className(nb::handle value);

/// Throws attune::Error with INVALID_ARGUMENT and |message|.
[[noreturn]] void throwInvalid(const std::string &message);

} // namespace attune::python

#endif // ATTUNE_PYTHON_ERRORS_H
