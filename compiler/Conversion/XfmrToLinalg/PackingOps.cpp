//===- PackingOps.cpp - Packed sequences as loops over tokens -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The place of a token depends on the tokens before it, or on data: these are loops that carry a destination and write one element or row
// of it at a time, which bufferizes in place.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {

/// The position of what is no token, behind the packed ones.
constexpr int64_t kNoPosition = -1;

using Values = TokenEmitter::Values;

struct ConvertSequenceOffsets : OpConversionPattern<xfmr::SequenceOffsetsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::SequenceOffsetsOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value destination = emit.empty(op.getType(), emit.add(adaptor.getBatch(), emit.index(1)));
    rewriter.replaceOp(op, emit.generic({}, {}, destination, [&](TokenEmitter &body, ValueRange) {
      Value sequence = linalg::IndexOp::create(body.builder, body.loc, 0);
      return body.toI64(body.mul(sequence, adaptor.getLength()));
    }));
    return success();
  }
};

/// One pass over the mask: every token writes its position at the next free place, visible ones make it theirs. The result is the written
/// part of a buffer for all tokens, so that its size has a bound that does not depend on data.
struct ConvertPackTokens : OpConversionPattern<xfmr::PackTokensOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::PackTokensOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value mask = adaptor.getMask(), batch = emit.dim(mask, 0), length = emit.dim(mask, 1);
    Value zero = emit.index(0), one = emit.index(1), all = emit.mul(batch, length);
    Value none = arith::ConstantIntOp::create(rewriter, op.getLoc(), 0, 64);
    Value offsets = emit.empty(op.getOffsets().getType(), emit.add(batch, one));
    offsets = emit.insert(none, offsets, zero);
    Value positions = emit.empty(op.getPositions().getType(), all);

    auto packSequence = [&](TokenEmitter &body, Value sequence, ValueRange carried) -> Values {
      Value first = body.mul(sequence, length);
      Values packed = body.loop(zero, length, carried.drop_front(), [&](TokenEmitter &body, Value i, ValueRange carried) -> Values {
        Value written = body.insert(body.toI64(body.add(first, i)), carried[0], carried[1]);
        Value visible = arith::CmpIOp::create(body.builder, body.loc, arith::CmpIPredicate::ne, body.extract(mask, {sequence, i}), none);
        Value step = arith::SelectOp::create(body.builder, body.loc, visible, one, zero);
        return {written, body.add(carried[1], step)};
      });
      Value end = body.insert(body.toI64(packed[1]), carried[0], body.add(sequence, one));
      return {end, packed[0], packed[1]};
    };
    Values packed = emit.loop(zero, batch, {offsets, positions, zero}, packSequence);
    Value tokens = arith::MinSIOp::create(rewriter, op.getLoc(), packed[2], all);
    OpFoldResult start = rewriter.getIndexAttr(0), stride = rewriter.getIndexAttr(1), size = tokens;
    Value used = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), cast<RankedTensorType>(op.getPositions().getType()), packed[1],
                                                start, size, stride);
    rewriter.replaceOp(op, {packed[0], used});
    return success();
  }
};

