//===- LowPrecisionContraction.h - Low-precision products -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H
#define ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H

#include "compiler/Target/CPU/DotUnit.h"
#include "compiler/Target/CPU/MatchContraction.h"
#include "compiler/Target/CPU/ProductTile.h"

namespace attune {

/// One register tile of a low-precision product: its operands and its epilogue, for all instruction sets. The packed
/// weights are `[P, K' / G, W * G]`: P panels of W columns (output features), K' input features including padding, and
/// G neighbors in K side by side.
class LowPrecisionTile : public ProductTile {
public:
  LowPrecisionTile(VectorBuilder &builder, ContractionTile tile, int64_t rows, PrefetchPlan plan);

  /// Returns null if the tile can be emitted, else the reason why not. Must be called before code is emitted: it sets
  /// |group|, |depth| and |width|, emits the view |panels| of the packed weights, and prepares the epilogue.
  const char *check();

  mlir::Value input; // [M, K'], the rows
  mlir::MemRefType inputType, panelType;
  int64_t group = 0, depth = 0; // G and K'

private:
  ContractionTile tile;
};

/// Emits |tile| by vector instructions of |unit|, with the sums of up to |rows| rows in registers. With DotUnit::Amx
/// and input rows of bf16 or i8, calls emitAmxContraction instead, which ignores |rows|. Returns null, or the reason
/// why it cannot.
const char *vectorizeLowPrecision(VectorBuilder &builder, ContractionTile tile, int64_t rows, DotUnit unit, PrefetchPlan plan);

/// Emits |tile|, whose operands are bf16 or i8, by AMX, whose tile registers have 16 rows of 64 bytes. The code reads
/// the input in whole groups of 16 rows, so up to 15 rows past the end of the input must be readable. Returns null, or
/// the reason why it cannot.
const char *emitAmxContraction(VectorBuilder &builder, ContractionTile tile, PrefetchPlan plan);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H
