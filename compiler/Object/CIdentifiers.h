//===- CIdentifiers.h - Names of a model as identifiers of C ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dims and tensors may have any names. In the C header of an object they are identifiers.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_CIDENTIFIERS_H
#define ATTUNE_COMPILER_OBJECT_CIDENTIFIERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace attune {

/// Returns a distinct parameter name of a C or C++ function for each of |names|, in the same order. No result is
/// `workers`, which the functions in the header also have. A name that can be a parameter stays as it is. In other
/// names, bytes that are no ASCII letters or digits become underscores; the prefix `dim_` is added before a digit, an
/// underscore after a keyword, and a number where names become equal.
std::vector<std::string> createParameterNames(llvm::ArrayRef<llvm::StringRef> names);

/// Returns a distinct suffix of an enumerator for each of |names|, in the same order. No result is `count`, which the
/// header uses itself. Other names of ASCII letters, digits and underscores stay as they are; other bytes become
/// underscores.
std::vector<std::string> createEnumeratorSuffixes(llvm::ArrayRef<llvm::StringRef> names);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_CIDENTIFIERS_H
