//===- Extent.h - Facts about extents ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_EXTENT_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_EXTENT_H

#include <Halide.h>

#include <optional>

namespace attune {

/// Returns the value of |extent| if it simplifies to a constant; otherwise nullopt.
inline std::optional<int64_t> constantOf(const Halide::Expr &extent) {
  Halide::Expr simple = Halide::Internal::simplify(extent);
  if (const int64_t *value = Halide::Internal::as_const_int(simple))
    return *value;
  return std::nullopt;
}

/// Returns an upper bound of |extent|; nullopt if none below 2^30 is known.
inline std::optional<int64_t> mostOf(const Halide::Expr &extent) {
  Halide::Expr bound = Halide::Internal::find_constant_bound(extent, Halide::Internal::Direction::Upper);
  if (bound.defined())
    if (std::optional<int64_t> value = constantOf(bound); value && *value < (1 << 30))
      return value;
  return std::nullopt;
}

/// Returns true if |extent| is known to be a multiple of |factor|.
inline bool isMultiple(const Halide::Expr &extent, int factor) { return Halide::Internal::can_prove(extent % factor == 0); }

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_EXTENT_H
