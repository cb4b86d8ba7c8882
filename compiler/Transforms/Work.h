//===- Work.h - Arithmetic of operations as closed forms --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_WORK_H
#define ATTUNE_COMPILER_TRANSFORMS_WORK_H

#include "compiler/Transforms/DimBounds.h"

namespace attune {

/// Two per multiply-add of |op| itself: of xfmr.linear and of the two products of xfmr.attention, every sequence at its padded length, and
/// of a linalg op that sums products over a loop. 0 for other operations, nullopt if the number does not follow from the dims.
std::optional<SizeExpr> countFlops(mlir::Operation *op, DimBounds &bounds);

/// Bytes that |op| reads or writes of caches: those of the keys and values of all tokens it sees. nullopt if it uses none, or if the number
/// does not follow from the dims.
std::optional<SizeExpr> countCacheBytes(mlir::Operation *op, DimBounds &bounds);

/// Bytes of |shaped|, a tensor.
std::optional<SizeExpr> countBytes(mlir::Value shaped, DimBounds &bounds);

/// Gives |loop|, the parallel loop of a kernel, the attribute `tile.work` if |flops| or |cacheBytes| are known.
void setWork(mlir::Operation *loop, const std::optional<SizeExpr> &flops, const std::optional<SizeExpr> &cacheBytes);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_WORK_H
