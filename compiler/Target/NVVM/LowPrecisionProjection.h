//===- LowPrecisionProjection.h - Projections of bf16 and f16 ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `out[m, n] += x[m, k] panel[n / 64, k / 8, n % 64, k % 8]` by tensor cores, fused with the elementwise operation that
// follows (the epilogue). Eight neighbors in K are a chunk. A block of threads computes its part of the result by a
// variant that depends on the number of columns of this part:
//
//   Large, Small    operands in shared memory, tiles of 128 x 128 or 64 x 64 (MmaGemm.cpp)
//   Skinny          up to 16 columns, whose weights are read once from memory for every 16 rows (SkinnyGemm.cpp)
//
// Every variant is correct for every size.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONPROJECTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONPROJECTION_H

#include "compiler/Target/NVVM/TensorCores.h"
#include "compiler/Target/NVVM/ThreadLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Columns of a packed panel of weights.
inline constexpr int64_t kPanelColumns = 64;

/// A contraction and the operations before and after it that are fused with it.
struct LowPrecisionProjection {
  mlir::linalg::LinalgOp contraction;
  /// The elementwise operation on the sums. Null if |zero| is null, if there is no such operation, or if it cannot be
  /// fused; the sums are stored then.
  mlir::linalg::LinalgOp epilogue;
  /// The operation that sets the sums to 0 before; null if the products are added to the values of the output.
  mlir::linalg::FillOp zero;

  mlir::Type element() const { return mlir::cast<mlir::MemRefType>(contraction->getOperand(0).getType()).getElementType(); }
  /// Returns the number of chunks of 8 components in K.
  int64_t chunks() const { return mlir::cast<mlir::MemRefType>(contraction->getOperand(0).getType()).getDimSize(1) / kChunk; }
};

/// Returns true if |op| is the contraction of a low-precision projection: on buffers, with operands of bf16 or f16,
/// sums of f32, and a constant K that is a multiple of 16.
bool isMmaContraction(mlir::linalg::LinalgOp op);
/// Returns the projection of |contraction|. The projection can be emitted at the place of its last operation, because
/// only barriers and operations without memory effects are between its operations, and every variant ends with a
/// barrier after its last use of shared memory.
LowPrecisionProjection matchLowPrecisionProjection(mlir::linalg::LinalgOp contraction);

/// The variants of a projection; see the top of this file.
enum class GemmVariant { Skinny, Small, Large };
/// Returns the variant for thread blocks of |columns| columns.
GemmVariant getGemmVariant(int64_t columns);
/// Returns the columns of a tile of |variant|, 16, 64 or 128: the most columns of a block for which one tile is enough.
int64_t getMaxColumns(GemmVariant variant);

/// Emit |projection| at the insertion point: emitMmaGemm by the variant Small or Large, emitSkinnyGemm by the variant
/// Skinny. The operations of the projection stay.
void emitMmaGemm(const LowPrecisionProjection &projection, GemmVariant variant, ThreadBuilder &e, const ThreadLoops &loops);
void emitSkinnyGemm(const LowPrecisionProjection &projection, ThreadBuilder &e, const ThreadLoops &loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONPROJECTION_H
