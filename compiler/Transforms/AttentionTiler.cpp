//===- AttentionTiler.cpp - The loops around tiles of attention -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/AttentionTiler.h"
#include "compiler/Transforms/TileSizes.h"
#include "compiler/Transforms/Work.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"

#include <numeric>

using namespace mlir;
using namespace attune;

/// Returns how many of the |group| query heads that share a key head one attention tile has: all if they are at most
/// |most|; else the largest divisor of |group| from |most| / 2 to |most|, so that tiles are equal; or |most| if there
/// is no such divisor.
static int64_t headsPerTile(int64_t group, int64_t most) {
  for (int64_t count = std::min(group, most); 2 * count >= std::min(group, most); --count)
    if (group % count == 0)
      return count;
  return most;
}

AttentionTiler::AttentionTiler(xfmr::AttentionOp op, AttentionSizes sizes)
    : op(op), b(op), sizes(sizes), heads(op.getNumHeads()), kvHeads(op.getNumKvHeads()), headDim(op.getHeadDim()),
      valueDim(op.getValueDim()), width(op.isCached() ? op.getKey().getType().getDimSize(4) : sizes.width), group(heads / kvHeads),
      tileHeads(headsPerTile(group, kMostTileHeads)), headTiles(llvm::divideCeil(group, tileHeads)) {}

void AttentionTiler::run() {
  Value batch = b.affine({b.size(op.getQueryOffsets(), 0)}, b.d0 - 1);
  Value mask = op.getMask() ? maskOfF32(op.getMask()) : Value();
  Value keys = op.isCached() || hasKeyRows() ? op.getKey() : packKeys(batch);
  report();
  scf::ForallOp loop = attend(batch, mask, keys);
  for (auto [former, result] : llvm::zip_first(op->getResults(), loop.getResults())) {
    Value value = result;
    if (former.getType() != value.getType()) // the op's type may have static sizes, the loop's has dynamic ones
      value = tensor::CastOp::create(b, former.getType(), value);
    former.replaceAllUsesWith(value);
  }
  op.erase();
}

/// Emits remarks about the sizes of tiles and the layout of keys.
void AttentionTiler::report() {
  constexpr llvm::StringLiteral pass = "attune-tile-attention";
  if (op.isCached())
    xfmr::passed(op, pass, "KeyPanels") << remark::metric(xfmr::kRemarkKernel, describe())
                                        << remark::add("keys are read from the cache, in panels of {0}", width);
  else if (hasKeyRows())
    xfmr::missed(op, pass, "KeyPanels") << remark::metric(xfmr::kRemarkKernel, describe())
                                        << remark::reason("keys stay in rows, which this target's products read as they are");
  else
    xfmr::passed(op, pass, "KeyPanels") << remark::metric(xfmr::kRemarkKernel, describe())
                                        << remark::add("keys are transposed to panels of {0} by a kernel of its own", width);
  xfmr::passed(op, pass, "TileAttention")
      << remark::metric(xfmr::kRemarkKernel, describe())
      << remark::add("heads of a tile: {0}, rows of queries: {1}, or {2} if there are more than {3} keys; products in {4}", tileHeads,
                     std::lcm(tileHeads, sizes.rows), sizes.longRows, sizes.keyBlock, xfmr::stringifyPrecision(getPrecision()));
}

/// Converts an integer |mask| to f32: 0 where an element is nonzero, the most negative f32 where it is 0. A mask of
/// f32, which is added to scores, keeps its values. The result has one element for each key.
Value AttentionTiler::maskOfF32(Value mask) {
  auto type = cast<RankedTensorType>(mask.getType());
  int64_t rank = type.getRank();
  bool isAdded = isa<FloatType>(type.getElementType()), oneKey = type.getDimSize(rank - 1) == 1;
  if (isAdded && !oneKey)
    return mask;
  SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b, b.getLoc(), mask);
  SmallVector<AffineExpr> from;
  for (int64_t dim = 0; dim < rank; ++dim)
    from.push_back(b.getAffineDimExpr(dim));
  if (oneKey) {
    shape.back() = op.getKeyLength();
    from.back() = b.expr(0);
  }
  Value empty = tensor::EmptyOp::create(b, shape, b.getF32Type());
  SmallVector<AffineMap> maps{AffineMap::get(rank, 0, from, b.getContext()), b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &builder, Location loc, ValueRange args) {
    Value result = args[0];
    if (!isAdded) {
      auto scalar = [&](double value) -> Value { return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value)); };
      Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(args[0].getType()));
      Value hidden = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, args[0], zero);
      result = arith::SelectOp::create(builder, loc, hidden, scalar(-double(std::numeric_limits<float>::max())), scalar(0));
    }
    linalg::YieldOp::create(builder, loc, result);
  };
  auto generic = linalg::GenericOp::create(b, empty.getType(), mask, empty, maps, loops, body);
  generic->setAttr(tiles::kGroupAttr, tiles::GroupAttr::get(generic.getContext(), std::nullopt, "attention mask"));
  return generic.getResult(0);
}

