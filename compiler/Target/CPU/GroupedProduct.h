//===- GroupedProduct.h - Products by weights with a scale per group -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_GROUPEDPRODUCT_H
#define ATTUNE_COMPILER_TARGET_CPU_GROUPEDPRODUCT_H

#include "compiler/Target/CPU/DotUnit.h"
#include "compiler/Target/CPU/PanelPrefetch.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Instructions that multiply bytes and add the products of four neighbors in K:
///
///   Portable    multiplications and additions of 32-bit integers, in vectors of 16 lanes
///   Avx2        vpmaddubsw, vpmaddwd, in vectors of 256 bits
///   Vnni256     vpdpbusd, in vectors of 256 bits
///   Vnni512     vpdpbusd, in vectors of 512 bits
enum class ByteUnit { Portable, Avx2, Vnni256, Vnni512 };

/// Returns the instructions for bytes of a CPU with the instruction set |unit|. |vnni| is true if the CPU has vpdpbusd
/// for its widest vectors.
ByteUnit getByteUnit(DotUnit unit, bool vnni);

/// Emit |op|, which is on buffers, and |epilogue|, the elementwise op that reads its sums (null if there is none), with
/// the sums of up to |rows| rows in registers: the first function for quantized rows, the second for rows of floats.
/// They return null, or the reason why they cannot.
const char *vectorizeGroupedProduct(VectorBuilder &builder, mlir::tiles::GroupedProductOp op, mlir::linalg::LinalgOp epilogue, int64_t rows,
                                    ByteUnit unit, PrefetchPlan plan);
const char *vectorizeGroupedFloatProduct(VectorBuilder &builder, mlir::tiles::GroupedProductOp op, mlir::linalg::LinalgOp epilogue,
                                         int64_t rows, DotUnit unit, PrefetchPlan plan);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_GROUPEDPRODUCT_H
