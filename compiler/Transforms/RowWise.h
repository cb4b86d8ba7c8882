//===- RowWise.h - Kernels that compute row by row --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel is row-wise if row i of its results is computed from row i of some of its operands, and of the others as a whole. Called
// for some of the rows it gives these rows of the results, to the bit.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ROWWISE_H
#define ATTUNE_COMPILER_TRANSFORMS_ROWWISE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace attune {

/// The number of the group that |op| belongs to (`tile.group`), if it has one.
std::optional<int64_t> getGroupNumber(mlir::Operation *op);

/// Whether |root| and the producers of its kernel, which are to be tiled together, are row-wise.
bool isRowWise(mlir::linalg::LinalgOp root);

/// Marks the arguments of |kernel| that |loop|, row-wise and all that the kernel does, reads or writes by rows; none if the number of rows
/// may come from elsewhere than these.
void markRows(mlir::func::FuncOp kernel, mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ROWWISE_H