TokenRange AttentionTiler::keysOf(Value sequence) {
  Value given = op.getKeyLengths() ? b.extractIndex(op.getKeyLengths(), sequence) : Value();
  if (op.isCached())
    return {Value(), given};
  TokenRange span = b.tokensOf(op.getKeyOffsets(), sequence);
  if (given)
    span.length = b.minimum({span.length, given}, {b.d0, b.d1});
  return span;
}

/// Packs all keys into panels `[G, panels, D, W]`: G heads of keys, D components, W keys of a panel.
Value AttentionTiler::packKeys(Value batch) {
  Value tokens = b.size(op.getKey(), 0);
  Value count = b.affine({tokens, batch}, b.d0.floorDiv(width) + b.d1);
  Value empty = tensor::EmptyOp::create(b, {kvHeads, ShapedType::kDynamic, headDim, width}, b.getF32Type(), ValueRange{count});
  auto forall = scf::ForallOp::create(b, SmallVector<OpFoldResult>{batch, b.fixed(kvHeads)}, ValueRange{empty}, std::nullopt);
  std::string text = ("keys of " + Twine(kvHeads) + " heads x " + Twine(headDim) + " in panels").str();
  forall->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(forall.getContext(), text));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  Value sequence = forall.getInductionVar(0), head = forall.getInductionVar(1);
  TokenRange keys = keysOf(sequence);
  Value panels = b.affine({keys.length}, b.d0.ceilDiv(width));
  TensorSlice slice;
  slice.add(head, b.fixed(1)), slice.add(firstPanel(keys, sequence), panels), slice.add(b.fixed(0), b.fixed(headDim)),
      slice.add(b.fixed(0), b.fixed(width));
  Value target = b.extractSlice(forall.getRegionIterArgs()[0], slice, {true, false, false, false});
  auto loop = scf::ForOp::create(b, b.index(0), panels, b.index(1), target, [&](OpBuilder &, Location, Value panel, ValueRange args) {
    Value count = b.minimum({keys.length, panel}, {b.d0 - b.d1 * width, b.expr(width)});
    TensorSlice rows, at;
    rows.add(b.affine({keys.begin, panel}, b.d0 + b.d1 * width), count), rows.add(head, b.fixed(1)), rows.add(b.fixed(0), b.fixed(headDim));
    at.add(panel, b.fixed(1)), at.add(b.fixed(0), b.fixed(headDim)), at.add(b.fixed(0), b.fixed(width));
    Value source = b.extractSlice(op.getKey(), rows, {false, true, false}), target = b.extractSlice(args[0], at, {true, false, false});
    Value packed = tiles::KeyPanelOp::create(b, TypeRange{target.getType()}, source, Value(), target).getResult(0);
    scf::YieldOp::create(b, b.insertSlice(packed, args[0], at));
  });
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  b.insertInParallel(loop.getResult(0), forall.getRegionIterArgs()[0], slice);
  return forall.getResult(0);
}

/// Returns a destination for probabilities, [batch, heads, queries, keys], filled with 0 or, for masked scores, with
/// the lowest f32, since tiles write only the keys that they visit.
Value AttentionTiler::destinationOfProbabilities(Value batch) {
  Value empty = tensor::EmptyOp::create(b, {ShapedType::kDynamic, heads, ShapedType::kDynamic, ShapedType::kDynamic}, b.getF32Type(),
                                        ValueRange{batch, op.getQueryLength(), op.getKeyLength()});
  bool isMasked = op.getScoreStage() == xfmr::ScoreStage::Masked;
  auto value = b.getF32FloatAttr(isMasked ? std::numeric_limits<float>::lowest() : 0.0f);
  return linalg::FillOp::create(b, arith::ConstantOp::create(b, value).getResult(), empty).getResult(0);
}

