//===- LayerFunctions.h - One function per layer signature ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layers that differ only in the values of their weights share a private function, which takes the weights as
// arguments. Entries call this function once for each of these layers. So the size of a module hardly depends on depth.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_LAYERFUNCTIONS_H
#define ATTUNE_IMPORT_LAYERFUNCTIONS_H

#include "compiler/Import/LayerBody.h"
#include "compiler/Import/WeightTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {

/// The functions for the layers of one stack in one module, shared by all entries.
class LayerFunctions {
public:
  LayerFunctions(const TransformerSpec &spec, const StackSpec &stack, WeightTable &weights) : spec(spec), stack(stack), weights(weights) {}

  /// Creates a call of the function for |layer| on |operands| in the entry that |builder| is in. In a stack of
  /// NormPlacement::None, emits the layer there instead.
  LayerResults call(mlir::OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands, const LayerRequest &request);

  /// Creates a call of the function that writes the keys and values of the cross attention of |layer| to the caches
  /// among |operands|. Returns the updated caches.
  AttentionResults callCrossKeys(mlir::OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands);

private:
  using Emit = llvm::function_ref<LayerResults(LayerBody &)>;

  /// Creates a call of the function whose signature is |key|, completed by the types of its arguments. If there is none
  /// yet, first creates this function with the body that |emit| emits.
  mlir::func::CallOp callShared(mlir::OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands,
                                mlir::ArrayRef<WeightId> weightIds, std::string key, const std::string &name, Emit emit);
  /// Creates a function before |entry|. It is named |name|, with a number after it if it is not the first function of
  /// the stack. Its arguments are those of |operands| that are not null, then |weightIds|.
  mlir::func::FuncOp create(mlir::Operation *entry, const LayerSpec &layer, const LayerOperands &operands,
                            mlir::ArrayRef<WeightId> weightIds, const std::string &name, Emit emit);

  const TransformerSpec &spec;
  const StackSpec &stack;
  WeightTable &weights;
  /// The functions by signature.
  std::map<std::string, mlir::func::FuncOp> functions;
};

} // namespace attune

#endif // ATTUNE_IMPORT_LAYERFUNCTIONS_H
