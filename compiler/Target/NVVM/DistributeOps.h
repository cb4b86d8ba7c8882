//===- DistributeOps.h - Operations as loops that threads share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_DISTRIBUTEOPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_DISTRIBUTEOPS_H

#include "compiler/Target/NVVM/LowPrecisionProjection.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Returns true if distributeOp must replace |op|: a linalg operation, a copy, an operation of `tile`, or a store
/// outside of a linalg body.
bool isDistributed(mlir::Operation *op);
/// Replaces |op| by the loops in which one thread computes its share. A store becomes a store by the first thread of
/// the block only. |variant| is the GEMM variant of products by quantized weights. Fails with a diagnostic if there is
/// no code for |op|.
llvm::LogicalResult distributeOp(mlir::Operation *op, GemmVariant variant, const ThreadLoops &loops);

/// Emit one thread's share of an operation: linalg (ThreadLinalg.cpp); keys to panels, values to rows of a cache, keys
/// of panels to rows, and rotary embeddings (ThreadHeads.cpp); conversions to bf16 and f16 (ThreadQuantize.cpp);
/// attention by a warp per row (WarpAttention.cpp). The operation stays. emitLinalg fails with a diagnostic if |op| is
/// not on buffers.
llvm::LogicalResult emitLinalg(mlir::linalg::LinalgOp op, const ThreadLoops &loops);
void emitKeyPanel(mlir::tiles::KeyPanelOp op, const ThreadLoops &loops);
void emitCacheRows(mlir::tiles::CacheRowsOp op, const ThreadLoops &loops);
void emitKeyRows(mlir::tiles::UnpackKeysOp op, const ThreadLoops &loops);
void emitRotary(mlir::tiles::RotaryTileOp op, const ThreadLoops &loops);
void emitQuantizeRows(mlir::tiles::QuantizeRowsOp op, const ThreadLoops &loops);
void emitAttentionRows(mlir::tiles::AttentionTileOp op, const ThreadLoops &loops);
/// Returns true if emitFlashAttention can compute |op|.
bool isFlashAttention(mlir::tiles::AttentionTileOp op);
/// Emits attention by tensor cores (FlashAttention.cpp). The operation stays.
void emitFlashAttention(mlir::tiles::AttentionTileOp op, const ThreadLoops &loops);
/// Returns true if emitThreadAttention can compute |op|.
bool isThreadAttention(mlir::tiles::AttentionTileOp op);
/// Emits attention of f32 whose keys and values pass through shared memory (ThreadAttention.cpp). The operation stays.
void emitThreadAttention(mlir::tiles::AttentionTileOp op, const ThreadLoops &loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_DISTRIBUTEOPS_H