/// Returns the number of queries of a tile. Usually this is the smallest number for which the rows of the tile, queries
/// times heads, are a multiple of `rows`. If there are more than `keyBlock` keys, and more queries than a tile of up to
/// `longRows` rows has, it is the number of queries of such a tile.
Value AttentionTiler::queriesPerTile() {
  int64_t few = std::lcm(tileHeads, sizes.rows) / tileHeads, many = std::max(few, sizes.longRows / tileHeads / few * few);
  auto exceeds = [&](Value length, int64_t limit) -> Value { return b.compare(arith::CmpIPredicate::sgt, length, limit); };
  Value isLong = b.both(exceeds(op.getKeyLength(), sizes.keyBlock), exceeds(op.getQueryLength(), many));
  return b.select(isLong, b.index(many), b.index(few));
}

std::string AttentionTiler::describe() {
  std::string text = ("attention " + Twine(heads) + " heads x " + Twine(headDim)).str();
  const char *cacheType = op.isCached() ? xfmr::describeCacheType(op.getKey().getType()) : "";
  std::pair<bool, const char *> parts[] = {{kvHeads != heads, ", grouped"},
                                           {op.isCached(), ", cache"},
                                           {true, cacheType},
                                           {op.getCausal(), ", causal"},
                                           {op.getWindowLeft() || op.getWindowRight(), ", window"},
                                           {bool(op.getMask()), ", mask"},
                                           {bool(op.getDistanceBias()), ", distance bias"},
                                           {bool(op.getRelativeKey()), ", relative key"},
                                           {bool(op.getRelativeQuery()), ", relative query"},
                                           {bool(op.getSoftcap()), ", softcap"},
                                           {bool(op.getSinks()), ", sinks"},
                                           {bool(op.getProbabilities()), ", probabilities"}};
  for (auto [present, name] : parts)
    text += present ? name : "";
  return text;
}

/// Returns the precision of the products: the element type of keys that are rounded already, else `sizes.precision`.
xfmr::Precision AttentionTiler::getPrecision() {
  if (!hasKeyRows())
    return sizes.precision;
  return op.getKey().getType().getElementType().isF16() ? xfmr::Precision::F16 : xfmr::Precision::BF16;
}