/// Two passes for a host that cannot read the number of tokens: it takes the bound, and rows behind the last token have no position.
struct CountAndPackTokens : OpConversionPattern<xfmr::PackTokensOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::PackTokensOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value mask = adaptor.getMask(), batch = emit.dim(mask, 0), length = emit.dim(mask, 1), zero = emit.index(0), one = emit.index(1);
    Value none = arith::ConstantIntOp::create(rewriter, op.getLoc(), 0, 64);
    Value nowhere = arith::ConstantIntOp::create(rewriter, op.getLoc(), kNoPosition, 64);
    auto isVisible = [&](TokenEmitter &body, Value sequence, Value i) -> Value {
      return arith::CmpIOp::create(body.builder, body.loc, arith::CmpIPredicate::ne, body.extract(mask, {sequence, i}), none);
    };
    Value offsets = emit.insert(none, emit.empty(op.getOffsets().getType(), emit.add(batch, one)), zero);
    auto countSequence = [&](TokenEmitter &body, Value sequence, ValueRange carried) -> Values {
      Value end = body.loop(zero, length, carried[1], [&](TokenEmitter &body, Value i, ValueRange carried) -> Values {
        Value step = arith::SelectOp::create(body.builder, body.loc, isVisible(body, sequence, i), one, zero);
        return {body.add(carried[0], step)};
      })[0];
      return {body.insert(body.toI64(end), carried[0], body.add(sequence, one)), end};
    };
    offsets = emit.loop(zero, batch, {offsets, zero}, countSequence)[0];

    // An element of a tensor and its bound, so that whoever sees both may take the bound.
    Value tokens = arith::MinSIOp::create(rewriter, op.getLoc(), emit.toIndex(emit.extract(offsets, batch)), emit.mul(batch, length));
    Value positions = emit.empty(op.getPositions().getType(), tokens);
    positions = linalg::FillOp::create(rewriter, op.getLoc(), nowhere, positions).getResult(0);
    auto packSequence = [&](TokenEmitter &body, Value sequence, ValueRange carried) -> Values {
      Value first = body.mul(sequence, length), begin = body.toIndex(body.extract(offsets, sequence));
      return {body.loop(zero, length, {carried[0], begin}, [&](TokenEmitter &body, Value i, ValueRange carried) -> Values {
        auto choice = scf::IfOp::create(
            body.builder, body.loc, isVisible(body, sequence, i),
            [&](OpBuilder &builder, Location loc) {
              TokenEmitter then(builder, loc);
              Value written = then.insert(then.toI64(then.add(first, i)), carried[0], carried[1]);
              scf::YieldOp::create(builder, loc, {written, then.add(carried[1], one)});
            },
            [&](OpBuilder &builder, Location loc) { scf::YieldOp::create(builder, loc, carried); });
        return {choice.getResult(0), choice.getResult(1)};
      })[0]};
    };
    rewriter.replaceOp(op, {offsets, emit.loop(zero, batch, positions, packSequence)[0]});
    return success();
  }
};

struct ConvertGatherTokens : GroupedPattern<xfmr::GatherTokensOp> {
  ConvertGatherTokens(MLIRContext *context, KernelGroups &groups, bool knownCounts)
      : GroupedPattern(context, groups), knownCounts(knownCounts) {}

  LogicalResult matchAndRewrite(xfmr::GatherTokensOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (type.getRank() > 1 && type.getNumDynamicDims() > 1)
      return rewriter.notifyMatchFailure(op, "expects static sizes after the first");
    TokenEmitter emit(rewriter, op.getLoc());
    Value result = emit.gatherRows(type, adaptor.getInput(), adaptor.getPositions(), knownCounts);
    groups.mark(result.getDefiningOp(), "gather tokens");
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  bool knownCounts;
};

/// One row after the other; rows side by side where some may have no position: those are copies of nothing.
struct ConvertScatterTokens : OpConversionPattern<xfmr::ScatterTokensOp> {
  ConvertScatterTokens(MLIRContext *context, bool knownCounts) : OpConversionPattern(context), knownCounts(knownCounts) {}

