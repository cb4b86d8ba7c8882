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

/// Weights of one group of columns in the rows of a panel: |rows| x |columns|, rows |pitch| elements apart.
struct PanelWeights {
  const float *weights;
  int64_t pitch, rows, columns;
};

/// Quantizes groups of weights in one format. Thread-safe.
class WeightQuantizer {
public:
  explicit WeightQuantizer(mlir::xfmr::WeightFormat format) : format(format) {}

  /// Quantizes one group of a panel of |width| rows (a multiple of 8) to |out|, in the layout of the format with
  /// |groupColumns| columns. Rows and columns that |group| does not have are zeros. Infinite and NaN weights count as 0.
  /// Returns false if a scale or a minimum exceeds the range of f16.
  bool quantize(PanelWeights group, int64_t width, int64_t groupColumns, uint8_t *out) const;

private:
  mlir::xfmr::WeightFormat format;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H
