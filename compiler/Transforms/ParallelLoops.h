//===- ParallelLoops.h - Parallel loops that become functions ---*- C++ -*-===//
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

/// A parallel loop that becomes a function, with its lower bounds, steps and trip counts as values.
struct ParallelLoop {
  /// Creates the lower bounds, steps and trip counts at the insertion point of |builder|, which is before the loop.
  ParallelLoop(mlir::scf::ForallOp forall, mlir::OpBuilder &builder);

  /// Returns two lists for the values that the function needs: values to pass to it, and operations that it repeats,
  /// producers first. It needs the outside values that the body uses, the lower bounds, the steps, and |more|.
  std::pair<llvm::SetVector<mlir::Value>, llvm::SetVector<mlir::Operation *>> capture(mlir::ValueRange more);
  /// Clones the body for iterations [begin, end) of the flattened loop, whose last dimension is the fastest. |map| maps
  /// the values that capture() found; the caller must have passed the trip counts of all dimensions but the first to
  /// capture() as |more|. |worker| replaces rt.worker_id. Leaves |builder| inside the loop over the iterations.
  void buildBody(mlir::OpBuilder &builder, mlir::IRMapping &map, mlir::Value worker, mlir::Value begin, mlir::Value end);
  /// Clones the body for iteration |number| of the flattened loop; |map| and |worker| are as for buildBody().
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

/// Fails, with an error, if |loop| has results: lowered loops write to buffers.
llvm::LogicalResult verifyOnBuffers(mlir::scf::ForallOp loop);

/// Adds the first argument `%host: !llvm.ptr {rt.role = #rt.role<host>}`, a pointer to the functions of the runtime
/// (attune_host), to every function that contains one of |users|, operations that call the runtime, and to all callers
/// of such functions, direct and indirect. Their calls pass the pointer on. Fails, with an error, if a parallel loop
/// calls a function that gets the argument.
llvm::LogicalResult passHost(mlir::ModuleOp module, llvm::ArrayRef<mlir::Operation *> users);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_PARALLELLOOPS_H