/// Creates the loop over (sequence, tile of heads, tile of queries) with an attention tile in each iteration. Records
/// the work of the kernel on the loop, whose results are those of the attention op. |batch| is the number of sequences,
/// |mask| is of f32 or null, and |keys| are packed panels, a cache or rows.
scf::ForallOp AttentionTiler::attend(Value batch, Value mask, Value keys) {
  Value tokens = b.size(op.getQuery(), 0);
  SmallVector<Value> outputs{tensor::EmptyOp::create(b, {ShapedType::kDynamic, heads, valueDim}, b.getF32Type(), ValueRange{tokens})};
  if (op.getProbabilities())
    outputs.push_back(destinationOfProbabilities(batch));
  Value queries = queriesPerTile();
  Value tiles = b.ceilDiv(op.getQueryLength(), queries);
  auto forall = scf::ForallOp::create(b, SmallVector<OpFoldResult>{batch, b.fixed(kvHeads * headTiles), tiles}, outputs, std::nullopt);
  forall->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(forall.getContext(), describe()));
  DimBounds bounds;
  std::optional<SizeExpr> flops = countFlops(op, bounds);
  if (!flops)
    xfmr::missed(op, "attune-tile-attention", "CountWork")
        << remark::metric(xfmr::kRemarkKernel, describe())
        << remark::reason("its arithmetic does not follow from the dims and counts as 0");
  setWork(forall, flops, countCacheBytes(op, bounds));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  Tile tile = tileAt(forall, queries);
  auto rowsOf = [&](int64_t size) {
    TensorSlice slice;
    slice.add(tile.first, tile.count), slice.add(tile.firstHead, headsOf(tile)), slice.add(b.fixed(0), b.fixed(size));
    return slice;
  };
  TensorSlice result = rowsOf(valueDim), probabilities;
  SmallVector<Value> targets{b.extractSlice(forall.getRegionIterArgs()[0], result)};
  if (op.getProbabilities()) {
    probabilities.add(tile.sequence, b.fixed(1)), probabilities.add(tile.firstHead, headsOf(tile)), probabilities.add(tile.row, tile.count);
    probabilities.add(b.fixed(0), tile.keys.length);
    targets.push_back(b.extractSlice(forall.getRegionIterArgs()[1], probabilities, {true, false, false, false}));
  }
  bool usesPosition =
      op.getCausal() || op.getWindowLeft() || op.getWindowRight() || op.getDistanceBias() || op.getRelativeKey() || op.getRelativeQuery();
  auto attended = tiles::AttentionTileOp::create(
      b, TypeRange(ValueRange(targets)), b.extractSlice(op.getQuery(), rowsOf(headDim)), keyTile(tile, keys), valueTile(tile),
      usesPosition ? tile.position : Value(), mask ? maskTile(tile, mask) : Value(), headElements(tile, op.getHeadMask()),
      op.getDistanceBias() ? distanceBiasTile(tile) : Value(), relativeTile(tile, op.getRelativeKey()),
      relativeTile(tile, op.getRelativeQuery()), headElements(tile, op.getSinks()), Value(), Value(), targets, op.getScaleAttr(),
      b.getI64IntegerAttr(sizes.keyBlock), op.getCausalAttr(), op.getWindowLeftAttr(), op.getWindowRightAttr(), op.getSoftcapAttr(),
      op.getMaskFillAttr(), op.getMaskedRowsAttr(), op.getScoreStageAttr(), xfmr::PrecisionAttr::get(op.getContext(), getPrecision()));
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  b.insertInParallel(attended.getResult(0), forall.getRegionIterArgs()[0], result);
  if (op.getProbabilities())
    b.insertInParallel(attended.getResult(1), forall.getRegionIterArgs()[1], probabilities);
  return forall;
}

AttentionTiler::Tile AttentionTiler::tileAt(scf::ForallOp loop, Value queries) {
  Tile tile;
  tile.sequence = loop.getInductionVar(0);
  tile.slot = op.getSlots() ? b.extractIndex(op.getSlots(), tile.sequence) : tile.sequence;
  Value number = loop.getInductionVar(1); // of a tile of heads; each key head has headTiles of them
  tile.kvHead = b.affine({number}, b.d0.floorDiv(headTiles));
  tile.firstHead = b.affine({number}, b.d0.floorDiv(headTiles) * group + b.d0 % headTiles * tileHeads);
  tile.heads =
      group % tileHeads == 0 ? b.index(tileHeads) : b.minimum({number}, {b.expr(group) - b.d0 % headTiles * tileHeads, b.expr(tileHeads)});
  TokenRange rows = b.tokensOf(op.getQueryOffsets(), tile.sequence);
  Value begin = b.mul(loop.getInductionVar(2), queries);
  tile.row = b.minimum({rows.length, begin}, {b.d0, b.d1});
  tile.count = b.min(b.affine({rows.length, tile.row}, b.d0 - b.d1), queries);
  tile.first = b.affine({rows.begin, tile.row}, b.d0 + b.d1);
  tile.keys = keysOf(tile.sequence);
  tile.position = tile.row;
  if (op.getAlignment() == xfmr::Alignment::End)
    tile.position = b.affine({tile.row, b.affine({tile.keys.length, rows.length}, b.d0 - b.d1)}, b.d0 + b.d1);
  return tile;
}

/// Returns the slice `[S, size]` of |tensor|, `[T, G, size]`, for the S keys and the key head of |tile|.
Value AttentionTiler::rowTile(const Tile &tile, Value tensor, int64_t size) {
  TensorSlice slice;
  slice.add(tile.keys.begin, tile.keys.length), slice.add(tile.kvHead, b.fixed(1)), slice.add(b.fixed(0), b.fixed(size));
  return b.extractSlice(tensor, slice, {false, true, false});
}

