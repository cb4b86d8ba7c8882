//===- AttentionTileOperands.cpp - What a tile of attention reads ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/AttentionTiler.h"

using namespace mlir;
using namespace attune;

AttentionTiler::Tile AttentionTiler::tileAt(scf::ForallOp loop, Value queries) {
  Tile tile;
  tile.sequence = loop.getInductionVar(0);
  tile.slot = op.getSlots() ? b.extractIndex(op.getSlots(), tile.sequence) : tile.sequence;
  Value number = loop.getInductionVar(1); // of the tile of heads
  tile.kvHead = b.affine({number}, b.d0.floorDiv(headTiles));
  tile.firstHead = b.affine({number}, b.d0.floorDiv(headTiles) * group + b.d0 % headTiles * tileHeads);
  tile.heads = group % tileHeads == 0 ? b.constant(tileHeads)
                                      : b.minimum({number}, {b.expr(group) - b.d0 % headTiles * tileHeads, b.expr(tileHeads)});
  Span rows = b.span(op.getQueryOffsets(), tile.sequence);
  Value begin = arith::MulIOp::create(b.builder, b.loc, loop.getInductionVar(2), queries);
  tile.row = b.minimum({rows.length, begin}, {b.d0, b.d1});
  tile.count = arith::MinSIOp::create(b.builder, b.loc, b.affine({rows.length, tile.row}, b.d0 - b.d1), queries);
  tile.first = b.affine({rows.begin, tile.row}, b.d0 + b.d1);
  tile.keys = keysOf(tile.sequence);
  tile.position = tile.row;
  if (op.getAlignment() == xfmr::Alignment::End)
    tile.position = b.affine({tile.row, b.affine({tile.keys.length, rows.length}, b.d0 - b.d1)}, b.d0 + b.d1);
  return tile;
}

/// Rows of |tensor|, `[T, G, size]`, for the keys of a tile.
Value AttentionTiler::rowTile(const Tile &tile, Value tensor, int64_t size) {
  Box box;
  box.add(tile.keys.begin, tile.keys.length), box.add(tile.kvHead, b.fixed(1)), box.add(b.fixed(0), b.fixed(size));
  return b.slice(tensor, box, {false, true, false});
}

Value AttentionTiler::keyTile(const Tile &tile, Value keys) {
  if (hasKeyRows())
    return rowTile(tile, keys, headDim);
  Value count = b.affine({tile.keys.length}, b.d0.ceilDiv(width));
  Box box;
  if (op.isCached())
    box.add(tile.slot, b.fixed(1)), box.add(tile.kvHead, b.fixed(1)), box.add(b.fixed(0), count);
  else
    box.add(tile.kvHead, b.fixed(1)), box.add(firstPanel(tile.keys, tile.sequence), count);
  box.add(b.fixed(0), b.fixed(headDim)), box.add(b.fixed(0), b.fixed(width));
  SmallVector<bool> dropped(box.sizes.size(), true);
  std::fill(dropped.end() - 3, dropped.end(), false);
  return b.slice(keys, box, dropped);
}

Value AttentionTiler::valueTile(const Tile &tile) {
  if (!op.isCached())
    return rowTile(tile, op.getValue(), valueDim);
  Box box;
  box.add(tile.slot, b.fixed(1)), box.add(tile.kvHead, b.fixed(1)), box.add(b.fixed(0), tile.keys.length),
      box.add(b.fixed(0), b.fixed(valueDim));
  return b.slice(op.getValue(), box, {true, true, false, false});
}

std::pair<OpFoldResult, OpFoldResult> AttentionTiler::broadcast(Value tensor, int64_t dim, Value first, OpFoldResult count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getDimSize(dim) == 1)
    return {b.fixed(0), b.fixed(1)};
  if (!type.isDynamicDim(dim))
    return {first, count};
  // One element for all, or one each: both limits hold in either case.
  Value size = tensor::DimOp::create(b.builder, b.loc, tensor, dim);
  Value offset = b.minimum({first, size}, {b.d0, b.d1 - 1});
  Value wanted = getValueOrCreateConstantIndexOp(b.builder, b.loc, count);
  return {offset, b.minimum({wanted, b.affine({size, offset}, b.d0 - b.d1)}, {b.d0, b.d1})};
}

/// The rows of |mask| for a tile, `[S]`, `[1 or R, S]` or `[1 or H, 1 or R, S]`.
Value AttentionTiler::maskTile(const Tile &tile, Value mask) {
  auto type = cast<RankedTensorType>(mask.getType());
  int64_t rank = type.getRank();
  Box box;
  auto add = [&](std::pair<OpFoldResult, OpFoldResult> part) { box.add(part.first, part.second); };
  add(broadcast(mask, 0, tile.sequence, b.fixed(1)));
  box.sizes[0] = b.fixed(1);
  if (rank == 4)
    add(broadcast(mask, 1, tile.firstHead, headsOf(tile)));
  if (rank > 2)
    add(broadcast(mask, rank - 2, tile.row, tile.count));
  box.add(b.fixed(0), tile.keys.length);
  SmallVector<bool> dropped(rank, false);
  dropped[0] = true;
  return b.slice(mask, box, dropped);
}

Value AttentionTiler::headScaleTile(const Tile &tile) {
  Box box;
  box.add(tile.firstHead, headsOf(tile));
  return b.slice(op.getHeadMask(), box);
}

Value AttentionTiler::distanceBiasTile(const Tile &tile) {
  auto [first, count] = broadcast(op.getDistanceBias(), 0, tile.firstHead, headsOf(tile));
  Box box;
  box.add(first, count), box.add(b.fixed(0), b.dim(op.getDistanceBias(), 1));
  return b.slice(op.getDistanceBias(), box);
}
