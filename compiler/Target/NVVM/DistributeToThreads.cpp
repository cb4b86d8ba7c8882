//===- DistributeToThreads.cpp - Iterations as the work of blocks ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects scf.forall on buffers with linalg and tile operations inside. Leaves the code of one thread, with barriers.
// All threads of a block execute the same barriers: placeBarriers inserts them only between operations of the input,
// and the loops and branches around these operations have the same bounds and conditions in all threads, since no
// operation of the input depends on the number of a thread. The emitters of thread-block tiles add barriers of their
// own, for which the same holds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/BarrierPlacement.h"
#include "compiler/Target/NVVM/DistributeOps.h"
#include "compiler/Target/NVVM/FlashWarpgroups.h"
#include "compiler/Target/NVVM/GroupedWarpgroups.h"
#include "compiler/Target/NVVM/KernelVersions.h"
#include "compiler/Target/NVVM/LowPrecisionProjection.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ProjectionLoop.h"
#include "compiler/Target/NVVM/RowLimit.h"
#include "dialect/Xfmr/IR/OpRemark.h"
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

static constexpr llvm::StringLiteral kDistributeToThreadsName = "attune-distribute-to-threads";

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
    WgmmaTiles wgmma{specificArch, specificColumns, specificStages, specificCacheBytes};
    SmallVector<KernelVersion> versions;
    for (scf::ForallOp loop : outer)
      versions.append(createKernelVersions(loop, wgmma));
    for (KernelVersion version : versions)
      report(version);
    for (KernelVersion version : versions)
      if (version.isArchSpecific)
        eraseUnused(emitSpecific(version, wgmma));
      else if (failed(distribute(version.loop, version.variant)))
        return signalPassFailure();
  }

private:
  /// Replaces the loop of |version| by a loop over blocks of warpgroups and returns the new loop.
  static scf::ForallOp emitSpecific(const KernelVersion &version, const WgmmaTiles &wgmma) {
    if (isWarpgroupAttention(version.loop))
      return emitFlashWarpgroups(version.loop, wgmma.arch, wgmma.cacheBytes);
    if (std::optional<GroupedLoop> grouped = matchGroupedLoop(version.loop, kWarpgroupRows))
      return emitGroupedWarpgroups(*grouped, wgmma.arch);
    return emitWgmmaGemm(*matchProjectionLoop(version.loop, kWarpgroupRows), wgmma.arch, wgmma.tileOf(version.variant));
  }

  /// Emits a remark that says what computes |version| (warpgroups, tensor cores, warps or threads), if the loop records
  /// remarks.
  static void report(const KernelVersion &version) {
    scf::ForallOp loop = version.loop;
    if (!xfmr::recordsRemarks(loop))
      return;
    bool isProduct = false, isAttention = false;
    loop.walk([&](Operation *op) {
      isProduct |= isTensorCoreProduct(op);
      isAttention |= isa<tiles::AttentionTileOp>(op);
    });
    if (version.isArchSpecific)
      xfmr::passed(loop, kDistributeToThreadsName, "TensorCores") << remark::add("a version for one architecture by warpgroups");
    else if (isProduct)
      xfmr::passed(loop, kDistributeToThreadsName, "TensorCores") << remark::add(
          "products by the tensor cores, {0}", version.variant == GemmVariant::Skinny ? "for few columns" : "in tiles of a block");
    else
      xfmr::analysis(loop, kDistributeToThreadsName, "Threads")
          << remark::add(isAttention ? "an attention by the warps of a block" : "elements by threads");
  }

  /// Reports an error if |loop| has results, or if an operation in it for which isDistributed returns true has an
  /// operand that is a tensor, or a buffer that is unranked or not strided.
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

  LogicalResult distribute(scf::ForallOp loop, GemmVariant variant) {
    placeBarriers(loop);
    ThreadBuilder e(loop.getLoc(), loop.getBody(), loop.getBody()->begin());
    Value thread = e.thread(), first = thread, step = e.index(threads);
    if (rt::getLaunch(loop).getGrid()) {
      first = e.add(e.mul(loop.getInductionVar(0), threads), thread);
      step = e.mul(e.index(loop.getMixedUpperBound()[0]), threads);
    }
    ThreadLoops loops{first, step, thread, threads};
    // All operations are collected first, because the emitted code of a thread must not be distributed again.
    llvm::SetVector<Operation *> ops;
    loop.walk([&](Operation *op) {
      if (isDistributed(op))
        ops.insert(op);
    });
    distributeLowPrecision(ops, variant, loops);
    for (Operation *op : ops)
      if (failed(distributeOp(op, variant, loops)))
        return failure();
    eraseUnused(loop);
    skipRowsBehindTokens(loop);
    return success();
  }

  /// Emits the low-precision projections in |ops| by tensor cores, each with its fused epilogue if it has one. Erases
  /// the operations of these projections (contraction, epilogue, and the fill of the sums with zeros), and removes them
  /// from |ops|. Does nothing unless blocks have kBlockThreads threads.
  static void distributeLowPrecision(llvm::SetVector<Operation *> &ops, GemmVariant variant, const ThreadLoops &loops) {
    SmallVector<linalg::LinalgOp> contractions;
    if (loops.threads != kBlockThreads)
      return;
    for (Operation *op : ops)
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op); linalgOp && isMmaContraction(linalgOp))
        contractions.push_back(linalgOp);
    for (linalg::LinalgOp contraction : contractions) {
      LowPrecisionProjection projection = matchLowPrecisionProjection(contraction);
      linalg::LinalgOp last = projection.epilogue ? projection.epilogue : contraction;
      ThreadBuilder e(contraction.getLoc(), last);
      if (variant == GemmVariant::Skinny)
        emitSkinnyGemm(projection, e, loops);
      else
        emitMmaGemm(projection, variant, e, loops);
      for (Operation *op : {projection.epilogue.getOperation(), contraction.getOperation(), projection.zero.getOperation()})
        if (op) {
          ops.remove(op);
          op->erase();
        }
    }
  }

  /// Erases dead operations of |loop|, such as views of scratch that emitted code does not use.
  static void eraseUnused(scf::ForallOp loop) {
    loop.getBody()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};
} // namespace