  LogicalResult matchAndRewrite(xfmr::ScatterTokensOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value input = adaptor.getInput(), zeros = emit.filled(op.getType(), adaptor.getRows(), 0.0);
    if (knownCounts) {
      rewriter.replaceOp(op, scatterTokens(emit, adaptor, zeros));
      return success();
    }
    Values result = emit.loop(emit.index(0), emit.dim(input, 0), zeros, [&](TokenEmitter &body, Value token, ValueRange carried) -> Values {
      Value row = body.toIndex(body.extract(adaptor.getPositions(), token));
      return {body.insertRow(body.extractRow(input, token), carried[0], row)};
    });
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static Value scatterTokens(TokenEmitter &emit, OpAdaptor adaptor, Value zeros) {
    Value input = adaptor.getInput();
    auto scatterRow = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
      TokenEmitter body(builder, loc);
      Value token = arguments[0], zero = body.index(0), position = body.toIndex(body.extract(adaptor.getPositions(), token));
      Value isToken = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, position, zero);
      Value row = arith::MaxSIOp::create(builder, loc, position, zero);
      Value count = arith::SelectOp::create(builder, loc, isToken, body.index(1), zero);
      OpFoldResult none = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
      OpFoldResult columns = builder.getIndexAttr(cast<RankedTensorType>(input.getType()).getDimSize(1));
      SmallVector<OpFoldResult> from = {token, none}, to = {row, none}, sizes = {count, columns}, strides = {one, one};
      Value values = tensor::ExtractSliceOp::create(builder, loc, input, from, sizes, strides);
      auto end = scf::InParallelOp::create(builder, loc);
      builder.setInsertionPointToStart(end.getBody());
      tensor::ParallelInsertSliceOp::create(builder, loc, values, arguments[1], to, sizes, strides);
    };
    auto loop = scf::ForallOp::create(emit.builder, emit.loc, OpFoldResult(emit.dim(input, 0)), zeros, std::nullopt, scatterRow);
    loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(loop.getContext(), "scatter tokens"));
    return loop.getResult(0);
  }

  bool knownCounts;
};

struct ConvertScatterProbabilities : OpConversionPattern<xfmr::ScatterProbabilitiesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::ScatterProbabilitiesOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value input = adaptor.getInput(), zero = emit.index(0), one = emit.index(1);
    Value heads = emit.dim(input, 1), length = emit.dim(input, 2);
    Value zeros = emit.filled(op.getType(), emit.dynamicSizes(input), 0.0);
    auto loop = [&](TokenEmitter &body, Value end, Value carried, llvm::function_ref<Value(TokenEmitter &, Value, Value)> step) -> Value {
      return body.loop(zero, end, carried,
                       [&](TokenEmitter &body, Value i, ValueRange carried) -> Values { return {step(body, i, carried[0])}; })[0];
    };
    Value result = loop(emit, emit.dim(input, 0), zeros, [&](TokenEmitter &body, Value b, Value carried) {
      Value begin = body.toIndex(body.extract(adaptor.getOffsets(), b));
      Value end = body.toIndex(body.extract(adaptor.getOffsets(), body.add(b, one)));
      Value tokens = body.sub(end, begin), padded = body.mul(b, length);
      auto place = [&](TokenEmitter &body, Value token) { // of the sequence's |token|-th packed token
        Value position = body.toIndex(body.extract(adaptor.getPositions(), body.add(begin, token)));
        return body.sub(position, padded);
      };
      return loop(body, heads, carried, [&](TokenEmitter &body, Value h, Value carried) {
        return loop(body, tokens, carried, [&](TokenEmitter &body, Value i, Value carried) {
          Value row = place(body, i);
          return loop(body, tokens, carried, [&](TokenEmitter &body, Value j, Value carried) {
            Value p = body.extract(input, {b, h, i, j});
            return body.insert(p, carried, {b, h, row, place(body, j)});
          });
        });
      });
    });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void attune::populatePackingPatterns(RewritePatternSet &patterns, KernelGroups &groups, bool knownCounts) {
  if (knownCounts)
    patterns.add<CountAndPackTokens>(patterns.getContext());
  else
    patterns.add<ConvertPackTokens>(patterns.getContext());
  patterns.add<ConvertSequenceOffsets, ConvertScatterProbabilities>(patterns.getContext());
  patterns.add<ConvertScatterTokens>(patterns.getContext(), knownCounts);
  patterns.add<ConvertGatherTokens>(patterns.getContext(), groups, knownCounts);
}
