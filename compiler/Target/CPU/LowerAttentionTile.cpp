//===- LowerAttentionTile.cpp - Attention tiles as vector code ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `tile.attention_tile` with scratch, on buffers of f32 (keys and values may have the types of caches). Tiles
// on tensors stay. AttentionTileEmitter.h describes the emitted code.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/AttentionTileEmitter.h"
#include "compiler/Target/CPU/Passes.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace attune {
#define GEN_PASS_DEF_LOWERATTENTIONTILE
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// Reports an error and fails if |op| cannot be lowered with groups of |rows| rows.
LogicalResult verifyBuffers(tiles::AttentionTileOp op, int64_t rows) {
  if (op.hasKeyRows())
    return op.emitOpError("expects keys in panels, but got ") << op.getKey().getType();
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    bool isCached = operand == op.getKey() || operand == op.getValue(); // the verifier checks their types
    if (type && (!(isCached || type.getElementType().isF32()) || !type.isLastDimUnitStride()))
      return op.emitOpError("expects f32 buffers with a contiguous last dimension, but got ") << type;
  }
  if (!op.getScratch())
    return op.emitOpError("expects a scratch buffer; attune-attach-scratch adds it");
  if (int64_t got = cast<MemRefType>(op.getScratch().getType()).getDimSize(0); got < rows)
    return op.emitOpError("expects a scratch buffer of at least ") << rows << " rows, but got " << got;
  return success();
}

struct LowerAttentionTile : attune::impl::LowerAttentionTileBase<LowerAttentionTile> {
  using LowerAttentionTileBase::LowerAttentionTileBase;

  void runOnOperation() override {
    if (!llvm::isPowerOf2_64(rows) || scoreVectors < 1 || valueVectors < 1 || softmaxRows < 1) {
      getOperation()->emitError("expects rows to be a power of two and the other sizes to be positive, but got ")
          << rows.getValue() << ", " << scoreVectors.getValue() << ", " << valueVectors.getValue() << " and " << softmaxRows.getValue();
      return signalPassFailure();
    }
    WalkResult walk = getOperation()->walk([&](tiles::AttentionTileOp op) {
      if (!isa<MemRefType>(op.getQuery().getType()))
        return WalkResult::advance();
      if (failed(verifyBuffers(op, rows)))
        return WalkResult::interrupt();
      xfmr::passed(op, "attune-lower-attention-tile", "VectorizeAttention")
          << remark::add("scores of {0} vectors of keys and sums of {1} vectors of values in registers, softmax of {2} rows together",
                         scoreVectors.getValue(), valueVectors.getValue(), softmaxRows.getValue());
      AttentionTileEmitter(op, {rows, scoreVectors, valueVectors, softmaxRows}).run();
      op.erase();
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
