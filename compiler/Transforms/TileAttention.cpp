//===- TileAttention.cpp - Attention in key-block form ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `xfmr.attention` on tensors. Leaves, per op: its mask in units of log2, one scf.forall that transposes the keys of each head into panels, and one
// scf.forall over (sequence, head, query tile) around `xfmr.attention_tile`. Panels start afresh at each sequence, so that a sequence's key blocks
// do not depend on what stands beside it: sequence b has panels floor(offset[b] / W) + b and following.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Transforms/Passes.h"

namespace attune {
#define GEN_PASS_DEF_TILEATTENTION
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// Where the tokens of one sequence are.
struct Span {
  Value begin, length;
};

/// Rewrites one attention op.
class AttentionTiler {
public:
  AttentionTiler(xfmr::AttentionOp op, int64_t rows, int64_t width, int64_t keyBlock)
      : op(op), builder(op), loc(op.getLoc()), rows(rows), width(width), keyBlock(keyBlock), heads(op.getQuery().getType().getDimSize(1)),
        kvHeads(op.getKey().getType().getDimSize(1)), headDim(op.getQuery().getType().getDimSize(2)), valueDim(op.getValue().getType().getDimSize(2)) {
    bindDims(builder.getContext(), d0, d1);
  }

  void run() {
    Value batch = affine({tensor::DimOp::create(builder, loc, op.getQueryOffsets(), 0)}, d0 - 1);
    Value mask = op.getMask() ? log2Mask(op.getMask()) : Value();
    Value panels = packKeys(batch);
    scf::ForallOp loop = attend(batch, mask, panels);
    op.getResult().replaceAllUsesWith(loop.getResult(0));
    if (op.getProbabilities())
      op.getProbabilities().replaceAllUsesWith(loop.getResult(1));
    op.erase();
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value affine(ValueRange operands, AffineExpr expr) {
    SmallVector<OpFoldResult> folded = getAsOpFoldResult(operands);
    return getValueOrCreateConstantIndexOp(builder, loc, affine::makeComposedFoldedAffineApply(builder, loc, expr, folded));
  }
  Value minimum(ValueRange operands, ArrayRef<AffineExpr> exprs) {
    AffineMap map = AffineMap::get(operands.size(), 0, exprs, builder.getContext());
    return affine::AffineMinOp::create(builder, loc, map, operands);
  }
  Span span(Value offsets, Value sequence) {
    auto at = [&](Value index) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), tensor::ExtractOp::create(builder, loc, offsets, index));
    };
    Value begin = at(sequence), end = at(affine({sequence}, d0 + 1));
    return {begin, affine({end, begin}, d0 - d1)};
  }
  /// First panel of a sequence.
  Value firstPanel(const Span &keys, Value sequence) { return affine({keys.begin, sequence}, d0.floorDiv(width) + d1); }

  /// |mask| as f32 to add to scores in units of log2, kept finite.
  Value log2Mask(Value mask) {
    auto type = cast<RankedTensorType>(mask.getType());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(tensor::DimOp::create(builder, loc, mask, dim));
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), builder.getF32Type(), sizes);
    SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
    auto scalar = [](OpBuilder &b, Location loc, double value) -> Value { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); };
    double lowest = -double(std::numeric_limits<float>::max());
    auto generic = linalg::GenericOp::create(builder, loc, empty.getType(), mask, empty, maps, loops, [&](OpBuilder &b, Location loc, ValueRange args) {
      Value result;
      if (isa<FloatType>(args[0].getType())) {
        Value scaled = arith::MulFOp::create(b, loc, args[0], scalar(b, loc, 1.4426950408889634));
        result = arith::MaximumFOp::create(b, loc, scaled, scalar(b, loc, lowest));
      } else {
        Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(args[0].getType()));
        Value hidden = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, args[0], zero);
        result = arith::SelectOp::create(b, loc, hidden, scalar(b, loc, lowest), scalar(b, loc, 0));
      }
      linalg::YieldOp::create(b, loc, result);
    });
    generic->setAttr(kKernelOpAttr, builder.getStringAttr("attention mask"));
    return generic.getResult(0);
  }

  /// All keys in panels `[G][panels][D][W]`.
  Value packKeys(Value batch) {
    Value tokens = tensor::DimOp::create(builder, loc, op.getKey(), 0);
    Value count = affine({tokens, batch}, d0.floorDiv(width) + d1);
    Value empty = tensor::EmptyOp::create(builder, loc, {kvHeads, ShapedType::kDynamic, headDim, width}, builder.getF32Type(), ValueRange{count});
    auto forall = scf::ForallOp::create(builder, loc, SmallVector<OpFoldResult>{batch, builder.getIndexAttr(kvHeads)}, ValueRange{empty}, std::nullopt);
    forall->setAttr(kKernelOpAttr, builder.getStringAttr("keys of " + Twine(kvHeads) + " heads x " + Twine(headDim) + " in panels"));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(forall.getBody());
    Value sequence = forall.getInductionVar(0), head = forall.getInductionVar(1);
    Span keys = span(op.getKeyOffsets(), sequence);
    Value panels = affine({keys.length}, d0.ceilDiv(width));
    auto type = RankedTensorType::get({ShapedType::kDynamic, headDim, width}, builder.getF32Type());
    auto index = [&](int64_t value) -> OpFoldResult { return builder.getIndexAttr(value); };
    SmallVector<OpFoldResult> offsets{head, firstPanel(keys, sequence), index(0), index(0)}, sizes{index(1), panels, index(headDim), index(width)};
    SmallVector<OpFoldResult> ones(4, index(1));
    Value slice = tensor::ExtractSliceOp::create(builder, loc, type, forall.getRegionIterArgs()[0], offsets, sizes, ones);
    auto loop = scf::ForOp::create(builder, loc, constant(0), panels, constant(1), slice, [&](OpBuilder &, Location, Value panel, ValueRange args) {
      Value count = minimum({keys.length, panel}, {d0 - d1 * width, builder.getAffineConstantExpr(width)});
      Value first = affine({keys.begin, panel}, d0 + d1 * width);
      Value rows = tileOf(op.getKey(), first, head, count, headDim);
      SmallVector<OpFoldResult> at{panel, index(0), index(0)}, shape{index(1), index(headDim), index(width)}, steps(3, index(1));
      auto panelType = RankedTensorType::get({headDim, width}, builder.getF32Type());
      Value target = tensor::ExtractSliceOp::create(builder, loc, panelType, args[0], at, shape, steps);
      Value packed = xfmr::KeyPanelOp::create(builder, loc, TypeRange{panelType}, rows, target).getResult(0);
      Value next = tensor::InsertSliceOp::create(builder, loc, packed, args[0], at, shape, steps);
      scf::YieldOp::create(builder, loc, next);
    });
    builder.setInsertionPointToStart(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(builder, loc, loop.getResult(0), forall.getRegionIterArgs()[0], offsets, sizes, ones);
    return forall.getResult(0);
  }

  /// Rows `first … first + count - 1` of head |head| of the `[T, H, size]` tensor |heads|.
  Value tileOf(Value heads, Value first, Value head, Value count, int64_t size) {
    SmallVector<OpFoldResult> offsets{first, head, builder.getIndexAttr(0)}, sizes{count, builder.getIndexAttr(1), builder.getIndexAttr(size)};
    auto type = RankedTensorType::get({ShapedType::kDynamic, size}, builder.getF32Type());
    return tensor::ExtractSliceOp::create(builder, loc, type, heads, offsets, sizes, SmallVector<OpFoldResult>(3, builder.getIndexAttr(1)));
  }

  /// The rows of |mask| for a query tile, `[1 or count, keys]`.
  Value maskTile(Value mask, Value sequence, Value head, Value row, Value count, Value keys) {
    auto type = cast<RankedTensorType>(mask.getType());
    int64_t rank = type.getRank();
    OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
    auto broadcast = [&](int64_t dim) { return type.getDimSize(dim) == 1; };
    SmallVector<OpFoldResult> offsets(rank, zero), sizes(rank, one);
    if (!broadcast(0))
      offsets[0] = sequence;
    if (rank == 4 && !broadcast(1))
      offsets[1] = head;
    bool perRow = rank > 2 && !broadcast(rank - 2);
    if (perRow)
      offsets[rank - 2] = row, sizes[rank - 2] = count;
    sizes[rank - 1] = keys;
    auto tile = RankedTensorType::get({perRow ? ShapedType::kDynamic : 1, ShapedType::kDynamic}, type.getElementType());
    return tensor::ExtractSliceOp::create(builder, loc, tile, mask, offsets, sizes, SmallVector<OpFoldResult>(rank, one));
  }

  scf::ForallOp attend(Value batch, Value mask, Value panels) {
    Value tokens = tensor::DimOp::create(builder, loc, op.getQuery(), 0);
    SmallVector<Value> outputs{tensor::EmptyOp::create(builder, loc, {ShapedType::kDynamic, heads, valueDim}, builder.getF32Type(), ValueRange{tokens})};
    if (op.getProbabilities())
      outputs.push_back(zeroProbabilities(batch));
    Value tiles = affine({op.getQueryLength()}, d0.ceilDiv(rows));
    auto forall = scf::ForallOp::create(builder, loc, SmallVector<OpFoldResult>{batch, builder.getIndexAttr(heads), tiles}, outputs, std::nullopt);
    forall->setAttr(kKernelOpAttr, builder.getStringAttr("attention " + Twine(heads) + " heads x " + Twine(headDim) + (mask ? ", mask" : "") +
                                                         (op.getProbabilities() ? ", probabilities" : "")));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(forall.getBody());
    Value sequence = forall.getInductionVar(0), head = forall.getInductionVar(1);
    Span queries = span(op.getQueryOffsets(), sequence), keys = span(op.getKeyOffsets(), sequence);
    Value row = minimum({queries.length, forall.getInductionVar(2)}, {d0, d1 * rows});
    Value count = minimum({queries.length, row}, {d0 - d1, builder.getAffineConstantExpr(rows)});
    Value first = affine({queries.begin, row}, d0 + d1), kvHead = affine({head}, d0.floorDiv(heads / kvHeads));
    Value query = tileOf(op.getQuery(), first, head, count, headDim);
    Value value = tileOf(op.getValue(), keys.begin, kvHead, keys.length, valueDim);
    auto index = [&](int64_t size) -> OpFoldResult { return builder.getIndexAttr(size); };
    Value panelCount = affine({keys.length}, d0.ceilDiv(width));
    auto keyType = RankedTensorType::get({ShapedType::kDynamic, headDim, width}, builder.getF32Type());
    Value key = tensor::ExtractSliceOp::create(builder, loc, keyType, panels, SmallVector<OpFoldResult>{kvHead, firstPanel(keys, sequence), index(0), index(0)},
                                               SmallVector<OpFoldResult>{index(1), panelCount, index(headDim), index(width)}, SmallVector<OpFoldResult>(4, index(1)));
    Value tileMask = mask ? maskTile(mask, sequence, head, row, count, keys.length) : Value();
    Value headScale = op.getHeadMask() ? Value(tensor::ExtractOp::create(builder, loc, op.getHeadMask(), head)) : Value();
    SmallVector<Value> targets{tileOf(forall.getRegionIterArgs()[0], first, head, count, valueDim)};
    SmallVector<OpFoldResult> at{sequence, head, row, index(0)}, shape{index(1), index(1), count, keys.length};
    if (op.getProbabilities())
      targets.push_back(tensor::ExtractSliceOp::create(builder, loc, RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic}, builder.getF32Type()),
                                                       forall.getRegionIterArgs()[1], at, shape, SmallVector<OpFoldResult>(4, index(1))));
    auto tile = xfmr::AttentionTileOp::create(builder, loc, TypeRange(ValueRange(targets)), query, key, value, tileMask, headScale, targets, op.getScaleAttr(),
                                              builder.getI64IntegerAttr(keyBlock), op.getMaskedRowsAttr());
    builder.setInsertionPointToStart(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(builder, loc, tile.getResult(0), forall.getRegionIterArgs()[0], SmallVector<OpFoldResult>{first, head, index(0)},
                                          SmallVector<OpFoldResult>{count, index(1), index(valueDim)}, SmallVector<OpFoldResult>(3, index(1)));
    if (op.getProbabilities())
      tensor::ParallelInsertSliceOp::create(builder, loc, tile.getResult(1), forall.getRegionIterArgs()[1], at, shape, SmallVector<OpFoldResult>(4, index(1)));
    return forall;
  }

  /// `[B, H, Q, K]` of zeros: tiles write only the tokens that exist.
  Value zeroProbabilities(Value batch) {
    Value empty = tensor::EmptyOp::create(builder, loc, {ShapedType::kDynamic, heads, ShapedType::kDynamic, ShapedType::kDynamic}, builder.getF32Type(),
                                          ValueRange{batch, op.getQueryLength(), op.getKeyLength()});
    Value zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  }

  xfmr::AttentionOp op;
  OpBuilder builder;
  Location loc;
  int64_t rows, width, keyBlock, heads, kvHeads, headDim, valueDim;
  AffineExpr d0, d1;
};

struct TileAttention : attune::impl::TileAttentionBase<TileAttention> {
  using TileAttentionBase::TileAttentionBase;
  void runOnOperation() override {
    SmallVector<xfmr::AttentionOp> ops;
    getOperation().walk([&](xfmr::AttentionOp op) { ops.push_back(op); });
    for (xfmr::AttentionOp op : ops) {
      bool plain = !op.isCached() && !op.getKeyLengths() && !op.getDistanceBias() && !op.getRelativeKey() && !op.getCausal() && !op.getWindowLeft() &&
                   !op.getWindowRight() && !op.getSoftcap() && !op.getMaskFill() && op.getMaskedRows() != xfmr::MaskedRows::LeastMasked &&
                   op.getScoreStage() == xfmr::ScoreStage::Softmax;
      if (!plain) {
        op.emitError("cannot be lowered yet with these masks or caches");
        return signalPassFailure();
      }
      AttentionTiler(op, queryRows, panelWidth, keyBlock).run();
    }
  }
};

} // namespace
