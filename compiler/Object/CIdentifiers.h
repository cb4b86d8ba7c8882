//===- CIdentifiers.h - Names of a model as identifiers of C ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dims and tensors of a model may have any names. The C header of an object needs identifiers for them.
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
/// `workers`, another parameter of the functions in the header. A name that can be a parameter stays as it is. In any
/// other name, bytes that are no ASCII letters or digits become underscores. The prefix `dim_` is added to an empty
/// name and before a digit, two underscores, or an underscore and a capital letter; an underscore is added after a
/// keyword; `_2`, `_3` and so on are added where names become equal.
std::vector<std::string> createParameterNames(llvm::ArrayRef<llvm::StringRef> names);

/// Returns a distinct suffix of an enumerator for each of |names|, in the same order. `count` becomes `count_`, since
/// the header has an enumerator with the suffix `count` of its own. Other names of ASCII letters, digits and
/// underscores stay as they are. In the rest, other bytes become underscores, and `_2`, `_3` and so on are added where
/// names become equal.
std::vector<std::string> createEnumeratorSuffixes(llvm::ArrayRef<llvm::StringRef> names);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_CIDENTIFIERS_H
