//===- PlaceOnDevice.cpp - No host code touches buffers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects bufferized functions. Moves all operations on elements of buffers into scf.forall; only arithmetic on sizes,
// views and calls remain outside.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ThreadLoops.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {
#define GEN_PASS_DEF_PLACEONDEVICE
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// The most blocks of a grid that shares one operation: enough to fill a device several times.
static constexpr int64_t kMostBlocks = 4096;

/// Returns true if |op| itself reads or writes elements of buffers.
static bool touchesElements(Operation *op) {
  if (isa<linalg::LinalgOp, memref::LoadOp, memref::StoreOp, memref::CopyOp>(op))
    return true;
  return isa_and_nonnull<tiles::TileDialect>(op->getDialect());
}

/// Returns true if |op| or an operation in its regions reads or writes elements of buffers.
static bool reachesElements(Operation *op) {
  return op->walk([](Operation *inner) { return touchesElements(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Returns true if |op| or an operation in its regions is a parallel loop or a call.
static bool containsLaunch(Operation *op) {
  return op
      ->walk([](Operation *inner) { return isa<scf::ForallOp, func::CallOp>(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Returns the number of elements that |op| writes if it is a copy or a linalg operation without reductions; else null.
static Value countElements(OpBuilder &builder, Operation *op) {
  Value target;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op); linalgOp && linalgOp.getNumReductionLoops() == 0)
    target = linalgOp.getDpsInits()[0];
  else if (auto copy = dyn_cast<memref::CopyOp>(op))
    target = copy.getTarget();
  auto type = target ? dyn_cast<MemRefType>(target.getType()) : MemRefType();
  if (!type)
    return {};
  Value count = arith::ConstantIndexOp::create(builder, op->getLoc(), 1);
  for (int64_t dim = 0; dim != type.getRank(); ++dim)
    count = builder.createOrFold<arith::MulIOp>(op->getLoc(), count, builder.createOrFold<memref::DimOp>(op->getLoc(), target, dim));
  return count;
}

namespace {
struct PlaceOnDevice : attune::impl::PlaceOnDeviceBase<PlaceOnDevice> {
  using PlaceOnDeviceBase::PlaceOnDeviceBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(place(function.getBody())))
        return signalPassFailure();
  }

private:
  LogicalResult place(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (isa<scf::ForallOp, func::CallOp>(op) || !reachesElements(&op))
          continue;
        if (containsLaunch(&op)) {
          if (touchesElements(&op))
            return op.emitError("expects no parallel loop inside an operation on buffers");
          for (Region &inner : op.getRegions())
            if (failed(place(inner)))
              return failure();
          continue;
        }
        if (llvm::any_of(op.getResults(), [](Value result) { return !result.use_empty(); }))
          return op.emitError("the host needs a value that only the device knows");
        wrap(&op);
      }
    return success();
  }

  /// Moves |op| into a new parallel loop. If countElements counts the elements of |op|, the loop is a grid of blocks
  /// that share them; otherwise it has one iteration.
  void wrap(Operation *op) {
    IRRewriter builder(op);
    Location loc = op->getLoc();
    Value count = countElements(builder, op);
    OpFoldResult blocks = builder.getIndexAttr(1);
    if (count) {
      Value most = arith::ConstantIndexOp::create(builder, loc, kMostBlocks);
      Value each = arith::ConstantIndexOp::create(builder, loc, threads * kPointsAtOnce);
      blocks =
          getAsOpFoldResult(builder.createOrFold<arith::MinUIOp>(loc, builder.createOrFold<arith::CeilDivUIOp>(loc, count, each), most));
    }
    auto loop = scf::ForallOp::create(builder, loc, ArrayRef<OpFoldResult>{blocks}, ValueRange{}, std::nullopt);
    if (count)
      loop->setAttr(rt::kLaunchAttr, rt::LaunchAttr::get(&getContext(), /*grid=*/true, 0, 0, 0, std::nullopt));
    op->moveBefore(loop.getTerminator());
  }
};
} // namespace
