//===- MatchContraction.h - Contractions over packed weights ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H
#define ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace attune {

/// Whether |op| is `C[m, n] += A[m, k] * B[n / W, k / G, n mod W, k mod G]` of low-precision operands: bf16 or f32 by bf16 in f32, i8
/// (unsigned) or i16 by i8 in i32.
bool isLowPrecisionContraction(mlir::linalg::LinalgOp op);

/// A contraction over a weight panel, the fill before it and the elementwise op after it.
struct ContractionTile {
  mlir::linalg::LinalgOp contraction, fill, epilogue; // epilogue may be null
};

/// Finds the tile around |op| if it is the contraction of one.
std::optional<ContractionTile> matchContraction(mlir::linalg::LinalgOp op);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H
