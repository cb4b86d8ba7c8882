//===- BarrierPlacement.cpp - Where threads wait for each other ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/BarrierPlacement.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attune;

namespace {

/// The buffers that a set of operations reads and writes. A view is represented by the buffer that it was made of.
struct Touched {
  llvm::SmallPtrSet<void *, 8> reads, writes;

  void add(const Touched &other) {
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
  }
  bool conflictsWith(const Touched &later) const {
    auto meets = [](const auto &a, const auto &b) { return llvm::any_of(a, [&](void *buffer) { return b.contains(buffer); }); };
    return meets(writes, later.reads) || meets(writes, later.writes) || meets(reads, later.writes);
  }
};

/// Inserts barriers into an MLIR block and the regions of its operations. Walks the operations in order and collects
/// the buffers that were touched since the last barrier.
class Placement {
public:
  void place(Block &block);

private:
  static Touched touchedBy(Operation *op);
  static Touched touchedWithin(Operation *op);

  Touched pending; // since the last barrier
};

} // namespace

static void *rootOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer.getAsOpaquePointer();
}

/// Returns the buffers that |op| touches. Of the operations in its regions, only loads in the body of a
/// destination-style operation count.
Touched Placement::touchedBy(Operation *op) {
  Touched result;
  auto read = [&](Value value) {
    if (isa<MemRefType>(value.getType()))
      result.reads.insert(rootOf(value));
  };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    read(load.getMemRef());
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    result.writes.insert(rootOf(store.getMemRef()));
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    read(copy.getSource());
    result.writes.insert(rootOf(copy.getTarget()));
  } else if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op)) {
    for (Value operand : op->getOperands())
      read(operand);
    for (Value target : destinations.getDpsInits())
      result.writes.insert(rootOf(target));
    for (Region &region : op->getRegions())
      region.walk([&](memref::LoadOp load) { read(load.getMemRef()); });
  }
  return result;
}

/// Returns the buffers that |op| and the operations in its regions touch.
Touched Placement::touchedWithin(Operation *op) {
  Touched result;
  op->walk([&](Operation *inner) { result.add(touchedBy(inner)); });
  return result;
}

void Placement::place(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<DestinationStyleOpInterface>(op) || op.getNumRegions() == 0) {
      Touched now = touchedBy(&op);
      if (pending.conflictsWith(now)) {
        OpBuilder builder(&op);
        gpu::BarrierOp::create(builder, op.getLoc());
        pending = Touched();
      }
      pending.add(now);
      continue;
    }
    // An iteration of a loop also follows the operations of the iteration before it.
    Touched before = pending;
    if (isa<LoopLikeOpInterface>(op))
      before.add(touchedWithin(&op));
    Touched after = before;
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        pending = before;
        place(inner);
        after.add(pending);
      }
    pending = after;
  }
}

void attune::placeBarriers(scf::ForallOp loop) { Placement().place(*loop.getBody()); }
