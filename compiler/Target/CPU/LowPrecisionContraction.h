//===- LowPrecisionContraction.h - Low-precision products -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H
#define ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H

#include "compiler/Target/CPU/DotUnit.h"
#include "compiler/Target/CPU/MatchContraction.h"
#include "compiler/Target/CPU/ProductTile.h"

namespace attune {

/// One register tile of a low-precision product: its operands and its epilogue. All instruction sets share it. The panels
/// are `[P, K' / G, W * G]`.
class LowPrecisionTile : public ProductTile {
public:
  LowPrecisionTile(VectorBuilder &builder, ContractionTile tile, int64_t rows, PrefetchPlan plan);

  /// Returns null if the tile can be emitted, else the reason why not.
  const char *check();

  mlir::Value input; // [M, K']
  mlir::MemRefType inputType, panelType;
  int64_t group = 0, depth = 0;

private:
  ContractionTile tile;
};

/// Emits |tile| with vectors of |unit|, groups of |rows| rows in registers; returns null, or the reason why it cannot.
const char *vectorizeLowPrecision(VectorBuilder &builder, ContractionTile tile, int64_t rows, DotUnit unit, PrefetchPlan plan);

/// Returns the same with tiles of 16 x 64 bytes (AMX), of bf16 or i8. Reads whole groups of 16 rows of the input.
const char *emitAmxContraction(VectorBuilder &builder, ContractionTile tile, PrefetchPlan plan);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H
