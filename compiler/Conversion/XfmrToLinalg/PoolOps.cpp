//===- PoolOps.cpp - Pooling as linalg and loops over tokens --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

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

/// Returns true if the sequence has tokens and its first token is at position 0 of the padded sequence.
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

/// pool <mean> -> a sum of rows in token order, divided by their number (by 1 if there are none).
Values convertPoolMean(IndexBuilder &b, xfmr::PoolOp op, xfmr::PoolOp::Adaptor adaptor) {
  Type element = op.getType().getElementType();
  AffineMap identity = b.getMultiDimIdentityMap(1);
  Value one = b.index(1), batch = b.sub(b.size(adaptor.getOffsets(), 0), one);
  Value zeros = filled(b, op.getType(), batch, 0.0);
  auto meanOfSequence = [&](Value sequence, ValueRange carried) -> Values {
    Value begin = b.extractIndex(adaptor.getOffsets(), sequence);
    Value end = b.extractIndex(adaptor.getOffsets(), b.add(sequence, one));
    Value row = extractRow(b, carried[0], sequence, /*flat=*/true);
    Value sum = b.loop(begin, end, 1, row, [&](Value token, ValueRange sum) -> Values {
      Value x = extractRow(b, adaptor.getInput(), token, /*flat=*/true);
      return {generic(b, x, identity, sum[0], [&](ValueRange args) -> Value { return b.addf(args[1], args[0]); })};
    })[0];
    Value count = b.max(b.sub(end, begin), one);
    Value divisor = arith::SIToFPOp::create(b, element, b.toI64(count));
    Value mean = generic(b, {}, {}, sum, [&](ValueRange args) -> Value { return b.divf(args[0], divisor); });
    return {insertRow(b, mean, carried[0], sequence)};
  };
  return b.loop(b.index(0), batch, 1, zeros, meanOfSequence);
}

/// pool <first> -> a gather of rows, or, for packed tokens, a loop that checks whether the first token is among them.
Values convertPool(IndexBuilder &b, xfmr::PoolOp op, xfmr::PoolOp::Adaptor adaptor, KernelGroups &groups) {
  if (op.getKind() == xfmr::PoolKind::Mean)
    return convertPoolMean(b, op, adaptor);
  Value batch = b.sub(b.size(adaptor.getOffsets(), 0), b.index(1));
  return {op.getPositions() ? pickFirst(b, op, adaptor, batch) : gatherFirst(b, op, adaptor, batch, groups)};
}

} // namespace

void attune::populatePoolPatterns(RewritePatternSet &patterns, KernelGroups &groups) { addConversion(patterns, groups, convertPool); }
