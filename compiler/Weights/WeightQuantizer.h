//===- WeightQuantizer.h - Weights in formats of few bits -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of scale, minimum and integers for one group of weights. If the format represents the group exactly, as in
// a model whose weights were quantized in the same way, every weight stays the same f32. Otherwise the scale is the
// candidate with the smallest squared error, refined by least squares.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H
#define ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H

#include "dialect/Xfmr/IR/WeightFormat.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace attune {

/// A group of quantized weights: `weight[k]` is about `scale * integers[k] + minimum`.
struct QuantizedGroup {
  /// Scale and minimum as they are stored: a value of f16 if the format has those.
  float scale = 0, minimum = 0;
};

/// Quantizes groups of weights in one format.
class WeightQuantizer {
public:
  explicit WeightQuantizer(mlir::xfmr::WeightFormat format);

  /// Quantizes |weights| to |quantized|, a byte for each weight. Infinite and NaN weights count as 0. Returns false if
  /// the scale or the minimum exceeds the range of f16.
  bool quantize(llvm::ArrayRef<float> weights, QuantizedGroup &group, uint8_t *quantized) const;

  /// Writes one group of columns of a panel to |out|, in the layout of the format: |numbers| has the scale and the
  /// minimum of each row, |quantized| the |columns| bytes of each row.
  void write(llvm::ArrayRef<QuantizedGroup> numbers, const uint8_t *quantized, int64_t columns, uint8_t *out) const;

private:
  float store(float number) const;
  double errorOf(llvm::ArrayRef<float> weights, QuantizedGroup group) const;
  bool findExact(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const;
  bool isExact(llvm::ArrayRef<float> weights, QuantizedGroup group) const;
  void search(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const;
  void refine(llvm::ArrayRef<float> weights, QuantizedGroup &group) const;
  /// Returns the integer of |weight|, as a float; |inverse| is the inverse of the scale.
  float integerOf(float weight, float minimum, float inverse) const;

  mlir::xfmr::WeightFormat format;
  /// The smallest and the largest integer.
  float lowest, highest;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H
