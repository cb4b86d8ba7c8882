//===- LowPrecisionProjection.h - Projections of bf16 and f16 ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `out[m, n] += x[m, k] panel[n / 64, k / 8, n % 64, k % 8]` by tensor cores, with the elementwise operation that follows. A block of
// threads computes its part in a variant that depends on its size:
//
//   Large, Small    tiles through shared memory (MmaGemm.cpp)
//   Skinny          up to 16 columns, the weights of which are read once from memory for 16 rows at a time (SkinnyGemm.cpp)
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

/// Columns of a panel.
inline constexpr int64_t kPanelColumns = 64;

/// A contraction and the operations around it that are emitted with it.
struct LowPrecisionProjection {
  mlir::linalg::LinalgOp contraction;
  /// An elementwise operation on the sums, or null: they are the result.
  mlir::linalg::LinalgOp epilogue;
  /// Sets the sums to 0 before, or null.
  mlir::linalg::FillOp zero;

  mlir::Type element() const { return mlir::cast<mlir::MemRefType>(contraction->getOperand(0).getType()).getElementType(); }
  /// Chunks of K.
  int64_t chunks() const { return mlir::cast<mlir::MemRefType>(contraction->getOperand(0).getType()).getDimSize(1) / kChunk; }
};

/// Whether |op| is the contraction of such a projection.
bool isMmaContraction(mlir::linalg::LinalgOp op);
/// The projection of |contraction|. What is in it can be emitted at its last operation: between them stands nothing but barriers, and every
/// variant ends with one after its last use of shared memory.
LowPrecisionProjection matchLowPrecisionProjection(mlir::linalg::LinalgOp contraction);

/// How a block divides its part among threads.
enum class GemmVariant { Skinny, Small, Large };
/// The variant for blocks of |columns| columns.
GemmVariant getGemmVariant(int64_t columns);
/// The most columns of a block of |variant|.
int64_t getMaxColumns(GemmVariant variant);

/// Emits |projection| at the insertion point; its operations stay.
void emitMmaGemm(const LowPrecisionProjection &projection, GemmVariant variant, ThreadBuilder &e, const ThreadLoops &loops);
void emitSkinnyGemm(const LowPrecisionProjection &projection, ThreadBuilder &e, const ThreadLoops &loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONPROJECTION_H
