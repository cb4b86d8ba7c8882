//===- TokenPacking.cpp - Packed sequences as loops over tokens -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where a token goes depends on the tokens before it, or on data: these are loops that carry a destination and write one element or row of
// it at a time, which bufferizes in place.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/TokenEmitter.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {

using Values = TokenEmitter::Values;

/// The position of what is no token, behind the packed ones.
constexpr int64_t kNoPosition = -1;

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

/// One pass over each sequence, counting.
struct ConvertCountedPositions : OpConversionPattern<xfmr::CountedPositionsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::CountedPositionsOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value ids = adaptor.getIds(), batch = emit.dim(ids, 0), length = emit.dim(ids, 1), zero = emit.index(0);
    Value padding = arith::ConstantIntOp::create(rewriter, op.getLoc(), op.getPadding(), 64);
    Value one = arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 64);
    Value positions = tensor::EmptyOp::create(rewriter, op.getLoc(), tensor::getMixedSizes(rewriter, op.getLoc(), ids), one.getType());
    auto countSequence = [&](TokenEmitter &body, Value sequence, ValueRange carried) -> Values {
      Values counted = body.loop(zero, length, {carried[0], padding}, [&](TokenEmitter &body, Value i, ValueRange carried) -> Values {
        Value token = arith::CmpIOp::create(body.builder, body.loc, arith::CmpIPredicate::ne, body.extract(ids, {sequence, i}), padding);
        Value next = body.add(carried[1], one);
        Value position = arith::SelectOp::create(body.builder, body.loc, token, next, padding);
        Value last = arith::SelectOp::create(body.builder, body.loc, token, next, carried[1]);
        return {body.insert(position, carried[0], {sequence, i}), last};
      });
      return {counted[0]};
    };
    rewriter.replaceOp(op, emit.loop(zero, batch, positions, countSequence));
    return success();
  }
};

/// Each sequence writes behind what its slot holds.
struct ConvertMaskCacheUpdate : OpConversionPattern<xfmr::MaskCacheUpdateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::MaskCacheUpdateOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value zero = emit.index(0), one = emit.index(1), none = emit.real(rewriter.getF32Type(), 0.0);
    auto update = [&](TokenEmitter &body, Value sequence, ValueRange carried) -> Values {
      auto at = [&](Value values, Value index) { return body.toIndex(body.extract(values, index)); };
      Value slot = at(adaptor.getSlots(), sequence), past = at(adaptor.getPast(), sequence);
      Value tokens = body.sub(at(adaptor.getOffsets(), body.add(sequence, one)), at(adaptor.getOffsets(), sequence));
      return body.loop(zero, tokens, carried, [&](TokenEmitter &body, Value i, ValueRange carried) -> Values {
        Value added = adaptor.getMask() ? body.extract(adaptor.getMask(), {sequence, i}) : none;
        return {body.insert(added, carried[0], {slot, body.add(past, i)})};
      });
    };
    rewriter.replaceOp(op, emit.loop(zero, emit.dim(adaptor.getSlots(), 0), adaptor.getCache(), update));
    return success();
  }
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
    loop->setAttr(kKernelOpAttr, emit.builder.getStringAttr("scatter tokens"));
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

/// pool <first>: a gather of rows, or with padding removed a loop that looks whether the first token is there.
struct ConvertPoolFirst : OpConversionPattern<xfmr::PoolOp> {
  ConvertPoolFirst(MLIRContext *context, KernelGroups &groups) : OpConversionPattern(context), groups(groups) {}

  LogicalResult matchAndRewrite(xfmr::PoolOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getKind() != xfmr::PoolKind::First)
      return failure();
    TokenEmitter emit(rewriter, op.getLoc());
    Value batch = emit.sub(emit.dim(adaptor.getOffsets(), 0), emit.index(1));
    rewriter.replaceOp(op, op.getPositions() ? pickPresent(emit, op, adaptor, batch) : gather(emit, op, adaptor, batch));
    return success();
  }

