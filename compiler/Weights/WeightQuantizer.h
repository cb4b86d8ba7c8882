//===- WeightQuantizer.h - Weights in formats of few bits -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the scale, the minimum and the integers for each row of a group of columns. If ExactScales finds a scale and
// a minimum with which the format represents the weights exactly, as in a model whose weights were quantized in the
// same format before, every weight keeps its f32 value. Otherwise the scale and the minimum are those of several
// candidates with the smallest squared error (weighted in formats without minima), refined by least squares.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H
#define ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H

#include "compiler/Weights/QuantizedGroup.h"
#include "dialect/Xfmr/IR/WeightFormat.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace attune {

/// The weights of one group of columns in the rows of a panel: |rows| x |columns|, with rows |pitch| elements apart.
/// The last panel of a matrix may have fewer rows, the last group fewer columns than others.
struct PanelWeights {
  const float *weights;
  int64_t pitch, rows, columns;
};

/// Quantizes groups of weights in one format. Thread-safe.
class WeightQuantizer {
public:
  explicit WeightQuantizer(mlir::xfmr::WeightFormat format) : format(format) {}

  /// Quantizes one group of a panel of |width| rows (a multiple of 8) and writes it to |out|, in the layout of
  /// WeightFormat with |groupColumns| columns. If |group| has fewer than |width| rows, the other rows have weights 0;
  /// if it has fewer than |groupColumns| columns, the other columns have the integer 0. Infinite and NaN weights count
  /// as 0. Returns false if the format stores scales as f16 and a scale or minimum may exceed the range of f16: with
  /// minima, if the largest magnitude of a row does; without minima, if that magnitude divided by the largest integer
  /// does. Such a scale or minimum is written as the f16 of the largest magnitude.
  ///
  /// |given|[i] is the scale and minimum to use for row i of |group|. Scales and minima are chosen for the rows for
  /// which it is null and for all rows if |given| is empty.
  bool quantize(PanelWeights group, int64_t width, int64_t groupColumns, uint8_t *out,
                llvm::ArrayRef<const QuantizedGroup *> given = {}) const;
  /// Sets |numbers|[i] to the scale and the minimum that quantize() would choose for row i of |group|. Returns false in
  /// the cases in which quantize() does.
  bool choose(PanelWeights group, QuantizedGroup *numbers) const;
  /// Returns the integer q, as a float, that represents |weight| with the scale and the minimum of |group|.
  float integerOf(float weight, QuantizedGroup group) const;

private:
  class Chooser;
  mlir::xfmr::WeightFormat format;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_WEIGHTQUANTIZER_H
