//===- ParallelLoops.h - What a parallel loop needs from outside -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_PARALLELLOOPS_H
#define ATTUNE_COMPILER_TRANSFORMS_PARALLELLOOPS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace attune {

/// A parallel loop that is to become a function, its bounds as values and its trip counts.
struct ParallelLoop {
  /// Adds what computes the counts before the loop.
  ParallelLoop(mlir::scf::ForallOp forall, mlir::OpBuilder &builder);

  /// What the loop, or |more|, uses of the values outside: those to give to the function, and the operations that it repeats, producers
  /// first.
  std::pair<llvm::SetVector<mlir::Value>, llvm::SetVector<mlir::Operation *>> capture(mlir::ValueRange more);
  /// Clones the body for iterations [begin, end) of the flattened loop, whose last dimension is the fastest. |map| knows what was captured.
  void buildBody(mlir::OpBuilder &builder, mlir::IRMapping &map, mlir::Value worker, mlir::Value begin, mlir::Value end);
  /// The same for iteration |number|.
  void buildIteration(mlir::OpBuilder &builder, mlir::IRMapping &map, mlir::Value worker, mlir::Value number);

  mlir::scf::ForallOp forall;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> lowerBounds, steps, counts;

private:
  mlir::Value constant(mlir::OpBuilder &b, int64_t c) { return mlir::arith::ConstantIndexOp::create(b, loc, c); }
  llvm::SmallVector<mlir::Value> delinearize(mlir::OpBuilder &b, mlir::Value index, llvm::ArrayRef<mlir::Value> counts);
  llvm::SmallVector<mlir::Value> increment(mlir::OpBuilder &b, mlir::ValueRange numbers, llvm::ArrayRef<mlir::Value> counts);
  void cloneIteration(mlir::OpBuilder &b, mlir::IRMapping &map, mlir::ValueRange numbers, mlir::Value worker);
};

/// Gives the host, `%host: !llvm.ptr {rt.role = #rt.role<host>}`, to every function that has one of |loops| or calls such a function.
llvm::LogicalResult passHost(mlir::ModuleOp module, llvm::ArrayRef<mlir::scf::ForallOp> loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_PARALLELLOOPS_H