Value AttentionTiler::keyTile(const Tile &tile, Value keys) {
  if (hasKeyRows())
    return rowTile(tile, keys, headDim);
  Value count = b.affine({tile.keys.length}, b.d0.ceilDiv(width));
  TensorSlice slice;
  if (op.isCached())
    slice.add(tile.slot, b.fixed(1)), slice.add(tile.kvHead, b.fixed(1)), slice.add(b.fixed(0), count);
  else
    slice.add(tile.kvHead, b.fixed(1)), slice.add(firstPanel(tile.keys, tile.sequence), count);
  slice.add(b.fixed(0), b.fixed(headDim + scaleBytes())), slice.add(b.fixed(0), b.fixed(width));
  SmallVector<bool> dropped(slice.sizes.size(), true);
  std::fill(dropped.end() - 3, dropped.end(), false);
  return b.extractSlice(keys, slice, dropped);
}

Value AttentionTiler::valueTile(const Tile &tile) {
  if (!op.isCached())
    return rowTile(tile, op.getValue(), valueDim);
  TensorSlice slice;
  slice.add(tile.slot, b.fixed(1)), slice.add(tile.kvHead, b.fixed(1)), slice.add(b.fixed(0), tile.keys.length),
      slice.add(b.fixed(0), b.fixed(valueDim + scaleBytes()));
  return b.extractSlice(op.getValue(), slice, {true, true, false, false});
}

std::pair<OpFoldResult, OpFoldResult> AttentionTiler::broadcast(Value tensor, int64_t dim, Value first, OpFoldResult count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getDimSize(dim) == 1)
    return {b.fixed(0), b.fixed(1)};
  if (!type.isDynamicDim(dim))
    return {first, count};
  // The dimension has one element for all, or one for each index: clamping both offset and size is right in either
  // case.
  Value size = b.size(tensor, dim);
  Value offset = b.minimum({first, size}, {b.d0, b.d1 - 1});
  Value wanted = b.index(count);
  return {offset, b.minimum({wanted, b.affine({size, offset}, b.d0 - b.d1)}, {b.d0, b.d1})};
}

/// Returns the slice of |mask| for |tile|, which has H heads, R queries and S keys: `[S]`, `[1 or R, S]` or
/// `[1 or H, 1 or R, S]`.
Value AttentionTiler::maskTile(const Tile &tile, Value mask) {
  auto type = cast<RankedTensorType>(mask.getType());
  int64_t rank = type.getRank();
  TensorSlice slice;
  auto add = [&](std::pair<OpFoldResult, OpFoldResult> part) { slice.add(part.first, part.second); };
  add(broadcast(mask, 0, tile.sequence, b.fixed(1)));
  slice.sizes[0] = b.fixed(1);
  if (rank == 4)
    add(broadcast(mask, 1, tile.firstHead, headsOf(tile)));
  if (rank > 2)
    add(broadcast(mask, rank - 2, tile.row, tile.count));
  slice.add(b.fixed(0), tile.keys.length);
  SmallVector<bool> dropped(rank, false);
  dropped[0] = true;
  return b.extractSlice(mask, slice, dropped);
}

Value AttentionTiler::headElements(const Tile &tile, Value vector) {
  if (!vector)
    return {};
  TensorSlice slice;
  slice.add(tile.firstHead, headsOf(tile));
  return b.extractSlice(vector, slice);
}

Value AttentionTiler::distanceBiasTile(const Tile &tile) {
  auto [first, count] = broadcast(op.getDistanceBias(), 0, tile.firstHead, headsOf(tile));
  TensorSlice slice;
  slice.add(first, count), slice.add(b.fixed(0), b.dim(op.getDistanceBias(), 1));
  return b.extractSlice(op.getDistanceBias(), slice);
}

/// Returns the slice of |table| for the heads of |tile|; null if |table| is null. |table|, relative_key or
/// relative_query, is panels `[1 or H, D, columns]`, with a vector of D components for each distance
/// (`xfmr.weight_distance_panels`).
Value AttentionTiler::relativeTile(const Tile &tile, Value table) {
  auto type = table ? cast<RankedTensorType>(table.getType()) : RankedTensorType();
  if (!table || type.getDimSize(0) == 1)
    return table;
  TensorSlice slice;
  slice.add(tile.firstHead, headsOf(tile));
  for (int64_t dim : {1, 2})
    slice.add(b.fixed(0), b.fixed(type.getDimSize(dim)));
  return b.extractSlice(table, slice);
}
