//===- BoundArithmetic.h - Combining bounds of sizes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_BOUNDARITHMETIC_H
#define ATTUNE_COMPILER_TRANSFORMS_BOUNDARITHMETIC_H

#include "compiler/Transforms/SizeExpr.h"
#include <optional>

namespace attune {

/// An upper bound of a size; none if nothing is known of it.
using Bound = std::optional<SizeExpr>;

inline Bound operator+(const Bound &a, const Bound &b) { return a && b ? Bound(*a + *b) : std::nullopt; }
inline Bound operator*(const Bound &a, const Bound &b) { return a && b ? Bound(*a * *b) : std::nullopt; }
/// A bound of what either bounds.
inline Bound max(const Bound &a, const Bound &b) { return a && b ? Bound(SizeExpr::max(*a, *b)) : std::nullopt; }

/// Either bound holds: a constant is the better one, then the one that is known to be smaller, then the first.
inline Bound min(const Bound &a, const Bound &b) {
  if (!a || !b)
    return a ? a : b;
  if (a->getConstant() && b->getConstant())
    return *a->getConstant() < *b->getConstant() ? a : b;
  if (a->getConstant() || b->getConstant())
    return a->getConstant() ? a : b;
  return b->isAtMost(*a) ? b : a;
}

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_BOUNDARITHMETIC_H
