//===- LayerFunctions.h - One function per layer signature ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layers that differ only in their numbers share a private function, which takes its weights as arguments; the entry calls it once per
// layer. So the size of a module hardly depends on depth.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_LAYERFUNCTIONS_H
#define ATTUNE_IMPORT_LAYERFUNCTIONS_H

#include "compiler/Import/WeightTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {

/// The sequences of the batch, as every layer sees them.
struct Sequences {
  mlir::Value offsets;
  mlir::Value length;
  /// Added to the scores; null if every token is visible.
  mlir::Value mask;
};

/// The layers of one stack in one module.
class LayerFunctions {
public:
  LayerFunctions(const TransformerSpec &spec, const StackSpec &stack, WeightTable &weights) : spec(spec), stack(stack), weights(weights) {}

  struct Results {
    mlir::Value hidden;
    /// Null unless asked for.
    mlir::Value probabilities;
  };

  /// Calls |layer| on |hidden|; |headMask| may be null.
  Results call(mlir::OpBuilder &builder, const LayerSpec &layer, mlir::Value hidden, const Sequences &sequences, mlir::Value headMask,
               bool probabilities);

private:
  /// Creates a function before |entry|.
  mlir::func::FuncOp create(mlir::Operation *entry, const LayerSpec &layer, mlir::TypeRange arguments,
                            mlir::ArrayRef<ParameterId> parameters, bool hasMask, bool hasHeadMask, bool probabilities);

  const TransformerSpec &spec;
  const StackSpec &stack;
  WeightTable &weights;
  /// Signature to function.
  std::map<std::string, mlir::func::FuncOp> functions;
};

} // namespace attune

#endif // ATTUNE_IMPORT_LAYERFUNCTIONS_H
