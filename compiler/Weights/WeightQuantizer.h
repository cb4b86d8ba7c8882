//===- WeightQuantizer.h - Weights in formats of few bits -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses scale, minimum and integers for each row of a group of columns. If ExactScales finds numbers with which the
// format represents the weights exactly, as in a model whose weights were quantized in the same format before, every
// weight stays the same f32. Otherwise the scale is the candidate with the smallest squared error (weighted in formats
// without minima), refined by least squares.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H
#define ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H

#include "compiler/Weights/QuantizedGroup.h"
#include "dialect/Xfmr/IR/WeightFormat.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace attune {

/// The weights of one group of columns in the rows of a panel: |rows| x |columns|, with rows |pitch| elements apart.
struct PanelWeights {
  const float *weights;
  int64_t pitch, rows, columns;
};

/// Quantizes groups of weights in one format. Thread-safe.
class WeightQuantizer {
public:
  explicit WeightQuantizer(mlir::xfmr::WeightFormat format) : format(format) {}

  /// Quantizes one group of a panel of |width| rows (a multiple of 8) and writes it to |out|, in the layout of
  /// WeightFormat with |groupColumns| columns. Rows that |group| does not have are zeros; columns that it does not have
  /// get the stored value of the integer 0. Infinite and NaN weights count as 0. Returns false if the format stores f16
  /// and the chosen numbers may exceed its range: with minima, if the largest magnitude of a row does; without minima,
  /// if that magnitude divided by the largest integer does.
  ///
  /// |given| is empty, or has for each row of |group| the scale and minimum to use; null for rows whose scale is to be
  /// chosen.
  bool quantize(PanelWeights group, int64_t width, int64_t groupColumns, uint8_t *out,
                llvm::ArrayRef<const QuantizedGroup *> given = {}) const;
  /// Sets |numbers|[i] to the scale and the minimum that quantize() would choose for row i of |group|. Returns false in
  /// the cases in which quantize() does.
  bool choose(PanelWeights group, QuantizedGroup *numbers) const;
  /// Returns the integer that represents |weight| with the scale and the minimum of |group|.
  float integerOf(float weight, QuantizedGroup group) const;

private:
  class Chooser;
  mlir::xfmr::WeightFormat format;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H
