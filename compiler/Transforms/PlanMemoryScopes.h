//===- PlanMemoryScopes.h - Lifetimes and slots of buffers ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_PLANMEMORYSCOPES_H
#define ATTUNE_COMPILER_TRANSFORMS_PLANMEMORYSCOPES_H

#include "compiler/Transforms/SizeExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

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

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_PLANMEMORYSCOPES_H
