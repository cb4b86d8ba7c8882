//===- PendingOps.h - Operations that a pass has yet to rewrite -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TRANSFORMS_PENDINGOPS_H
#define ATTUNE_TRANSFORMS_PENDINGOPS_H

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace attune {

/// The operations that a pass has yet to rewrite, in order. As the listener of the pattern rewrites that the pass runs
/// in between, this object removes operations that patterns erase.
class PendingOps : public mlir::RewriterBase::Listener {
public:
  void insert(mlir::Operation *op) { ops.insert(op); }
  bool empty() const { return ops.empty(); }
  /// Removes and returns the first operation.
  mlir::Operation *takeFirst() {
    mlir::Operation *first = ops.front();
    ops.remove(first);
    return first;
  }

  void notifyOperationErased(mlir::Operation *op) override { ops.remove(op); }

private:
  llvm::SetVector<mlir::Operation *> ops;
};

} // namespace attune

#endif // ATTUNE_TRANSFORMS_PENDINGOPS_H
