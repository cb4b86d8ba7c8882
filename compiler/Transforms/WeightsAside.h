//===- WeightsAside.h - A module without its weights ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H
#define ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H

#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// A guard that takes the weights (`xfmr.weight`) out of a module. Its destructor puts them back where they were. In
/// between, upstream passes that visit all symbols of a module for every call do not see weights: there are far more
/// weights than functions, and both numbers grow with the number of layers. In between, nothing may refer to weights,
/// and no operation may be inserted between them.
class WeightsAside {
public:
  explicit WeightsAside(mlir::ModuleOp module);
  WeightsAside(const WeightsAside &) = delete;
  WeightsAside &operator=(const WeightsAside &) = delete;
  ~WeightsAside();

private:
  mlir::ModuleOp module;
  /// Runs of adjacent weights, each with an operation that marks its position.
  llvm::SmallVector<std::pair<llvm::SmallVector<mlir::Operation *>, mlir::Operation *>> runs;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H
