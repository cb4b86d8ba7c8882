//===- BoundArithmetic.h - Combining bounds of sizes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_BOUNDARITHMETIC_H
#define ATTUNE_COMPILER_TRANSFORMS_BOUNDARITHMETIC_H

#include "compiler/Transforms/SizeExpr.h"
#include <optional>

namespace attune {

/// An upper bound of a size; nullopt if none is known.
using Bound = std::optional<SizeExpr>;

inline Bound operator+(const Bound &a, const Bound &b) { return a && b ? Bound(*a + *b) : std::nullopt; }
inline Bound operator*(const Bound &a, const Bound &b) { return a && b ? Bound(*a * *b) : std::nullopt; }
/// Returns the upper bound of the larger of two sizes.
inline Bound max(const Bound &a, const Bound &b) { return a && b ? Bound(SizeExpr::max(*a, *b)) : std::nullopt; }

/// Returns the better of two upper bounds of one size. If only one is known, returns that one; if none is, nullopt. Of
/// two constants, returns the smaller; of a constant and an expression, the constant; of two expressions, |b| if it is
/// provably at most |a|, else |a|.
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
