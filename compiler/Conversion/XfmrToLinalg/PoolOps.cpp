//===- PoolOps.cpp - Pooling as linalg and loops over tokens --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {

using Values = TokenEmitter::Values;

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

void attune::populatePoolPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertPoolMean>(patterns.getContext());
  patterns.add<ConvertPoolFirst>(patterns.getContext(), groups);
}
