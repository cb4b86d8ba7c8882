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

/// The numbers of the operations of a function, in program order; an operation precedes the operations nested in it.
class OperationOrder {
public:
  explicit OperationOrder(mlir::func::FuncOp function);
  /// Returns the number of |op|.
  unsigned first(mlir::Operation *op) const { return ranges.lookup(op).first; }
  /// Returns the number of the last operation nested in |op|, or that of |op| if there is none.
  unsigned last(mlir::Operation *op) const { return ranges.lookup(op).second; }

private:
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> ranges;
};

/// An operation that needs bytes of the workspace: a memref.alloc, a call of a function with buffers, or a parallel
/// loop with buffers.
struct PlannedBuffer {
  mlir::Operation *op;
  SizeExpr size;        // bytes, an upper bound
  unsigned first, last; // numbers of the first and the last operation of the lifetime
  unsigned slot = 0;
};

/// The buffers of a function, or those of one iteration of a parallel loop, and their offsets.
struct PlannedScope {
  std::vector<PlannedBuffer> buffers;
  std::vector<SizeExpr> slotOffsets; // in bytes, by slot
  SizeExpr bytes;                    // of all slots; a multiple of kBufferAlignment

  /// Assigns every buffer a slot, the largest buffer first, and sets slotOffsets and bytes. A buffer gets the smallest
  /// slot that provably holds it and whose other buffers have disjoint lifetimes, else a new slot. To be called once.
  void assignSlots();
};

/// Sets the lifetime of |buffer|, a memref.alloc, from the accesses to it and to its views; a buffer without accesses
/// lives at its allocation only. Fails, with an error, if the buffer leaves its loop iteration, or a region other than
/// by scf.yield.
mlir::LogicalResult computeLifetime(PlannedBuffer &buffer, const OperationOrder &order);

/// Returns |size| in bytes if every dim is 64 and there are 8 workers. Buffers are sorted by this number.
int64_t typicalBytes(const SizeExpr &size);

/// The memory plan of a function.
struct FunctionPlan {
  PlannedScope function;
  llvm::MapVector<mlir::Operation *, PlannedScope> loops; // by outermost parallel loop: the buffers of one iteration
};

/// Returns the symbol that stands for the number of workers in sizes.
mlir::StringAttr getWorkersSymbol(mlir::MLIRContext *context);

/// Returns a type of identity layout with the bytes of |type|: |type| itself, or for padded rows (`strided<[64, 1]>`) a
/// matrix whose rows include the padding. Returns null for other layouts.
mlir::MemRefType getRowBuffer(mlir::MemRefType type);

/// Appends the arguments `%workspace` and `%workers` to |function|, replaces its allocations by views of the workspace
/// according to |plan|, passes parts of the workspace to the planned calls, and replaces rt.worker_count by `%workers`.
void placeBuffers(mlir::func::FuncOp function, FunctionPlan &plan);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_PLANMEMORYSCOPES_H
