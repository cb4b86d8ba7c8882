//===- ExactScales.h - Scales of weights that were quantized ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the scale and the minimum of a group of weights in one row, if the format represents these weights exactly, as
// in a model whose weights were quantized in the same format before. Without a minimum, the weight of the largest
// magnitude is the scale times one of at most 255 integers. An f16 scale has 11 significant bits, so its product with
// an integer is exact in f32, and the odd part of the integer divides the odd part of the weight's mantissa: few
// integers are left to try.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H
#define ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H

#include "compiler/Weights/QuantizerLanes.h"

namespace attune {

/// Finds scales and minima of groups that a format represents exactly.
class ExactScales {
public:
  explicit ExactScales(mlir::xfmr::WeightFormat format) : format(format), range(format) {}

  /// Searches for a scale and a minimum with which the format represents |weights| exactly. |least| and |largest| are
  /// the least and the largest of the weights. If it finds one, sets |group| to the scale and the minimum and returns
  /// true; returns false and leaves |group| alone otherwise. In a format with minima it tries one minimum, with which
  /// |least| becomes the integer 0.
  bool find(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const;
  /// Returns false if no f16 scale times an integer can be |extreme|, the weight of the largest magnitude, because
  /// |extreme| has more significant bits than such a product, which has at most 11 plus the bits of an integer. Returns
  /// true for all formats with minima or scales of f32.
  bool isPossible(float extreme) const;

private:
  /// Returns |number| as the format stores a scale or a minimum: rounded to f16, or unchanged if the format stores f32.
  float store(float number) const;
  bool isExact(llvm::ArrayRef<float> weights, QuantizedGroup group) const;
  bool findWithMinimum(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const;
  /// Like find, for a format without minima. |extreme| is the weight of the largest magnitude.
  bool findScale(llvm::ArrayRef<float> weights, float extreme, QuantizedGroup &group) const;
  /// Sets |group| and returns true if |scale| represents |weights| exactly and |scale| * |integer| is |extreme|.
  bool tryScale(llvm::ArrayRef<float> weights, float scale, float integer, float extreme, QuantizedGroup &group) const;

  mlir::xfmr::WeightFormat format;
  quantizer::IntegerRange range;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H
