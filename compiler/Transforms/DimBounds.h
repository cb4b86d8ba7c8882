//===- DimBounds.h - Upper bounds of sizes in terms of dims -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_DIMBOUNDS_H
#define ATTUNE_COMPILER_TRANSFORMS_DIMBOUNDS_H

#include "compiler/Transforms/SizeExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace attune {

/// The symbolic dims of |entry|, in the order in which its arguments, then its results name them.
llvm::SmallVector<llvm::StringRef> getEntryDims(mlir::func::FuncOp entry);

/// Upper bounds of index values and dimensions of tensors and buffers. In an entry the symbols are the names of its dims, elsewhere
/// #xfmr.argument, the sizes of the function's arguments. Exact where the IR computes the size from them with additions, products, maxima
/// and divisions by constants. A value that is read from memory has the bound that `arith.minsi` gives it, or that of the dimension it is a
/// slice size of. Remembers the functions of the module: no function may be added or erased while an object is in use.
class DimBounds {
public:
  /// Bound of an index value; nullopt if it has none.
  std::optional<SizeExpr> getValue(mlir::Value value);
  /// Bound of a dimension of a tensor or buffer.
  std::optional<SizeExpr> getDim(mlir::Value shaped, int64_t dim);
  /// |expr|, in terms of the callee's arguments, in terms of the caller's symbols; nullopt if an operand has no bound.
  std::optional<SizeExpr> atCall(mlir::func::CallOp call, const SizeExpr &expr);

  /// The run-time value of |symbol| in |function|, computed where |builder| stands.
  static mlir::Value materialize(mlir::OpBuilder &builder, mlir::func::FuncOp function, mlir::Attribute symbol);

private:
  using Bound = std::optional<SizeExpr>;
  Bound computeValue(mlir::Value value);
  Bound computeDim(mlir::Value shaped, int64_t dim);
  Bound getFold(mlir::OpFoldResult value);
  Bound getAffine(mlir::AffineExpr expr, mlir::AffineMap map, mlir::ValueRange operands);
  Bound getSliceBound(mlir::Value value);
  Bound getTokenDim(mlir::Operation *op, mlir::OpResult result, int64_t dim);

  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Value, Bound> values;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, Bound> dims;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_DIMBOUNDS_H
