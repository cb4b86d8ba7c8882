//===- GroupedGemm.h - Projections by quantized weights ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_GROUPEDGEMM_H
#define ATTUNE_COMPILER_TARGET_NVVM_GROUPEDGEMM_H

#include "compiler/Target/NVVM/LowPrecisionProjection.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Returns true if emitGroupedGemm can compute |op|: rows of bf16 or f16 on buffers, and K is a multiple of 16.
bool isGroupedGemm(mlir::tiles::GroupedProductOp op);
/// Emits |op| by tensor cores for a block of at most getMaxColumns(|variant|) columns. The operation stays.
void emitGroupedGemm(mlir::tiles::GroupedProductOp op, GemmVariant variant, const ThreadLoops &loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_GROUPEDGEMM_H
