//===- PoolOps.cpp - Pooling as linalg and loops over tokens --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attune;

namespace {

Value gatherFirst(IndexBuilder &b, xfmr::PoolOp op, xfmr::PoolOp::Adaptor adaptor, Value batch, KernelGroups &groups) {
  Value result = generic(b, {}, {}, tensor::EmptyOp::create(b, op.getType(), batch), [&](ValueRange) {
    Value sequence = linalg::IndexOp::create(b, 0);
    Value column = linalg::IndexOp::create(b, 1);
    Value token = b.extractIndex(adaptor.getOffsets(), sequence);
    return extract(b, adaptor.getInput(), {token, column});
  });
  groups.mark(result.getDefiningOp(), "first tokens");
  return result;
}

/// Returns an i1, true if |sequence|, whose packed tokens are |begin| to |end| - 1, has tokens and the first of them is
/// at position 0 of the padded sequence.
Value isAtStart(IndexBuilder &b, xfmr::PoolOp::Adaptor adaptor, Value sequence, Value begin, Value end) {
  Value some = b.compare(arith::CmpIPredicate::slt, begin, end);
  return b.choose(
      some,
      [&]() -> Values {
        Value position = b.extractIndex(adaptor.getPositions(), begin), start = b.mul(sequence, adaptor.getLength());
        return {b.compare(arith::CmpIPredicate::eq, position, start)};
      },
      [&]() -> Values { return {b.no()}; })[0];
}

Value pickFirst(IndexBuilder &b, xfmr::PoolOp op, xfmr::PoolOp::Adaptor adaptor, Value batch) {
  Value zeros = filled(b, op.getType(), batch, 0.0);
  return b.loop(b.index(0), batch, 1, zeros, [&](Value sequence, ValueRange carried) -> Values {
    Value begin = b.extractIndex(adaptor.getOffsets(), sequence);
    Value end = b.extractIndex(adaptor.getOffsets(), b.add(sequence, b.index(1)));
    Value present = isAtStart(b, adaptor, sequence, begin, end);
    return b.choose(
        present, [&]() -> Values { return {insertRow(b, extractRow(b, adaptor.getInput(), begin), carried[0], sequence)}; },
        [&] { return Values(carried); });
  })[0];
}

/// The packed tokens |begin| to |end| - 1 that a pool reduces. |start| is the first packed token of their sequence,
/// before |begin| if the pool skips tokens.
struct Extent {
  Value start, begin, end;
};

/// Returns the row to which |op|, of the kind `max` or a kind of mean, reduces the rows |extent| of |input|, at least
/// one row. |zero| is a row of zeros.
Value reduceTokens(IndexBuilder &b, xfmr::PoolOp op, Value input, Extent extent, Value zero) {
  const bool isMax = op.getKind() == xfmr::PoolKind::Max, isWeighted = op.getKind() == xfmr::PoolKind::WeightedMean;
  Type element = op.getType().getElementType();
  AffineMap identity = b.getMultiDimIdentityMap(1);
  Value one = b.index(1);
  auto toFloat = [&](Value number) -> Value { return arith::SIToFPOp::create(b, element, b.toI64(number)); };
  Value first = isMax ? extractRow(b, input, extent.begin, /*flat=*/true) : zero;
  Value total = b.loop(isMax ? b.add(extent.begin, one) : extent.begin, extent.end, 1, first, [&](Value token, ValueRange sum) -> Values {
    Value x = extractRow(b, input, token, /*flat=*/true);
    Value factor = isWeighted ? toFloat(b.add(b.sub(token, extent.start), one)) : Value();
    return {generic(b, x, identity, sum[0], [&](ValueRange args) -> Value {
      if (isMax)
        return arith::MaximumFOp::create(b, args[1], args[0]);
      return b.addf(args[1], factor ? b.mulf(args[0], factor) : args[0]);
    })};
  })[0];
  if (isMax)
    return total;
  Value divisor = toFloat(b.sub(extent.end, extent.begin));
  if (isWeighted) {
    // The factors from `begin - start + 1` to `end - start` have the sum (first factor + last factor) * count / 2.
    Value ends = b.add(b.add(b.sub(extent.begin, extent.start), b.sub(extent.end, extent.start)), one);
    divisor = b.mulf(b.mulf(toFloat(ends), divisor), arith::ConstantOp::create(b, b.getFloatAttr(element, 0.5)));
  }
  if (op.getKind() == xfmr::PoolKind::MeanSqrtLength)
    divisor = math::SqrtOp::create(b, divisor);
  return generic(b, {}, {}, total, [&](ValueRange args) -> Value { return b.divf(args[0], divisor); });
}

/// Converts a pool of any kind but `first` to a loop over sequences. Its body is a loop over the tokens of the
/// sequence, or, for the kinds `leading` and `last`, a copy of one token. A sequence without tokens, or whose tokens
/// are all skipped, gets a row of zeros.
Values convertPoolTokens(IndexBuilder &b, xfmr::PoolOp op, xfmr::PoolOp::Adaptor adaptor) {
  const bool isLeading = op.getKind() == xfmr::PoolKind::Leading, copies = isLeading || op.getKind() == xfmr::PoolKind::Last;
  Value one = b.index(1), batch = b.sub(b.size(adaptor.getOffsets(), 0), one);
  Value zeros = filled(b, op.getType(), batch, 0.0);
  auto poolSequence = [&](Value sequence, ValueRange carried) -> Values {
    Value start = b.extractIndex(adaptor.getOffsets(), sequence), begin = start;
    Value end = b.extractIndex(adaptor.getOffsets(), b.add(sequence, one));
    if (adaptor.getSkip())
      begin = b.min(b.add(start, b.extractIndex(adaptor.getSkip(), sequence)), end);
    Value some = b.compare(arith::CmpIPredicate::slt, begin, end);
    auto pool = [&]() -> Values {
      if (copies)
        return {insertRow(b, extractRow(b, adaptor.getInput(), isLeading ? begin : b.sub(end, one)), carried[0], sequence)};
      Value zero = extractRow(b, carried[0], sequence, /*flat=*/true);
      return {insertRow(b, reduceTokens(b, op, adaptor.getInput(), {start, begin, end}, zero), carried[0], sequence)};
    };
    return b.choose(some, pool, [&] { return Values(carried); });
  };
  return b.loop(b.index(0), batch, 1, zeros, poolSequence);
}

/// Converts a pool of the kind `first` to a gather of rows. With `positions`, as packed tokens have them, converts it
/// to a loop over sequences instead: a sequence whose token at position 0 was packed gets the row of that token, any
/// other sequence gets zeros. Converts pools of other kinds by convertPoolTokens.
Values convertPool(IndexBuilder &b, xfmr::PoolOp op, xfmr::PoolOp::Adaptor adaptor, KernelGroups &groups) {
  if (op.getKind() != xfmr::PoolKind::First)
    return convertPoolTokens(b, op, adaptor);
  Value batch = b.sub(b.size(adaptor.getOffsets(), 0), b.index(1));
  return {op.getPositions() ? pickFirst(b, op, adaptor, batch) : gatherFirst(b, op, adaptor, batch, groups)};
}

} // namespace

void attune::populatePoolPatterns(RewritePatternSet &patterns, KernelGroups &groups) { addConversion(patterns, groups, convertPool); }
