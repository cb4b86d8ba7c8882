//===- PlaceInShared.cpp - Scratch of blocks in shared memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects parallel loops after `attune-distribute-to-threads`, with the scratch that `attune-plan-memory` gave to each
// worker: views of the workspace at `rt.worker_id` times the bytes of one worker. Moves the loop's allocations in the
// address space `workgroup` to shared memory. Then moves all views of the scratch that have users to the shared memory
// after these allocations, or none of them if not all fit.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/Passes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <map>
#include <set>

namespace attune {
#define GEN_PASS_DEF_PLACEINSHARED
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// The scratch of one loop: |bytes| for each worker, with views at constant offsets, in bytes. Views at the same offset
/// share their memory; the memory plan lets no others overlap.
struct Scratch {
  int64_t bytes = 0;
  std::map<int64_t, SmallVector<memref::ViewOp>> views;

  /// Returns an upper bound of the bytes of the views at |offset|. |offsets| are the offsets of all views that the
  /// memory plan made, also of erased ones that had no users. A view of dynamic shape ends at the next of |offsets|, or
  /// at the end of the scratch.
  int64_t getSize(int64_t offset, const std::set<int64_t> &offsets) const;
};

/// Views of scratch that share memory, and the offset in bytes at which this memory begins in shared memory.
struct Placement {
  int64_t begin;
  SmallVector<memref::ViewOp> views;
};

/// The alignment, in bytes, of buffers in shared memory; an allocation may require a larger one.
constexpr int64_t kAlignment = 128;

struct PlaceInShared : attune::impl::PlaceInSharedBase<PlaceInShared> {
  using PlaceInSharedBase::PlaceInSharedBase;

