//===- Errors.h - Exceptions of the Python module ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A failing call of the runtime throws attune::Error (runtime.hpp). This module translates it to a Python exception
// with the runtime's message, of the class that attune/errors.py has for the status of the error.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_ERRORS_H
#define ATTUNE_PYTHON_ERRORS_H

#include "attune/runtime.hpp"

#include <nanobind/nanobind.h>

namespace attune::python {

namespace nb = nanobind;

/// Registers the translation of attune::Error, and adds the function status_name to |module|.
void bindErrors(nb::module_ &module);

/// Returns the |bytes| bytes of UTF-8 at |text| as a Python string. Bytes that are not UTF-8, as in a file name or a
/// message that was cut, become replacement characters.
nb::str toText(const char *text, size_t bytes);
/// Returns the first line of the message of a Python exception.
std::string messageOf(nb::python_error &error);

/// Returns the name of the class of |value|.
std::string className(nb::handle value);

/// Throws attune::Error with INVALID_ARGUMENT and |message|.
[[noreturn]] void throwInvalid(const std::string &message);

} // namespace attune::python

#endif // ATTUNE_PYTHON_ERRORS_H
