//===- DistributeToThreads.cpp - Iterations as the work of blocks ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects scf.forall on buffers with linalg and xfmr tile operations inside. Leaves scalar code of one thread, with barriers. All control
// flow around barriers is the same for all threads of a block: loops and branches that were there depend on what all threads know.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/BarrierPlacement.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ThreadLoops.h"
#include "dialect/IR/XfmrOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace attune {
#define GEN_PASS_DEF_DISTRIBUTETOTHREADS
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct DistributeToThreads : attune::impl::DistributeToThreadsBase<DistributeToThreads> {
  using DistributeToThreadsBase::DistributeToThreadsBase;

  void runOnOperation() override {
    SmallVector<scf::ForallOp> outer, nested;
    getOperation().walk([&](scf::ForallOp loop) { (loop->getParentOfType<scf::ForallOp>() ? nested : outer).push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : nested) {
      rewriter.setInsertionPoint(loop);
      if (failed(scf::forallToForLoop(rewriter, loop))) {
        loop.emitError("cannot make this loop sequential");
        return signalPassFailure();
      }
    }
    for (scf::ForallOp loop : outer)
      if (failed(distribute(loop)))
        return signalPassFailure();
  }

private:
  LogicalResult distribute(scf::ForallOp loop) {
    placeBarriers(loop);
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    ThreadEmitter e(builder, loop.getLoc());
    Value thread = e.thread(), first = thread, step = e.index(threads);
    if (loop->hasAttr(kGridAttr)) {
      first = e.add(e.mul(loop.getInductionVar(0), threads), thread);
      step = e.mul(getValueOrCreateConstantIndexOp(builder, loop.getLoc(), loop.getMixedUpperBound()[0]), threads);
    }
    ThreadLoops loops{first, step, thread, threads};
    SmallVector<Operation *> ops;
    loop.walk([&](Operation *op) {
      if (isDistributed(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(distributeOp(op, loops)))
        return failure();
    return success();
  }
};
} // namespace
