//===- PanelPrefetch.cpp - Prefetches of weight panels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// To compute a projection of few rows takes less time than to load its weights from DRAM, so the memory must stay busy
// from the first row tile of a block to the last. To this end, each row tile prefetches a share of the next panel while
// it multiplies the current one. A share is read in several streams (s0 to s3 in the figure), as many as the machine
// needs for its full bandwidth.
//
//   memory        | panel p: in use          | panel p + 1                                           |  a cell: a segment of lines
//                 |                          | share 0             | share 1             | share 2 .. |
//                 |                          | s0 | s1 | s2 | s3   | s0 | s1 | s2 | s3   |            |
//   tile 0          k loop, iteration i ------> s0[i]  s1[i]  s2[i]  s3[i]
//   tile 1          k loop, iteration i -----------------------------> s0[i]  s1[i]  s2[i]  s3[i]
//
//   row tiles of the block     shares     streams (prefetch_streams = 4)
//   1                          1          4, or one at a fixed distance ahead into the L1 cache (prefetch_streams = 1)
//   2, 3                       2          4
//   4 to 7                     4          1
//   8 and more                 8          1: one line per iteration                 (f32 panels of 32 columns, 4 steps)
//
// Invariants. Together the shares cover the next panel; if there are more tiles than shares, several tiles prefetch the
// same share. Each iteration of a k loop has the same number of prefetches; if that is less than the number of streams,
// the streams take turns. A prefetch never faults, so lines after the last panel do no harm.
//
// Cost. A whole tile has one k loop for each row of the table; a block chooses one by its number of row tiles.
//
// Tried and rejected: four streams in four panels (these panels and the four in use do not fit into the L2 cache),
// eight streams (no gain), and hints that keep lines out of the larger caches (the weights of a small model should stay
// there). docs/measurements.md has bandwidths.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/PanelPrefetch.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

/// The size of a cache line in bytes.
static constexpr int64_t kLineBytes = 64;
/// The most shares that use several streams. Blocks with more shares compute for longer than one stream takes to load
/// the next panel.
static constexpr int64_t kStreamedShares = 2;
/// Locality hints: into the L1 or the L2 cache.
static constexpr int64_t kToL1 = 3, kToL2 = 2;

/// Returns the number of elements of |type| in a cache line.
static int64_t getLineElements(MemRefType type) { return kLineBytes * 8 / type.getElementTypeBitWidth(); }

static void prefetch(VectorBuilder &builder, Value panels, ValueRange at, int64_t locality) {
  memref::PrefetchOp::create(builder, panels, at, /*isWrite=*/false, locality, /*isDataCache=*/true);
}

void attune::emitPanelPrefetch(VectorBuilder &builder, PrefetchPlan plan, Value panels, Value current, Value rowTile, int64_t shares,
                               Value iteration, int64_t iterations) {
  auto type = cast<MemRefType>(panels.getType());
  int64_t rowElements = type.getStridesAndOffset().first[1], lineElements = getLineElements(type);
  int64_t lines = type.getDimSize(1) * rowElements / lineElements;
  int64_t perIteration = std::max<int64_t>(1, llvm::divideCeil(lines, iterations * shares));
  if (shares == 1 && plan.streams == 1) {
    // Panels follow each other in memory: the lines after the end of this one are the next panel's.
    Value first = builder.add(builder.mul(iteration, perIteration * lineElements), plan.aheadBytes / kLineBytes * lineElements);
    for (int64_t line = 0; line < perIteration; ++line)
      prefetch(builder, panels, {current, builder.index(0), builder.add(first, line * lineElements)}, kToL1);
    return;
  }
  // If an iteration has fewer lines than streams, the streams take turns.
  int64_t all = shares <= kStreamedShares ? plan.streams : 1;
  int64_t streams = std::min<int64_t>(all, llvm::bit_floor<uint64_t>(perIteration)), turns = all / streams;
  int64_t advance = llvm::divideCeil(perIteration, streams), segment = llvm::divideCeil(iterations, turns) * advance;
  int64_t shareRows = llvm::divideCeil(all * segment * lineElements, rowElements);
  Value first = builder.add(builder.mul(builder.div(iteration, turns), advance * lineElements),
                            builder.mul(builder.rem(iteration, turns), streams * segment * lineElements));
  Value next = builder.add(current, 1), row = builder.mul(builder.rem(rowTile, shares), shareRows);
  for (int64_t stream = 0; stream < streams; ++stream)
    for (int64_t line = 0; line < advance; ++line)
      prefetch(builder, panels, {next, row, builder.add(first, (stream * segment + line) * lineElements)}, kToL2);
}

PanelPrefetch::PanelPrefetch(VectorBuilder &builder, PrefetchPlan plan, linalg::LinalgOp op, Value panel, int64_t unroll)
    : builder(builder), plan(plan), panel(panel), unroll(unroll) {
  auto type = cast<MemRefType>(panel.getType());
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!loop || type.isDynamicDim(1))
    return;
  depth = type.getDimSize(1);
  width = type.getStridesAndOffset().first[1];
  Value before = builder.sub(loop.getInductionVar(), loop.getLowerBound()), all = builder.sub(loop.getUpperBound(), loop.getLowerBound());
  tile = builder.div(before, loop.getStep());
  tiles = builder.ceilDiv(all, loop.getStep());
}

SmallVector<PanelPrefetch::Variant> PanelPrefetch::getVariants() const {
  SmallVector<Variant> variants{{1, 1}};
  int64_t lineElements = getLineElements(cast<MemRefType>(panel.getType()));
  for (int64_t shares = 2; shares <= unroll * width / lineElements; shares *= 2)
    variants.push_back({shares, 2 * shares - 1});
  variants.back().maxTiles = ShapedType::kDynamic;
  return variants;
}

void PanelPrefetch::emit(Variant variant, Value current, Value k, int64_t steps) {
  emitPanelPrefetch(builder, plan, panel, current, tile, variant.shares, builder.div(k, steps), llvm::divideCeil(depth, steps));
}

void PanelPrefetch::emitSideBySide(Value current, Value k, int64_t panels) {
  auto type = cast<MemRefType>(panel.getType());
  int64_t lineElements = getLineElements(type), rowBytes = width * type.getElementTypeBitWidth() / 8;
  Value row = builder.add(k, plan.aheadBytes / panels / rowBytes);
  // If a line has several rows, it is prefetched once for each.
  for (int64_t column = 0; column < width; column += lineElements)
    prefetch(builder, panel, {current, row, builder.index(column)}, plan.streams == 1 ? kToL1 : kToL2);
}
