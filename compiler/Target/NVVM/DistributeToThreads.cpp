//===- DistributeToThreads.cpp - Iterations as the work of blocks ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects scf.forall on buffers with linalg and xfmr tile operations inside. Leaves scalar code of one thread, with barriers. All control
// flow around barriers is the same for all threads of a block: loops and branches that were there depend on what all threads know.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/BarrierPlacement.h"
#include "compiler/Target/NVVM/CodeProjection.h"
#include "compiler/Target/NVVM/CodeVersions.h"
#include "compiler/Target/NVVM/FlashWarpgroups.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/RowLimit.h"
#include "compiler/Target/NVVM/ThreadLoops.h"
#include "compiler/Target/NVVM/WholeProjection.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/Iterators.h"

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
      if (failed(verifyLoop(loop)))
        return signalPassFailure();
    SpecificTiles specific{specificArch, specificColumns, specificStages, specificCacheBytes};
    SmallVector<CodeVersion> versions;
    for (scf::ForallOp loop : outer)
      versions.append(makeCodeVersions(loop, specific));
    for (CodeVersion version : versions)
      if (version.isSpecific)
        eraseUnused(isWarpgroupAttention(version.loop) ? emitFlashWarpgroups(version.loop, specific.arch, specific.cacheBytes)
                                                       : emitCodeWarpgroups(*findWholeProjection(version.loop, kWarpgroupRows),
                                                                            specific.arch, specific.columns, specific.stages));
      else if (failed(distribute(version.loop, version.form)))
        return signalPassFailure();
  }

private:
  /// Reports what threads cannot share in |loop|: operations on tensors.
  static LogicalResult verifyLoop(scf::ForallOp loop) {
    if (loop->getNumResults() != 0)
      return loop.emitError("expects a loop on buffers, but got results");
    WalkResult walk = loop.walk([](Operation *op) {
      if (!isDistributed(op))
        return WalkResult::advance();
      for (Value operand : op->getOperands()) {
        auto type = dyn_cast<MemRefType>(operand.getType());
        SmallVector<int64_t> strides;
        int64_t offset;
        if (isa<ShapedType>(operand.getType()) && (!type || failed(type.getStridesAndOffset(strides, offset))))
          return op->emitError("expects ranked buffers with strides, but got ") << operand.getType(), WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  LogicalResult distribute(scf::ForallOp loop, CodeForm form) {
    placeBarriers(loop);
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    ThreadEmitter e(builder, loop.getLoc());
    Value thread = e.thread(), first = thread, step = e.index(threads);
    if (rt::getLaunch(loop).getGrid()) {
      first = e.add(e.mul(loop.getInductionVar(0), threads), thread);
      step = e.mul(getValueOrCreateConstantIndexOp(builder, loop.getLoc(), loop.getMixedUpperBound()[0]), threads);
    }
    ThreadLoops loops{first, step, thread, threads};
    // All of them before the first is emitted: what a thread does is not shared again.
    llvm::SetVector<Operation *> ops;
    loop.walk([&](Operation *op) {
      if (isDistributed(op))
        ops.insert(op);
    });
    distributeCodes(ops, form, loops);
    for (Operation *op : ops)
      if (failed(distributeOp(op, loops)))
        return failure();
    eraseUnused(loop);
    skipRowsBehindTokens(loop);
    return success();
  }

  /// Takes projections of codes out of |ops|, with what happens to their sums, which are not stored then.
  static void distributeCodes(llvm::SetVector<Operation *> &ops, CodeForm form, const ThreadLoops &loops) {
    SmallVector<linalg::LinalgOp> contractions;
    if (loops.threads != kBlockThreads)
      return;
    for (Operation *op : ops)
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op); linalgOp && isCodeContraction(linalgOp))
        contractions.push_back(linalgOp);
    for (linalg::LinalgOp contraction : contractions) {
      CodeProjection projection = findCodeProjection(contraction);
      OpBuilder builder(projection.epilogue ? projection.epilogue : contraction);
      if (form == CodeForm::Few)
        emitCodeRows(projection, builder, loops);
      else
        emitCodeTiles(projection, form, builder, loops);
      for (Operation *op : {projection.epilogue.getOperation(), contraction.getOperation(), projection.zero.getOperation()})
        if (op) {
          ops.remove(op);
          op->erase();
        }
    }
  }

  /// Erases scratch that nothing is in any more, and the number of the worker that had it.
  static void eraseUnused(scf::ForallOp loop) {
    loop.getBody()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};
} // namespace
