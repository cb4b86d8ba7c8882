//===- ThreadLoops.h - Operations on tiles as loops of threads -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// How the threads share a loop: each takes iterations first, first + step, …
struct ThreadLoops {
  mlir::Value first, step;
  /// Number within the block, and how many there are.
  mlir::Value thread;
  int64_t threads;

  /// A loop over all points of |sizes|, the last dimension fastest, shared by the threads.
  void forEach(ThreadBuilder &e, llvm::ArrayRef<mlir::Value> sizes, llvm::function_ref<void(mlir::ValueRange point)> body) const;
  /// A loop over [0, count) shared by the warps of the block; |lane| is the thread's number in its warp.
  void forEachWarp(ThreadBuilder &e, mlir::Value count, llvm::function_ref<void(mlir::Value item, mlir::Value lane)> body) const;
};

/// Whether |op| is one that threads share: linalg, copies, xfmr tiles and stores.
bool isDistributed(mlir::Operation *op);
/// Replaces |op| by the loops of one thread.
llvm::LogicalResult distributeOp(mlir::Operation *op, const ThreadLoops &loops);

/// Linalg (ThreadLinalg.cpp), tiles of heads (ThreadHeads.cpp), attention (WarpAttention.cpp, FlashAttention.cpp). The operation stays.
llvm::LogicalResult emitLinalg(mlir::linalg::LinalgOp op, const ThreadLoops &loops);
void emitKeyPanel(mlir::tiles::KeyPanelOp op, const ThreadLoops &loops);
void emitKeyRows(mlir::tiles::UnpackKeysOp op, const ThreadLoops &loops);
void emitRotary(mlir::tiles::RotaryTileOp op, const ThreadLoops &loops);
void emitQuantizeRows(mlir::tiles::QuantizeRowsOp op, const ThreadLoops &loops);
void emitAttentionRows(mlir::tiles::AttentionTileOp op, const ThreadLoops &loops);
/// Attention by tensor cores, which not every tile is for.
bool isFlashAttention(mlir::tiles::AttentionTileOp op);
void emitFlashAttention(mlir::tiles::AttentionTileOp op, const ThreadLoops &loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H
