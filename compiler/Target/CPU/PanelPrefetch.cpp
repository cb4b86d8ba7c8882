//===- PanelPrefetch.cpp - Asking for weights before they are used ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/PanelPrefetch.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

/// f32 elements of a cache line.
static constexpr int64_t kLine = 16;
/// How far ahead of the weights in use panels side by side ask for them, in bytes: as much as a core can have under way from DRAM.
static constexpr int64_t kStreamAhead = 16384;

/// Streams of lines side by side, for blocks of up to |kStreamedShares| shares: larger ones compute for longer than one stream takes.
static constexpr int64_t kStreams = 4, kStreamedShares = 2;

PrefetchedLines attune::linesToPrefetch(VectorEmitter &emitter, MemRefType panelType, Value rowTile, int64_t shares, Value iteration,
                                        int64_t iterations) {
  int64_t rowElements = panelType.getStridesAndOffset().first[1], lineElements = 512 / panelType.getElementTypeBitWidth();
  int64_t lines = panelType.getDimSize(1) * rowElements / lineElements;
  int64_t perIteration = std::max<int64_t>(1, llvm::divideCeil(lines, iterations * shares));
  // Few lines are for some of the streams in turn.
  int64_t all = shares <= kStreamedShares ? kStreams : 1;
  int64_t streams = std::min<int64_t>(all, llvm::bit_floor<uint64_t>(perIteration)), turns = all / streams;
  int64_t advance = llvm::divideCeil(perIteration, streams), segment = llvm::divideCeil(iterations, turns) * advance;
  int64_t shareRows = llvm::divideCeil(all * segment * lineElements, rowElements);
  Value first = emitter.add(emitter.mul(emitter.floorDiv(iteration, turns), advance * lineElements),
                            emitter.mul(emitter.remainder(iteration, turns), streams * segment * lineElements));
  PrefetchedLines result{emitter.mul(emitter.remainder(rowTile, shares), shareRows), {}};
  for (int64_t stream = 0; stream < streams; ++stream)
    for (int64_t line = 0; line < advance; ++line)
      result.columns.push_back(emitter.add(first, (stream * segment + line) * lineElements));
  return result;
}

PanelPrefetch::PanelPrefetch(VectorEmitter &emitter, linalg::LinalgOp op, Value panel, int64_t unroll)
    : emitter(emitter), panel(panel), unroll(unroll) {
  auto type = cast<MemRefType>(panel.getType());
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!loop || type.isDynamicDim(1))
    return;
  depth = type.getDimSize(1);
  width = type.getStridesAndOffset().first[1];
  OpBuilder &builder = emitter.getBuilder();
  Value before = emitter.sub(loop.getInductionVar(), loop.getLowerBound()), all = emitter.sub(loop.getUpperBound(), loop.getLowerBound());
  tile = builder.createOrFold<arith::DivUIOp>(emitter.getLoc(), before, loop.getStep());
  tiles = builder.createOrFold<arith::CeilDivUIOp>(emitter.getLoc(), all, loop.getStep());
}

SmallVector<PanelPrefetch::Variant> PanelPrefetch::getVariants() const {
  SmallVector<Variant> variants{{1, 1}};
  for (int64_t shares = 2; shares <= unroll * width / kLine; shares *= 2)
    variants.push_back({shares, 2 * shares - 1});
  variants.back().maxTiles = ShapedType::kDynamic;
  return variants;
}

void PanelPrefetch::emit(Variant variant, Value current, Value k, int64_t steps) {
  PrefetchedLines lines = linesToPrefetch(emitter, cast<MemRefType>(panel.getType()), tile, variant.shares, emitter.floorDiv(k, steps),
                                          llvm::divideCeil(depth, steps));
  Value next = emitter.add(current, 1);
  for (Value column : lines.columns)
    prefetch(next, lines.row, column);
}

void PanelPrefetch::emitSideBySide(Value current, Value k, int64_t panels) {
  for (int64_t line = 0; line < width / kLine; ++line)
    prefetch(current, emitter.add(k, kStreamAhead / panels / (width * 4)), emitter.index(line * kLine));
}

void PanelPrefetch::prefetch(Value panelIndex, Value row, Value column) {
  memref::PrefetchOp::create(emitter.getBuilder(), emitter.getLoc(), panel, ValueRange{panelIndex, row, column}, /*isWrite=*/false,
                             /*localityHint=*/2,
                             /*isDataCache=*/true);
}
