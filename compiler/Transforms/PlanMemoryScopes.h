//===- PlanMemoryScopes.h - Lifetimes and slots of buffers ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_PLANMEMORYSCOPES_H
#define ATTUNE_COMPILER_TRANSFORMS_PLANMEMORYSCOPES_H

#include "compiler/Transforms/SizeExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace attune {

/// Alignment of every buffer in the workspace, in bytes.
inline constexpr int64_t kBufferAlignment = 64;

/// The order of operations in a function.
class OperationOrder {
public:
  explicit OperationOrder(mlir::func::FuncOp function);
  unsigned first(mlir::Operation *op) const { return ranges.lookup(op).first; }
  /// Of the last operation nested in |op|.
  unsigned last(mlir::Operation *op) const { return ranges.lookup(op).second; }

private:
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> ranges;
};

/// Something that needs bytes of the workspace for a while: a memref.alloc, a call of a function with buffers, a parallel loop with
/// buffers.
struct PlannedBuffer {
  mlir::Operation *op;
  SizeExpr size;        // bytes, or a bound
  unsigned first, last; // first and last operation during which the bytes are in use
  unsigned slot = 0;
};

/// The buffers of a function, or those of one iteration of a parallel loop, and where they lie.
struct PlannedScope {
  std::vector<PlannedBuffer> buffers;
  std::vector<SizeExpr> slotOffsets;
  SizeExpr bytes; // a multiple of kBufferAlignment

  /// Gives every buffer a slot. Buffers whose lifetimes are disjoint share one where their sizes can be compared; the largest come first,
  /// each into the smallest slot that holds it.
  void assignSlots();
};

/// Sets the lifetime of |buffer|, a memref.alloc, from the accesses to it and to its views.
mlir::LogicalResult computeLifetime(PlannedBuffer &buffer, const OperationOrder &order);

/// Where the buffers of a function lie.
struct FunctionPlan {
  PlannedScope function;
  llvm::MapVector<mlir::Operation *, PlannedScope> loops; // outermost parallel loops
};

/// The number of workers in expressions of sizes.
mlir::StringAttr getWorkersSymbol(mlir::MLIRContext *context);

/// |type| without its strides: itself, or where only the rows have a stride of their own, rows of as many elements as that; null for other
/// layouts.
mlir::MemRefType getRowBuffer(mlir::MemRefType type);

/// Gives |function| the arguments `%workspace` and `%workers` and replaces its allocations by views of the workspace, as |plan| says.
void placeBuffers(mlir::func::FuncOp function, FunctionPlan &plan);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_PLANMEMORYSCOPES_H
