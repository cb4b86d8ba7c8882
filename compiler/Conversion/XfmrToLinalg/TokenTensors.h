//===- TokenTensors.h - Elements and rows of tensors of tokens --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_TOKENTENSORS_H
#define ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_TOKENTENSORS_H

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Transforms/IndexBuilder.h"

namespace attune {

/// Creates the element of a result from |args|: the elements of the inputs and, last, that of the destination.
using ElementBody = llvm::function_ref<mlir::Value(mlir::ValueRange args)>;

/// Returns the element of |tensor| at |indices|.
mlir::Value extract(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor, mlir::ValueRange indices);
/// Returns |tensor| with |scalar| as the element at |indices|.
mlir::Value insert(mlir::ImplicitLocOpBuilder &b, mlir::Value scalar, mlir::Value tensor, mlir::ValueRange indices);

/// Returns row |row| of the matrix |tensor|, as `[1, N]`, or `[N]` if |flat|.
mlir::Value extractRow(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor, mlir::Value row, bool flat = false);
/// Returns the matrix |tensor| with |source|, `[1, N]` or `[N]`, as row |row|.
mlir::Value insertRow(mlir::ImplicitLocOpBuilder &b, mlir::Value source, mlir::Value tensor, mlir::Value row);
/// Creates and returns `result[t, ...] = table[rows[t], ...]`. The result has |type|, of which only the first dimension
/// is dynamic. With |someNegative|, elements of |rows| may be negative and then count as 0.
mlir::Value gatherRows(IndexBuilder &b, mlir::RankedTensorType type, mlir::Value table, mlir::Value rows, bool someNegative = false);

/// Returns the sizes of |tensor|'s dynamic dimensions.
llvm::SmallVector<mlir::Value> dynamicSizes(IndexBuilder &b, mlir::Value tensor);
/// Creates a tensor of |type| filled with |value|; |sizes| are the sizes of its dynamic dimensions.
mlir::Value filled(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type, mlir::ValueRange sizes, double value);
/// Creates a linalg.generic of |inputs|, with |maps|, into |destination|, and returns its result. The last |reduced|
/// loops are reductions; the others are the dimensions of |destination|, in order. |body| creates an element of the
/// result with |b|.
mlir::Value generic(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps, mlir::Value destination,
                    ElementBody body, unsigned reduced = 0);

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_TOKENTENSORS_H
