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

/// Returns the symbolic dims of |entry|, in the order in which its arguments, then its results name them; dims that
/// only caches have are not among them.
llvm::SmallVector<llvm::StringRef> getEntryDims(mlir::func::FuncOp entry);

/// An analysis that finds upper bounds of index values and of dimensions of tensors and buffers. Bounds are expressions
/// of symbols (SizeExpr.h). In an entry, the symbols are the names of its dims; in other functions they are
/// #xfmr.argument, the sizes of arguments and index arguments. Bounds are exact where the IR computes a size from
/// symbols by additions, products, maxima and divisions by constants. A value that is read from memory has the bound
/// that `arith.minsi` gives it, or the bound of the dimension of which it is a slice size. The object keeps a table of
/// the functions of the module, and all bounds that it has found: while it is in use, no function may be added or
/// erased, and no value whose bound was found may change or be erased.
class DimBounds {
public:
  /// Returns the bound of an index value; nullopt if it has none.
  std::optional<SizeExpr> getValue(mlir::Value value);
  /// Returns the bound of dimension |dim| of |shaped|, a tensor or buffer; nullopt if it has none.
  std::optional<SizeExpr> getDim(mlir::Value shaped, int64_t dim);
  /// Return the bound of an index value, or of dimension |dim| of |shaped|, if it is a constant; else nullopt.
  std::optional<int64_t> getConstantValue(mlir::Value value);
  std::optional<int64_t> getConstantDim(mlir::Value shaped, int64_t dim);
  /// Translates |expr| from the callee's arguments to the caller's symbols; returns nullopt if an operand on which
  /// |expr| depends has no bound.
  std::optional<SizeExpr> atCall(mlir::func::CallOp call, const SizeExpr &expr);

  /// Returns the run-time value of |symbol| in |function|: an argument, or a `memref.dim` of one, which it creates at
  /// the insertion point of |builder|. Expects a function on buffers and a symbol of this function.
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
