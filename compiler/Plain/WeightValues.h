//===- WeightValues.h - Weights by the definitions of their sources -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Evaluates weight sources by their definitions, each with all its elements in memory. Shares the code that reads
// stored tensors, computes tables, chooses the scales of groups and finds calibrated rows with the packer, and nothing
// else.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_WEIGHTVALUES_H
#define ATTUNE_COMPILER_PLAIN_WEIGHTVALUES_H

#include "compiler/Weights/CalibratedRows.h"
#include "compiler/Weights/TensorProvider.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune {

/// The tensors of a model, and the rows that a calibration has quantized, at most one element for each format. Both
/// must outlive the object.
struct PlainWeights {
  PlainWeights(const TensorProvider &tensors, llvm::ArrayRef<CalibratedRows> calibrated = {}) : tensors(&tensors), calibrated(calibrated) {}
  const TensorProvider *tensors;
  llvm::ArrayRef<CalibratedRows> calibrated;
};

/// The elements of a weight in row-major order.
struct WeightValue {
  llvm::SmallVector<int64_t, 5> shape;
  std::vector<double> values;
};

/// Returns the elements of |source|. Each source is rounded to f32 after it was computed, unless |wide|. Fails for
/// sources that the plain path does not define, and if f16 cannot store a scale of a group.
Result<WeightValue> evaluateWeight(mlir::Attribute source, const PlainWeights &weights, bool wide);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_WEIGHTVALUES_H
