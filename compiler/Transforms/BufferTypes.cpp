//===- BufferTypes.cpp - Other types for buffers and their views ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/BufferTypes.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace attune;

/// Returns the type that the result of |op|, a view of a buffer, would have if the buffer had the type |source|; null
/// if |op| is none of the supported views, or if a buffer of that type has no such view.
static MemRefType getViewType(Operation *op, MemRefType source) {
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return memref::SubViewOp::inferRankReducedResultType(view.getType().getShape(), source, view.getMixedOffsets(), view.getMixedSizes(),
                                                         view.getMixedStrides());
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op)) {
    SmallVector<ReassociationIndices> groups = view.getReassociationIndices();
    return memref::CollapseShapeOp::isGuaranteedCollapsible(source, groups) ? memref::CollapseShapeOp::computeCollapsedType(source, groups)
                                                                            : MemRefType();
  }
  if (auto view = dyn_cast<memref::ExpandShapeOp>(op)) {
    FailureOr<MemRefType> type =
        memref::ExpandShapeOp::computeExpandedType(source, view.getResultType().getShape(), view.getReassociationIndices());
    return succeeded(type) ? *type : MemRefType();
  }
  return {};
}

/// Returns true if |op| accepts operands of any stride and offset and does not forward them as views.
static bool takesAnyStride(Operation *op) {
  return isa<memref::DimOp, memref::LoadOp, memref::StoreOp, memref::CopyOp, memref::DeallocOp, tiles::KeyPanelOp, tiles::AttentionTileOp,
             tiles::CacheRowsOp, tiles::UnpackKeysOp, tiles::GroupedProductOp, tiles::RotaryTileOp, tiles::QuantizeRowsOp>(op) ||
         isa<linalg::LinalgOp>(op);
}

bool BufferTypes::addUse(OpOperand &use, MemRefType type) {
  if (auto call = dyn_cast<func::CallOp>(use.getOwner()))
    return atCall(call, use.getOperandNumber(), type);
  if (takesAnyStride(use.getOwner()))
    return true;
  MemRefType view = getViewType(use.getOwner(), type);
  return view && add(use.getOwner()->getResult(0), view);
}

bool BufferTypes::add(Value buffer, MemRefType type) {
  if (buffer.getType() == type && !types.contains(buffer))
    return true;
  auto [entry, isNew] = types.insert({buffer, type});
  return isNew ? llvm::all_of(buffer.getUses(), [&](OpOperand &use) { return addUse(use, type); }) : entry->second == type;
}

void BufferTypes::apply() {
  llvm::SetVector<func::FuncOp> changed;
  for (auto [value, type] : types) {
    value.setType(type);
    if (auto argument = dyn_cast<BlockArgument>(value))
      changed.insert(cast<func::FuncOp>(argument.getOwner()->getParentOp()));
  }
  for (func::FuncOp function : changed)
    function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), function.getResultTypes()));
}
