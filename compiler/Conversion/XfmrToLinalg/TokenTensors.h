//===- TokenTensors.h - Short forms for conversion patterns -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_TOKENTENSORS_H
#define ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_TOKENTENSORS_H

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"

namespace attune {

/// Creates index arithmetic, destinations, elementwise ops and loops at one location.
class TokenEmitter {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using Body = llvm::function_ref<mlir::Value(TokenEmitter &, mlir::ValueRange)>;
  using LoopBody = llvm::function_ref<Values(TokenEmitter &, mlir::Value, mlir::ValueRange)>;

  TokenEmitter(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Value index(int64_t value);
  mlir::Value real(mlir::Type type, double value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value toIndex(mlir::Value value);
  mlir::Value toI64(mlir::Value value);

  mlir::Value dim(mlir::Value tensor, int64_t dim);
  mlir::Value extract(mlir::Value tensor, mlir::ValueRange indices);
  mlir::Value insert(mlir::Value scalar, mlir::Value tensor, mlir::ValueRange indices);
  /// Row |row| of the matrix |tensor|, as `[1, N]`, or `[N]` if |flat|.
  mlir::Value extractRow(mlir::Value tensor, mlir::Value row, bool flat = false);
  /// result[t, ...] = |table|[|rows|[t], ...], of |type|; any row of the table for a negative number if |someNegative|.
  mlir::Value gatherRows(mlir::RankedTensorType type, mlir::Value table, mlir::Value rows, bool someNegative = false);
  mlir::Value insertRow(mlir::Value source, mlir::Value tensor, mlir::Value row);

  /// A destination of |type| whose dynamic dimensions are |sizes|.
  mlir::Value empty(mlir::Type type, mlir::ValueRange sizes);
  /// The same, filled with |value|.
  mlir::Value filled(mlir::Type type, mlir::ValueRange sizes, double value);
  /// The sizes of |tensor|'s dynamic dimensions.
  Values dynamicSizes(mlir::Value tensor);

  /// A linalg.generic of |inputs| (each with its map) into |destination|, whose map is the identity without the last |reduced| dimensions.
  mlir::Value generic(mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps, mlir::Value destination, Body body,
                      unsigned reduced = 0);

  /// scf.for from |begin| to |end| carrying |inits|; the body gets the induction variable and what is carried.
  Values loop(mlir::Value begin, mlir::Value end, mlir::ValueRange inits, LoopBody body);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_TOKENTENSORS_H