private:
  Value gather(TokenEmitter &emit, xfmr::PoolOp op, OpAdaptor adaptor, Value batch) const {
    Value result = emit.generic({}, {}, emit.empty(op.getType(), batch), [&](TokenEmitter &body, ValueRange) {
      Value sequence = linalg::IndexOp::create(body.builder, body.loc, 0);
      Value column = linalg::IndexOp::create(body.builder, body.loc, 1);
      Value token = body.toIndex(body.extract(adaptor.getOffsets(), sequence));
      return body.extract(adaptor.getInput(), {token, column});
    });
    groups.mark(result.getDefiningOp(), "first tokens");
    return result;
  }

  static Value pickPresent(TokenEmitter &emit, xfmr::PoolOp op, OpAdaptor adaptor, Value batch) {
    Value zeros = emit.filled(op.getType(), batch, 0.0);
    return emit.loop(emit.index(0), batch, zeros, [&](TokenEmitter &body, Value sequence, ValueRange carried) -> Values {
      Value begin = body.toIndex(body.extract(adaptor.getOffsets(), sequence));
      Value end = body.toIndex(body.extract(adaptor.getOffsets(), body.add(sequence, body.index(1))));
      Value present = isAtStart(body, adaptor, sequence, begin, end);
      auto choice = scf::IfOp::create(
          body.builder, body.loc, present,
          [&](OpBuilder &builder, Location loc) {
            TokenEmitter then(builder, loc);
            Value row = then.extractRow(adaptor.getInput(), begin);
            scf::YieldOp::create(builder, loc, then.insertRow(row, carried[0], sequence));
          },
          [&](OpBuilder &builder, Location loc) { scf::YieldOp::create(builder, loc, carried[0]); });
      return {choice.getResult(0)};
    })[0];
  }

  /// Whether the sequence has tokens and the first one stands at its start in the padded batch.
  static Value isAtStart(TokenEmitter &emit, OpAdaptor adaptor, Value sequence, Value begin, Value end) {
    Value some = arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::slt, begin, end);
    auto choice = scf::IfOp::create(
        emit.builder, emit.loc, some,
        [&](OpBuilder &builder, Location loc) {
          TokenEmitter then(builder, loc);
          Value position = then.toIndex(then.extract(adaptor.getPositions(), begin));
          Value start = then.mul(sequence, adaptor.getLength());
          Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, position, start);
          scf::YieldOp::create(builder, loc, same);
        },
        [&](OpBuilder &builder, Location loc) {
          Value no = arith::ConstantIntOp::create(builder, loc, 0, 1);
          scf::YieldOp::create(builder, loc, no);
        });
    return choice.getResult(0);
  }

  KernelGroups &groups;
};

/// pool <mean>: rows summed in token order, then divided by their number (by 1 where there are none).
struct ConvertPoolMean : OpConversionPattern<xfmr::PoolOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::PoolOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getKind() != xfmr::PoolKind::Mean)
      return failure();
    TokenEmitter emit(rewriter, op.getLoc());
    Type element = op.getType().getElementType();
    AffineMap identity = rewriter.getMultiDimIdentityMap(1);
    Value one = emit.index(1), batch = emit.sub(emit.dim(adaptor.getOffsets(), 0), one);
    Value zeros = emit.filled(op.getType(), batch, 0.0);
    auto meanOfSequence = [&](TokenEmitter &body, Value sequence, ValueRange carried) -> Values {
      Value begin = body.toIndex(body.extract(adaptor.getOffsets(), sequence));
      Value end = body.toIndex(body.extract(adaptor.getOffsets(), body.add(sequence, one)));
      Value row = body.extractRow(carried[0], sequence, /*flat=*/true);
      Value sum = body.loop(begin, end, row, [&](TokenEmitter &body, Value token, ValueRange sum) -> Values {
        Value x = body.extractRow(adaptor.getInput(), token, /*flat=*/true);
        return {body.generic(x, identity, sum[0], [](TokenEmitter &body, ValueRange args) -> Value {
          return arith::AddFOp::create(body.builder, body.loc, args[1], args[0]);
        })};
      })[0];
      Value count = arith::MaxSIOp::create(body.builder, body.loc, body.sub(end, begin), one);
      Value divisor = arith::SIToFPOp::create(body.builder, body.loc, element, body.toI64(count));
      Value mean = body.generic({}, {}, sum, [&](TokenEmitter &body, ValueRange args) -> Value {
        return arith::DivFOp::create(body.builder, body.loc, args[0], divisor);
      });
      return {body.insertRow(mean, carried[0], sequence)};
    };
    rewriter.replaceOp(op, emit.loop(emit.index(0), batch, zeros, meanOfSequence));
    return success();
  }
};

} // namespace

void attune::populateTokenPackingPatterns(RewritePatternSet &patterns, KernelGroups &groups, bool knownCounts) {
  if (knownCounts)
    patterns.add<CountAndPackTokens>(patterns.getContext());
  else
    patterns.add<ConvertPackTokens>(patterns.getContext());
  patterns.add<ConvertScatterTokens>(patterns.getContext(), knownCounts);
  patterns.add<ConvertCountedPositions, ConvertMaskCacheUpdate, ConvertScatterProbabilities, ConvertPoolMean>(patterns.getContext());
  patterns.add<ConvertPoolFirst>(patterns.getContext(), groups);
}
