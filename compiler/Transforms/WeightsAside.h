//===- WeightsAside.h - A module without its weights -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H
#define ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H

#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// Takes the weights (`xfmr.weight`) out of a module and puts them back, where they were, at the end of its own life. Meanwhile upstream
/// passes that look at all symbols of a module for every call do not see them: there are far more weights than functions, and both numbers
/// grow with the layers. Nothing may name weights, and no operation may be inserted between weights, meanwhile.
class WeightsAside {
public:
  explicit WeightsAside(mlir::ModuleOp module);
  WeightsAside(const WeightsAside &) = delete;
  WeightsAside &operator=(const WeightsAside &) = delete;
  ~WeightsAside();

private:
  mlir::ModuleOp module;
  /// Runs of weights, each with an operation that marks its place.
  llvm::SmallVector<std::pair<llvm::SmallVector<mlir::Operation *>, mlir::Operation *>> runs;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_WEIGHTSASIDE_H
