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
/// How far ahead of the weights in use a single row tile asks for them, in bytes: as much as a core can have under way from DRAM.
static constexpr int64_t kStreamAhead = 16384;

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
  int64_t perRow = width / kLine, lines = std::max<int64_t>(1, steps * perRow / variant.shares);
  if (variant.shares == 1) {
    for (int64_t line = 0; line < lines; ++line)
      prefetch(current, emitter.add(k, line / perRow + kStreamAhead / (width * 4)), emitter.index(line % perRow * kLine));
    return;
  }
  // Iteration i of tile t asks for |lines| lines from i * lines on of share t of the next panel; tiles beyond the shares begin anew. Rows
  // follow each other, so that columns may count on beyond the first row of the share.
  Value next = emitter.add(current, 1);
  Value row = emitter.mul(emitter.remainder(tile, variant.shares), llvm::divideCeil(depth, variant.shares));
  Value column = emitter.mul(k, lines * kLine / steps);
  for (int64_t line = 0; line < lines; ++line)
    prefetch(next, row, emitter.add(column, line * kLine));
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
