//===- WeightValues.h - Weights by the definitions of their sources -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Computes the elements of weight sources by the definitions of the sources, all elements of a source in memory. The
// only code shared with the packer reads stored tensors, computes tables, chooses the scales of groups, or finds the
// rows that a calibration has quantized.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_WEIGHTVALUES_H
#define ATTUNE_COMPILER_PLAIN_WEIGHTVALUES_H

#include "compiler/Weights/CalibratedRows.h"
#include "compiler/Weights/TensorProvider.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune {

/// The tensors of a model, and the rows that a calibration has quantized, at most one element for each format. This
/// object refers to both, so they must outlive it.
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

/// Returns the elements of |source|. The elements of |source|, and of each source in it, are rounded to f32 unless
/// |wide| is true. Fails if a tensor is missing, has another shape or cannot be read, if the plain path does not define
/// a source, or if f16 cannot store a scale of a group.
Result<WeightValue> evaluateWeight(mlir::Attribute source, const PlainWeights &weights, bool wide);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_WEIGHTVALUES_H
