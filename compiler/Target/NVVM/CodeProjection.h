//===- CodeProjection.h - Projections of 16-bit codes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `out[m, n] += x[m, k] panel[n / 64, k / 8, n % 64, k % 8]` by tensor cores, with the elementwise operation that follows. How a block of
// threads makes its part depends on how large that is:
//
//   Wide, Narrow    tiles through shared memory (CodeTiles.cpp)
//   Few             up to 16 columns, the weights of which are read once from memory for 16 rows at a time (CodeRows.cpp)
//
// Every form is right for every size.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_CODEPROJECTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_CODEPROJECTION_H

#include "compiler/Target/NVVM/TensorCores.h"
#include "compiler/Target/NVVM/ThreadLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Columns of a panel.
inline constexpr int64_t kCodePanel = 64;

/// A contraction with what happens to its sums.
struct CodeProjection {
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
bool isCodeContraction(mlir::linalg::LinalgOp op);
/// The projection of |contraction|. What is in it can be emitted at its last operation: between them stands nothing but barriers, and every
/// form ends with one after its last use of shared memory.
CodeProjection findCodeProjection(mlir::linalg::LinalgOp contraction);

/// How a block is divided.
enum class CodeForm { Few, Narrow, Wide };
/// The form for blocks of |columns| columns.
CodeForm getCodeForm(int64_t columns);
/// Columns of the blocks of |form|, at most.
int64_t getColumns(CodeForm form);

/// Emits |projection| at the builder's place; its operations stay.
void emitCodeTiles(const CodeProjection &projection, CodeForm form, ThreadBuilder &e, const ThreadLoops &loops);
void emitCodeRows(const CodeProjection &projection, ThreadBuilder &e, const ThreadLoops &loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_CODEPROJECTION_H
