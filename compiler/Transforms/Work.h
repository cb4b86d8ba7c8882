//===- Work.h - Arithmetic of operations as closed forms --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_WORK_H
#define ATTUNE_COMPILER_TRANSFORMS_WORK_H

#include "compiler/Transforms/DimBounds.h"

#include <functional>
#include <string>

namespace attune {

/// Returns the number of arithmetic operations of |op|, two for each multiply-add. Counts xfmr.linear,
/// tile.grouped_product, linalg ops that sum products over a loop, and xfmr.attention: its products with keys, values
/// and tables of relative positions, where every sequence counts with the longest length of the batch. Returns 0 for
/// other operations, nullopt if the number does not follow from the dims.
std::optional<SizeExpr> countFlops(mlir::Operation *op, DimBounds &bounds);

/// Returns the bytes that |op| reads from or writes to key/value caches: keys and values of all tokens that it
/// accesses. Returns nullopt if it uses no cache, or if the number does not follow from the dims.
std::optional<SizeExpr> countCacheBytes(mlir::Operation *op, DimBounds &bounds);

/// Returns the bytes that |shaped|, a tensor, has with elements of type |element| (null: its own type); 0 for values
/// that are not ranked tensors of integers or floats, nullopt if a size has no bound.
std::optional<SizeExpr> countBytes(mlir::Value shaped, DimBounds &bounds, mlir::Type element = {});

/// Sums a count over the operations of a function and of the functions that it calls. An operation in a loop counts
/// once, unless |countOp| multiplies its count by the runs of the loop.
class CallSum {
public:
  using CountOp = std::function<std::optional<SizeExpr>(mlir::Operation *, DimBounds &)>;
  /// |countOp| counts one operation other than a call; nullopt if its count does not follow from the dims. |what| names
  /// the count in errors.
  CallSum(llvm::StringRef what, CountOp countOp) : what(what), countOp(std::move(countOp)) {}

  /// Returns the sum for |function|; nullopt, after an error, if it does not follow from the dims.
  std::optional<SizeExpr> count(mlir::func::FuncOp function);

private:
  std::optional<SizeExpr> countCall(mlir::func::CallOp call);

  std::string what;
  CountOp countOp;
  mlir::SymbolTableCollection symbols;
  DimBounds bounds;
  llvm::DenseMap<mlir::Operation *, SizeExpr> counted;
};

/// Returns the number of times that the `scf.for` loops around |op| run it. A loop whose number of iterations is not a
/// constant counts as one iteration.
int64_t countRuns(mlir::Operation *op);

/// Returns how many rows a token has in all iterations of the loop around |op| together: in a loop over the lists of
/// `xfmr.list_by_expert`, one for each expert that the token chooses; elsewhere 1.
int64_t countRowsPerToken(mlir::Operation *op);

/// Sets the attribute `tile.work` of |loop|, the parallel loop of a kernel, if |flops| or |cacheBytes| are known.
void setWork(mlir::Operation *loop, const std::optional<SizeExpr> &flops, const std::optional<SizeExpr> &cacheBytes);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_WORK_H
