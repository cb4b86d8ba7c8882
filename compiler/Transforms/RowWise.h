//===- RowWise.h - Kernels that compute row by row --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel is row-wise if row i of its results is computed from row i of some operands and from the other operands as a
// whole. A call for some of the rows computes the same bits of these rows as a call for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ROWWISE_H
#define ATTUNE_COMPILER_TRANSFORMS_ROWWISE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace attune {

/// Returns the number of the kernel to which |op| belongs (`tile.group`), if it has one.
std::optional<int64_t> getGroupNumber(mlir::Operation *op);

/// Returns true if |root| and the producers in its kernel, which are tiled together, are row-wise.
bool isRowWise(mlir::Operation *root);

/// Marks the arguments of |kernel| that |loop| reads or writes by rows (`tile.rows`). |loop| is row-wise and the only
/// loop of the kernel. Marks none if the number of rows may come from other arguments, or if one of the arguments by
/// rows is also used in another way or has a static number of rows.
void markRows(mlir::func::FuncOp kernel, mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ROWWISE_H