  void runOnOperation() override {
    WalkResult walk = getOperation().walk([&](scf::ForallOp loop) -> WalkResult {
      rt::LaunchAttr launch = rt::getLaunch(loop);
      int64_t bytes = launch.getArch() != 0 ? specificBytes : this->bytes;
      std::set<int64_t> offsets;
      if (std::optional<Scratch> all = findScratch(loop))
        for (const auto &[offset, views] : all->views)
          offsets.insert(offset);
      eraseUnused(loop);
      int64_t used = placeAllocations(loop), end = used;
      if (std::optional<Scratch> scratch = findScratch(loop); scratch && !scratch->views.empty()) {
        SmallVector<Placement> placements;
        for (const auto &[offset, views] : scratch->views) {
          placements.push_back({end, views});
          end += llvm::alignTo(scratch->getSize(offset, offsets), kAlignment);
        }
        if (end <= bytes) {
          place(loop, placements);
          used = end;
        }
      }
      if (used > bytes)
        return loop.emitError("needs ") << used << " bytes of shared memory, expected at most " << bytes;
      if (used != 0)
        loop->setAttr(rt::kLaunchAttr, launch.withSharedBytes(used));
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

private:
  static void eraseUnused(scf::ForallOp loop);
  static std::optional<Scratch> findScratch(scf::ForallOp loop);
  static bool collectViews(Value base, int64_t offset, Scratch &scratch);
  static int64_t placeAllocations(scf::ForallOp loop);
  static void place(scf::ForallOp loop, ArrayRef<Placement> placements);
};

} // namespace

int64_t Scratch::getSize(int64_t offset, const std::set<int64_t> &offsets) const {
  auto next = offsets.upper_bound(offset);
  // A view of dynamic shape ends where the next buffer begins.
  int64_t room = (next == offsets.end() ? bytes : *next) - offset, largest = 0;
  for (memref::ViewOp view : views.at(offset)) {
    MemRefType type = view.getType();
    int64_t size = type.hasStaticShape() ? (type.getNumElements() * type.getElementTypeBitWidth() + 7) / 8 : room;
    largest = std::max(largest, size);
  }
  return largest;
}

/// Erases the dead operations of |loop|, such as views of scratch for sums that a kernel keeps in registers.
void PlaceInShared::eraseUnused(scf::ForallOp loop) {
  SmallVector<Operation *> operations;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : llvm::reverse(operations))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// Adds to |scratch| the views at |base| and at sums of |base| and constants. |base| is the index in the workspace of
/// byte |offset| of a worker's scratch. Returns false if |base| or one of these sums has a use that is neither a view
/// nor the addition of a constant.
bool PlaceInShared::collectViews(Value base, int64_t offset, Scratch &scratch) {
  for (Operation *user : base.getUsers()) {
    if (auto view = dyn_cast<memref::ViewOp>(user)) {
      scratch.views[offset].push_back(view);
      continue;
    }
    auto sum = dyn_cast<arith::AddIOp>(user);
    std::optional<int64_t> more =
        sum ? getConstantIntValue(OpFoldResult(sum.getLhs() == base ? sum.getRhs() : sum.getLhs())) : std::nullopt;
    if (!more || !collectViews(sum, offset + *more, scratch))
      return false;
  }
  return true;
}

/// Returns the scratch of |loop|, without views if the loop does not use rt.worker_id. Returns nullopt if rt.worker_id
/// has a use other than a product with a constant, the bytes of one worker; if these constants differ; or if
/// collectViews returns false for a product.
std::optional<Scratch> PlaceInShared::findScratch(scf::ForallOp loop) {
  Scratch scratch;
  bool regular = true;
  loop.walk([&](rt::WorkerIdOp id) {
    for (Operation *user : id->getUsers()) {
      auto product = dyn_cast<arith::MulIOp>(user);
      std::optional<int64_t> each =
          product ? getConstantIntValue(OpFoldResult(product.getLhs() == id.getResult() ? product.getRhs() : product.getLhs()))
                  : std::nullopt;
      regular &= each && (scratch.bytes == 0 || scratch.bytes == *each) && collectViews(product, 0, scratch);
      scratch.bytes = each.value_or(0);
    }
  });
  if (!regular)
    return std::nullopt;
  return scratch;
}

/// Gives the views of |buffer|, the views of these views and so on the memory space of |buffer|.
static void propagateSpace(Value buffer) {
  auto space = cast<MemRefType>(buffer.getType()).getMemorySpace();
  for (Operation *user : buffer.getUsers()) {
    auto view = dyn_cast<ViewLikeOpInterface>(user);
    if (!view || user->getNumResults() != 1 || view.getViewSource() != buffer)
      continue;
    Value result = user->getResult(0);
    auto type = cast<MemRefType>(result.getType());
    result.setType(MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(), space));
    propagateSpace(result);
  }
}

static gpu::AddressSpaceAttr getSharedSpace(MLIRContext *context) {
  return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
}

/// Returns the dynamic shared memory of a block as a buffer of bytes.
static Value getSharedMemory(scf::ForallOp loop) {
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(), MemRefLayoutAttrInterface(), getSharedSpace(loop.getContext()));
  return gpu::DynamicSharedMemoryOp::create(builder, loop.getLoc(), type);
}

/// Replaces the allocations of |loop| that have a static shape and are in the address space `workgroup` by views of
/// shared memory, one after the other from byte 0 on. Returns the number of bytes up to the end of the last one.
int64_t PlaceInShared::placeAllocations(scf::ForallOp loop) {
  SmallVector<memref::AllocOp> allocations;
  loop.walk([&](memref::AllocOp alloc) {
    if (alloc.getType().getMemorySpace() == getSharedSpace(loop.getContext()) && alloc.getType().hasStaticShape())
      allocations.push_back(alloc);
  });
  if (allocations.empty())
    return 0;
  Value shared = getSharedMemory(loop);
  int64_t used = 0;
  for (memref::AllocOp alloc : allocations) {
    OpBuilder builder(alloc);
    used = llvm::alignTo(used, alloc.getAlignment().value_or(kAlignment));
    Value at = arith::ConstantIndexOp::create(builder, alloc.getLoc(), used);
    alloc.replaceAllUsesWith(memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), shared, at, ValueRange()).getResult());
    used += llvm::alignTo(alloc.getType().getNumElements() * alloc.getType().getElementTypeBitWidth() / 8, kAlignment);
    alloc.erase();
  }
  return used;
}

void PlaceInShared::place(scf::ForallOp loop, ArrayRef<Placement> placements) {
  Value shared = getSharedMemory(loop);
  OpBuilder builder(loop.getContext());
  auto space = getSharedSpace(loop.getContext());
  for (const Placement &placement : placements)
    for (memref::ViewOp view : placement.views) {
      builder.setInsertionPoint(view);
      auto type = MemRefType::get(view.getType().getShape(), view.getType().getElementType(), MemRefLayoutAttrInterface(), space);
      Value at = arith::ConstantIndexOp::create(builder, view.getLoc(), placement.begin);
      Value moved = memref::ViewOp::create(builder, view.getLoc(), type, shared, at, view.getSizes());
      view.replaceAllUsesWith(moved);
      view.erase();
      propagateSpace(moved);
    }
  // Erase the rest of the address computation, which would keep rt.worker_id alive.
  SmallVector<Operation *> dead;
  loop.walk([&](rt::WorkerIdOp id) { dead.push_back(id); });
  for (size_t i = 0; i < dead.size(); ++i)
    dead.append(dead[i]->getUsers().begin(), dead[i]->getUsers().end());
  for (Operation *op : llvm::reverse(dead))
    op->erase();
}
