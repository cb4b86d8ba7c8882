//===- DistributeOps.cpp - Operations as loops that threads share ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/DistributeOps.h"
#include "compiler/Target/NVVM/GroupedGemm.h"
#include "compiler/Target/NVVM/ThreadContraction.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

bool attune::isDistributed(Operation *op) {
  if (isa<memref::StoreOp>(op))
    return !op->getParentOfType<linalg::LinalgOp>();
  return isa<linalg::LinalgOp, memref::CopyOp, tiles::KeyPanelOp, tiles::CacheRowsOp, tiles::UnpackKeysOp, tiles::RotaryTileOp,
             tiles::AttentionTileOp, tiles::QuantizeRowsOp, tiles::GroupedProductOp>(op);
}

static void emitCopy(memref::CopyOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim != cast<MemRefType>(op.getSource().getType()).getRank(); ++dim)
    sizes.push_back(e.size(op.getTarget(), dim));
  loops.forEach(e, sizes, kPointsAtOnce, [&](ValueRange point) {
    return [&e, op, at = Values(point), value = e.load(op.getSource(), point)]() mutable { e.store(value, op.getTarget(), at); };
  });
}

/// Makes |op| a store by the first thread of the block only.
static LogicalResult restrictStore(memref::StoreOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  e.ifThen(e.compare(arith::CmpIPredicate::eq, loops.thread, 0), [&] { e.clone(*op); });
  op.erase();
  return success();
}

/// Returns true if the keys of |panel| are f32, bf16 or f16; the verifier allows other floats, too.
static bool hasKnownKeys(tiles::KeyPanelOp panel) {
  Type element = cast<MemRefType>(panel.getKeys().getType()).getElementType();
  return element.isF32() || element.isBF16() || element.isF16();
}

/// Returns true if |op| rotates f32; the verifier allows other floats, too.
static bool isOfF32(tiles::RotaryTileOp op) {
  return llvm::all_of(ValueRange{op.getInput(), op.getTable(), op.getDestinations()[0]},
                      [](Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType().isF32(); });
}

LogicalResult attune::distributeOp(Operation *op, GemmVariant variant, const ThreadLoops &loops) {
  // The emitters of thread-block tiles need blocks of kBlockThreads threads. Blocks of another size use emitters for
  // any number of threads; for grouped products there is none, so they are an error.
  auto isTile = [&](bool hasTile) { return hasTile && loops.threads == kBlockThreads; };
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return restrictStore(store, loops);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (isTile(isContraction(linalgOp)))
      emitContraction(linalgOp, loops);
    else if (failed(emitLinalg(linalgOp, loops)))
      return failure();
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    emitCopy(copy, loops);
  } else if (auto panel = dyn_cast<tiles::KeyPanelOp>(op); panel && hasKnownKeys(panel)) {
    emitKeyPanel(panel, loops);
  } else if (auto rows = dyn_cast<tiles::CacheRowsOp>(op)) {
    emitCacheRows(rows, loops);
  } else if (auto rows = dyn_cast<tiles::UnpackKeysOp>(op)) {
    emitKeyRows(rows, loops);
  } else if (auto rotary = dyn_cast<tiles::RotaryTileOp>(op); rotary && isOfF32(rotary)) {
    emitRotary(rotary, loops);
  } else if (auto attention = dyn_cast<tiles::AttentionTileOp>(op)) {
    if (isTile(isFlashAttention(attention)))
      emitFlashAttention(attention, loops);
    else
      (isTile(isThreadAttention(attention)) ? emitThreadAttention : emitAttentionRows)(attention, loops);
  } else if (auto quantize = dyn_cast<tiles::QuantizeRowsOp>(op); quantize && !quantize.getScales()) {
    emitQuantizeRows(quantize, loops);
  } else if (auto product = dyn_cast<tiles::GroupedProductOp>(op); product && isTile(isGroupedGemm(product))) {
    emitGroupedGemm(product, variant, loops);
  } else {
    return op->emitError("is not implemented for threads of a GPU");
  }
  op->erase();
  return success();
}
