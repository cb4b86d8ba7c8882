//===- WeightsAside.h - A module without its weights ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H
#define ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H

#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// A guard that takes weights (`xfmr.weight`) out of a module, all but the first of each run of adjacent ones. Its
/// destructor puts them back where they were. During its lifetime, upstream passes that visit all symbols of a module
/// for every call see only few weights: there are far more weights than functions, and both numbers grow with the
/// number of layers. During its lifetime nothing may refer to weights, no weight may be erased, and no operation may be
/// inserted between weights.
class WeightsAside {
public:
  explicit WeightsAside(mlir::ModuleOp module);
  WeightsAside(const WeightsAside &) = delete;
  WeightsAside &operator=(const WeightsAside &) = delete;
  ~WeightsAside();

private:
  mlir::ModuleOp module;
  /// For each run of adjacent weights: the weights that were taken out, and the first one, which stays in the module
  /// and marks the position.
  llvm::SmallVector<std::pair<llvm::SmallVector<mlir::Operation *>, mlir::Operation *>> runs;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H
