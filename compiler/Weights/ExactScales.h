//===- ExactScales.h - Scales of weights that were quantized ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scale and the minimum of a row that a format represents exactly, as in a model whose weights were quantized in the
// same way. Without a minimum, the weight of the largest magnitude is a scale times one of at most 255 integers. A scale
// of f16 has 11 bits, so its product with an integer is exact in f32, and the odd part of the integer divides that of the
// weight: few integers are left to try.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H
#define ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H

#include "compiler/Weights/QuantizerLanes.h"

namespace attune {

/// Finds the scale and the minimum of a row that a format represents exactly.
class ExactScales {
public:
  explicit ExactScales(mlir::xfmr::WeightFormat format) : format(format), range(format) {}

  /// Returns true, and the group, if there is one for |weights|, which are from |least| to |largest|.
  bool find(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const;
  /// Returns false if no scale of f16 times an integer is |extreme|: the product has at most 11 + |bits| bits.
  bool isPossible(float extreme) const;

private:
  /// Returns |number| as the format stores it.
  float store(float number) const;
  bool isExact(llvm::ArrayRef<float> weights, QuantizedGroup group) const;
  bool findWithMinimum(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const;
  /// Finds a scale by |extreme|, the weight of the largest magnitude.
  bool findScale(llvm::ArrayRef<float> weights, float extreme, QuantizedGroup &group) const;
  /// Returns true, and the group, if |scale| is exact, and times |integer| is |extreme|.
  bool tryScale(llvm::ArrayRef<float> weights, float scale, float integer, float extreme, QuantizedGroup &group) const;

  mlir::xfmr::WeightFormat format;
  quantizer::IntegerRange range;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_EXACTSCALES_H
