//===- VectorizeTiles.h - Vector code for linalg tiles on buffers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_VECTORIZETILES_H
#define ATTUNE_COMPILER_TARGET_CPU_VECTORIZETILES_H

#include "compiler/Target/CPU/MatchContraction.h"
#include "compiler/Target/CPU/PanelPrefetch.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Emits vector code for |op|, an elementwise op or a reduction over its last loop, at |builder|'s insertion point.
/// Returns null, or the reason why it cannot.
const char *vectorizeRows(VectorBuilder &builder, mlir::linalg::LinalgOp op);

/// Emits |tile|, whose input rows and sums are f32 and whose weights are f32, bf16 or f16, with the sums of up to
/// |rows| rows in registers. Returns null, or the reason why it cannot.
const char *vectorizeContraction(VectorBuilder &builder, ContractionTile tile, int64_t rows, PrefetchPlan plan);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_VECTORIZETILES_H
