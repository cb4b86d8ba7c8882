//===- IntegerScale.h - Numbers as 8-bit integers with a scale --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule by which `tile.quantize_rows` with groups and `xfmr.kv_cache_update` quantize numbers x whose largest
// magnitude is m:
//
//   scale = m / 127,  integer = round(x * (127 / m))          both 0 if m < 2^-119
//
// `round` rounds to nearest, ties to even. With an infinity or NaN among the numbers, the scale is NaN and the integers
// are 0.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_INTEGERSCALE_H
#define ATTUNE_COMPILER_TRANSFORMS_INTEGERSCALE_H

#include "compiler/Transforms/IndexBuilder.h"

namespace attune {

/// 1.5 * 2^23, and its bits as f32. The sum of this number and one of magnitude below 2^22 has the nearest integer
/// (ties to even), in two's complement, in its low bits.
constexpr double kShifter = 12582912.0;
constexpr int64_t kShifterBits = 0x4b400000;

/// The scale of quantized numbers, and `inverse`, the factor by which numbers are multiplied before they are rounded:
/// scalars, or vectors with a number for each lane.
struct IntegerScale {
  mlir::Value scale, inverse;
  mlir::Value isFinite; ///< of i1; the integers are 0 where it is false
};

/// Returns, for each lane, the larger of |largest| and the magnitude of |x|, which is f32. |largest| and the result are
/// the bits of non-negative f32 in i32: compared as integers, a NaN is larger than infinity, and infinity is larger
/// than all finite numbers.
mlir::Value maxMagnitude(IndexBuilder &b, mlir::Value x, mlir::Value largest);
/// Returns the scale of numbers whose largest magnitude has the bits |largest|, i32.
IntegerScale getIntegerScale(IndexBuilder &b, mlir::Value largest);
/// Returns the integers of |x|, a scalar or vector of f32, as i32.
mlir::Value toIntegers(IndexBuilder &b, mlir::Value x, const IntegerScale &scale);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_INTEGERSCALE_H
