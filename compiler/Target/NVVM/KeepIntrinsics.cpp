//===- KeepIntrinsics.cpp - Functions that are instructions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects kernels whose math operations are in the llvm dialect. `convert-gpu-to-nvvm` rejects the llvm operations that
// getIntrinsic lists: it lowers these functions only from the math dialect, to calls of libdevice. It accepts calls of
// intrinsics, by which this pass replaces the operations.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attune {
#define GEN_PASS_DEF_KEEPINTRINSICS
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;

/// Returns the name of the intrinsic for |op|, without the type's suffix; "" if |op| is not one of these operations.
static StringRef getIntrinsic(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<LLVM::CopySignOp>([](auto) { return "llvm.copysign"; })
      .Case<LLVM::Exp2Op>([](auto) { return "llvm.exp2"; })
      .Case<LLVM::FAbsOp>([](auto) { return "llvm.fabs"; })
      .Case<LLVM::FCeilOp>([](auto) { return "llvm.ceil"; })
      .Case<LLVM::FFloorOp>([](auto) { return "llvm.floor"; })
      .Case<LLVM::RoundEvenOp>([](auto) { return "llvm.roundeven"; })
      .Case<LLVM::SqrtOp>([](auto) { return "llvm.sqrt"; })
      .Default([](auto) { return ""; });
}

namespace {
struct KeepIntrinsics : attune::impl::KeepIntrinsicsBase<KeepIntrinsics> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (!getIntrinsic(op).empty() && op->getResult(0).getType().isF32())
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      auto name = builder.getStringAttr(getIntrinsic(op) + ".f32");
      auto call = LLVM::CallIntrinsicOp::create(builder, op->getLoc(), builder.getF32Type(), name, op->getOperands());
      op->replaceAllUsesWith(call);
      op->erase();
    }
  }
};
} // namespace
