//===- ExactScales.h - Scales of weights that were quantized ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a scale and a minimum with which a format represents a group of weights in one row exactly, as is possible in a
// model whose weights were quantized in the same format before. In a format without minima, the weight of the largest
// magnitude is the scale times one of at most 255 integers. An f16 scale has 11 significant bits, so its product with
// an integer is exact in f32. Then the odd part of the integer, the integer without its factors of 2, divides the odd
// part of the weight's mantissa, so few integers are left to try.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H
#define ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H

#include "compiler/Weights/QuantizerLanes.h"

namespace attune {

/// The search for scales and minima in one format.
class ExactScales {
public:
  explicit ExactScales(mlir::xfmr::WeightFormat format) : format(format), range(format) {}

  /// Searches for a scale and a minimum with which the format represents |weights| exactly. |least| and |largest| are
  /// the least and the largest of the weights, not both 0. If the search succeeds, sets |group| to the scale and the
  /// minimum and returns true; otherwise leaves |group| as it is and returns false. In a format with minima, the only
  /// minimum tried is |least|, as the format stores it: |least| becomes the integer 0.
  bool find(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const;
  /// Returns false if |extreme|, the weight of the largest magnitude, cannot be the product of an f16 scale and an
  /// integer, because it has more significant bits than such a product: 11 plus the bits of an integer. Always returns
  /// true for a format with minima or f32 scales.
  bool isPossible(float extreme) const;

private:
  /// Returns |number| as the format stores a scale or a minimum: rounded to f16, or unchanged if the format stores f32.
  float store(float number) const;
  bool isExact(llvm::ArrayRef<float> weights, QuantizedGroup group) const;
  bool findWithMinimum(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const;
  /// Does the same as find, for a format without minima. |extreme| is the weight of the largest magnitude.
  bool findScale(llvm::ArrayRef<float> weights, float extreme, QuantizedGroup &group) const;
  /// If |scale| represents |weights| exactly and |scale| * |integer| is |extreme|, sets |group| to |scale| and the
  /// minimum 0, and returns true. Otherwise returns false.
  bool tryScale(llvm::ArrayRef<float> weights, float scale, float integer, float extreme, QuantizedGroup &group) const;

  mlir::xfmr::WeightFormat format;
  quantizer::IntegerRange range;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H
