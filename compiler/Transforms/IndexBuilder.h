//===- IndexBuilder.h - Index arithmetic and control flow -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_INDEXBUILDER_H
#define ATTUNE_COMPILER_TRANSFORMS_INDEXBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// A builder of arithmetic and structured control flow at its insertion point and location. Integer operations fold as
/// they are created.
///
/// A copy has an insertion point of its own, so code that emits into the loops and branches of its caller takes the
/// builder by reference.
class IndexBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  using LoopBody = llvm::function_ref<Values(Value index, mlir::ValueRange carried)>;

  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  // Integers; division is unsigned, minimum and maximum are signed.
  Value index(int64_t value);
  Value index(mlir::OpFoldResult value);
  Value no() { return mlir::arith::ConstantIntOp::create(*this, 0, 1); }
  Value yes() { return mlir::arith::ConstantIntOp::create(*this, 1, 1); }
  Value toIndex(Value integer);
  Value toI64(Value index);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return b == 0 ? a : add(a, index(b)); }
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b) { return b == 1 ? a : mul(a, index(b)); }
  Value div(Value a, Value b);
  Value div(Value a, int64_t b) { return b == 1 ? a : div(a, index(b)); }
  Value ceilDiv(Value a, Value b);
  Value rem(Value a, Value b);
  Value rem(Value a, int64_t b) { return rem(a, index(b)); }
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, int64_t b) { return compare(predicate, a, index(b)); }
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// Returns the size of dimension |dim| of a tensor or buffer.
  Value size(Value shaped, int64_t dim);
  /// Returns `values[index]` of a `tensor<?xi64>` as an index.
  Value extractIndex(Value values, Value index);

  // Scalars and vectors.
  /// Returns |element| if |type| is a scalar type; if |type| is a vector, a vector of its shape with elements of
  /// |element|.
  static mlir::Type typeLike(mlir::Type type, mlir::Type element);
  /// Returns the constant |value| if |type| is a scalar type; if |type| is a vector, a vector of its shape with |value|
  /// in all lanes.
  Value constantLike(mlir::Type type, mlir::TypedAttr value);
  Value f32(double value);
  Value addf(Value a, Value b);
  Value subf(Value a, Value b);
  Value mulf(Value a, Value b);
  Value divf(Value a, Value b);
  /// Returns a * b + c, rounded once.
  Value fma(Value a, Value b, Value c);
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b);
  /// Converts finite values of f16 to f32 without an instruction for f16. |words|, an i32 or a vector of i32, has the
  /// bits of the values, sign-extended.
  Value widenHalf(Value words);

  /// Creates `for (i = begin; i < end; i += step)` with the carried values |initial|; returns their last values.
  Values loop(Value begin, Value end, Value step, mlir::ValueRange initial, LoopBody body);
  Values loop(Value begin, Value end, int64_t step, mlir::ValueRange initial, LoopBody body) {
    return loop(begin, end, index(step), initial, body);
  }
  /// Creates the same loop without carried values.
  void loop(Value begin, Value end, Value step, llvm::function_ref<void(Value index)> body);
  void loop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value index)> body) { loop(begin, end, index(step), body); }
  /// Creates an scf.if around the operations that |body| creates; a null |condition| means true, and then there is no
  /// scf.if.
  void ifThen(Value condition, llvm::function_ref<void()> body);
  /// Creates an scf.if; returns the values of |yes| if |condition| holds, else those of |no|.
  Values choose(Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no);
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_INDEXBUILDER_H
