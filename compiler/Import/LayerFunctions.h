//===- LayerFunctions.h - One function per layer signature ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layers that differ only in their numbers share a private function, which takes its weights as arguments; entries call it once per
// layer. So the size of a module hardly depends on depth.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_LAYERFUNCTIONS_H
#define ATTUNE_IMPORT_LAYERFUNCTIONS_H

#include "compiler/Import/LayerBody.h"
#include "compiler/Import/WeightTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {

/// The layers of one stack in one module, for all its entries.
class LayerFunctions {
public:
  LayerFunctions(const TransformerSpec &spec, const StackSpec &stack, WeightTable &weights) : spec(spec), stack(stack), weights(weights) {}

  /// Calls |layer| on |operands|, from the entry that |builder| is in.
  LayerResults call(mlir::OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands, const LayerRequest &request);

  /// Calls the part of |layer| that writes the keys and values of its cross attention to the caches among |operands|.
  AttentionResults callCrossKeys(mlir::OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands);

private:
  using Emit = llvm::function_ref<LayerResults(LayerBody &)>;

  /// Calls the function that |key|, completed by the types of its arguments, stands for; |emit| makes its body if there is none yet.
  mlir::func::CallOp callShared(mlir::OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands,
                                mlir::ArrayRef<WeightId> weightIds, std::string key, const std::string &name, Emit emit);
  /// Creates a function called |name| before |entry| whose arguments are |operands| and then |weightIds|.
  mlir::func::FuncOp create(mlir::Operation *entry, const LayerSpec &layer, const LayerOperands &operands,
                            mlir::ArrayRef<WeightId> weightIds, const std::string &name, Emit emit);

  const TransformerSpec &spec;
  const StackSpec &stack;
  WeightTable &weights;
  /// Signature to function.
  std::map<std::string, mlir::func::FuncOp> functions;
};

} // namespace attune

#endif // ATTUNE_IMPORT_LAYERFUNCTIONS_H
