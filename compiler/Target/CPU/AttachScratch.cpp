//===- AttachScratch.cpp - Buffers for the scores of attention tiles ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects attention tiles on buffers. Gives each tile a `scratch` and a `state` buffer, allocated in the innermost
// parallel loop around the tile, or in the function if there is no such loop. The memory plan makes one copy of a
// buffer in a loop for each worker. Tiles in one loop body share scratch buffers of equal size, and state buffers of
// equal size. Tiles that have scratch are not changed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"
#include "compiler/Transforms/TileSizes.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include <numeric>

namespace attune {
#define GEN_PASS_DEF_ATTACHSCRATCH
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// Columns of padding after the scores. Without padding, rows would be 2 KiB apart (512 keys): the rows would share
/// sets of the L1 cache, and loads of one row would wait for stores to another row whose address has the same low 12
/// bits.
constexpr int64_t kPadding = 16;
/// Columns of the state: 16 partial sums, the maximum, and padding to whole vectors.
constexpr int64_t kStateColumns = 32;

/// Returns the body of the innermost parallel loop around |op|; if there is none, the entry block of the function.
Block *getScope(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForallOp>(parent))
      return loop.getBody();
    if (auto function = dyn_cast<FunctionOpInterface>(parent))
      return &function.getFunctionBody().front();
  }
  return op->getBlock();
}

struct AttachScratch : attune::impl::AttachScratchBase<AttachScratch> {
  using AttachScratchBase::AttachScratchBase;

  /// Returns an upper bound of the rows (queries x heads) of |op|. The number of rows of a whole tile is a multiple of
  /// its heads and of the option `rows`, so even the smallest one can have more rows than the option `stateRows`: 112
  /// for 7 heads and `rows` = 16.
  int64_t boundRows(tiles::AttentionTileOp op) {
    auto query = cast<MemRefType>(op.getQuery().getType());
    if (!query.isDynamicDim(0) && !query.isDynamicDim(1))
      return query.getDimSize(0) * query.getDimSize(1);
    int64_t bound = stateRows, first = query.isDynamicDim(1) ? 1 : query.getDimSize(1);
    for (int64_t heads = first, last = query.isDynamicDim(1) ? kMostTileHeads : first; heads <= last; ++heads)
      bound = std::max(bound, std::lcm(heads, static_cast<int64_t>(rows)));
    return bound;
  }

  void runOnOperation() override {
    if (failed(rt::verifyRanges([&] { return getOperation()->emitError(); },
                                {{"rows", rows, rt::FieldRange::Positive}, {"state-rows", stateRows, rt::FieldRange::Positive}})))
      return signalPassFailure();
    // Scores and states never share a buffer, not even one of the same type.
    llvm::DenseMap<std::pair<Block *, Type>, Value> scores, states;
    OpBuilder builder(&getContext());
    getOperation()->walk([&](tiles::AttentionTileOp op) {
      if (op.getScratch() || !isa<MemRefType>(op.getQuery().getType()))
        return;
      Block *scope = getScope(op);
      int64_t columns = static_cast<int64_t>(op.getKeyBlock()) + kPadding;
      auto type = MemRefType::get({rows, columns}, builder.getF32Type());
      auto allocate = [&](auto &buffers, MemRefType type) {
        Value &buffer = buffers[{scope, type}];
        if (!buffer) {
          builder.setInsertionPointToStart(scope);
          buffer = memref::AllocOp::create(builder, op.getLoc(), type, builder.getI64IntegerAttr(64));
        }
        return buffer;
      };
      op.getScratchMutable().assign(allocate(scores, type));
      int64_t most = std::max<int64_t>(stateRows, boundRows(op));
      op.getStateMutable().assign(allocate(states, MemRefType::get({most, kStateColumns}, builder.getF32Type())));
    });
  }
};

} // namespace
