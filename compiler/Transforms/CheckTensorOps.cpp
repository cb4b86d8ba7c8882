//===- CheckTensorOps.cpp - Reject ops without bufferization --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects IR on tensors. Hand-written IR may have any op of any registered dialect. Bufferization would fail on an op
// on tensors that it does not support, but its error does not say which dialects to use; the error of this pass does.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {
#define GEN_PASS_DEF_CHECKTENSOROPS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;

static bool isTensorType(Type type) { return isa<TensorType>(type); }

namespace {
struct CheckTensorOps : attune::impl::CheckTensorOpsBase<CheckTensorOps> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      bool hasTensors = llvm::any_of(op->getOperandTypes(), isTensorType) || llvm::any_of(op->getResultTypes(), isTensorType);
      if (!hasTensors || isa<bufferization::BufferizableOpInterface>(op))
        return WalkResult::advance();
      op->emitOpError("cannot be compiled: expected ops of the xfmr, linalg, arith, math, tensor and scf dialects on tensors");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
