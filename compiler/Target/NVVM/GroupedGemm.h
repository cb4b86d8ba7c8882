//===- GroupedGemm.h - Projections by quantized weights ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_GROUPEDGEMM_H
#define ATTUNE_COMPILER_TARGET_NVVM_GROUPEDGEMM_H

#include "compiler/Target/NVVM/LowPrecisionProjection.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Returns true if emitGroupedGemm can compute |op|: its rows and panels are buffers that are contiguous in the last
/// dimension, rows are of bf16 or f16, and their length K is a constant multiple of 16.
bool isGroupedGemm(mlir::tiles::GroupedProductOp op);
/// Emits |op| by tensor cores, in tiles of getMaxColumns(|variant|) columns. The operation stays.
void emitGroupedGemm(mlir::tiles::GroupedProductOp op, GemmVariant variant, const ThreadLoops &loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_GROUPEDGEMM_H
