//===- LaneBody.h - Bodies of linalg ops on 16 lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_LANEBODY_H
#define ATTUNE_COMPILER_TARGET_CPU_LANEBODY_H

#include "compiler/Target/CPU/VectorBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

namespace attune {

/// One position of the loops of a linalg op: an index for each loop but the last, and 16 lanes of the last one from
/// |inner| on.
struct LanePoint {
  llvm::SmallVector<mlir::Value> outer;
  mlir::Value inner;
  Lanes lanes = Lanes::all();
};

/// Evaluates the body of a linalg op on buffers for 16 iterations of its last loop at once. A value of the body is
/// *uniform* if it does not depend on the last loop; prepare() then computes it once, as a scalar.
class LaneBody {
public:
  LaneBody(VectorBuilder &builder, mlir::linalg::LinalgOp op) : builder(builder), op(op) {}

  /// Returns null if the body can be evaluated, else the reason why not.
  const char *check();

  /// Emits the uniform values at |outer|, an index for each loop but the last. Later calls of evaluate(), until the
  /// next call of prepare(), must be at points with this |outer|. They reuse the values, which must dominate their
  /// insertion points.
  void prepare(mlir::ValueRange outer);

  /// Emits the body at |point| and returns the value that it yields: a vector, or a scalar if the value is uniform.
  /// |given| maps operand numbers to values that replace the elements of these operands.
  mlir::Value evaluate(const LanePoint &point,
                       const llvm::DenseMap<unsigned, mlir::Value> &given = llvm::DenseMap<unsigned, mlir::Value>());

  /// Emits prefetches of the elements that evaluate() will read at |point| from inputs that have an element for each
  /// iteration of all loops, except from the operand with number |given|.
  void prefetch(const LanePoint &point, unsigned given);

  /// Returns |value| as a vector of 16 lanes.
  mlir::Value widen(mlir::Value value);

  /// Stores |value|, a result of evaluate(), at |point| of the only output.
  void store(mlir::Value value, const LanePoint &point);

private:
  mlir::Value fetch(mlir::OpOperand &operand, const LanePoint &point);
  mlir::Value compute(mlir::Operation &bodyOp, const LanePoint *point);
  bool isUniform(mlir::OpOperand &operand);
  llvm::SmallVector<mlir::Value> indicesOf(mlir::OpOperand &operand, const LanePoint &point);

  VectorBuilder &builder;
  mlir::linalg::LinalgOp op;
  llvm::DenseMap<mlir::Value, mlir::Value> uniform; // body value -> scalar
  llvm::DenseMap<mlir::Value, mlir::Value> values;  // body value -> vector or scalar, at the current point
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_LANEBODY_H
