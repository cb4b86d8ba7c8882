//===- PackingOps.cpp - Packed sequences as loops over tokens -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The row to which a token is packed or scattered depends on data: on the mask of earlier tokens, or on a tensor of
// positions. So most of the conversions are loops that carry a destination and write one element or row of it at a
// time; they bufferize in place.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "dialect/Tile/IR/TileOps.h"

using namespace mlir;
using namespace attune;

namespace {

/// The position of an unused row after the packed tokens.
constexpr int64_t kNoPosition = -1;

Values convertSequenceOffsets(IndexBuilder &b, xfmr::SequenceOffsetsOp op, xfmr::SequenceOffsetsOp::Adaptor adaptor, KernelGroups &) {
  Value destination = tensor::EmptyOp::create(b, op.getType(), b.add(adaptor.getBatch(), b.index(1)));
  Value offsets = generic(b, {}, {}, destination, [&](ValueRange) {
    Value sequence = linalg::IndexOp::create(b, 0);
    return b.toI64(b.mul(sequence, adaptor.getLength()));
  });
  return {offsets};
}

/// Converts pack_tokens to one pass over the mask. Every token, also a hidden one, writes its position to the next free
/// row. Only a visible token makes the row after that the next free one, so the next token overwrites the position of a
/// hidden token. The result is the used part of a buffer for all tokens, so that the size of the buffer does not depend
/// on data.
Values convertPackTokens(IndexBuilder &b, xfmr::PackTokensOp op, xfmr::PackTokensOp::Adaptor adaptor, KernelGroups &) {
  Value mask = adaptor.getMask(), batch = b.size(mask, 0), length = b.size(mask, 1);
  Value zero = b.index(0), one = b.index(1), all = b.mul(batch, length);
  Value none = arith::ConstantIntOp::create(b, 0, 64);
  Value offsets = tensor::EmptyOp::create(b, op.getOffsets().getType(), b.add(batch, one));
  offsets = insert(b, none, offsets, zero);
  Value positions = tensor::EmptyOp::create(b, op.getPositions().getType(), all);

  auto packSequence = [&](Value sequence, ValueRange carried) -> Values {
    Value first = b.mul(sequence, length);
    Values packed = b.loop(zero, length, 1, carried.drop_front(), [&](Value i, ValueRange carried) -> Values {
      Value written = insert(b, b.toI64(b.add(first, i)), carried[0], carried[1]);
      Value visible = b.compare(arith::CmpIPredicate::ne, extract(b, mask, {sequence, i}), none);
      Value step = b.select(visible, one, zero);
      return {written, b.add(carried[1], step)};
    });
    Value end = insert(b, b.toI64(packed[1]), carried[0], b.add(sequence, one));
    return {end, packed[0], packed[1]};
  };
  Values packed = b.loop(zero, batch, 1, {offsets, positions, zero}, packSequence);
  Value tokens = b.min(packed[2], all);
  OpFoldResult start = b.getIndexAttr(0), stride = b.getIndexAttr(1), size = tokens;
  Value used = tensor::ExtractSliceOp::create(b, cast<RankedTensorType>(op.getPositions().getType()), packed[1], start, size, stride);
  return {packed[0], used};
}

/// Converts pack_tokens to two passes over the mask, for a host that cannot read the token count: the first pass
/// counts, the second packs. Such a host uses batch x length, an upper bound of the count, as the number of rows.
/// Unused rows get position -1.
Values countAndPackTokens(IndexBuilder &b, xfmr::PackTokensOp op, xfmr::PackTokensOp::Adaptor adaptor, KernelGroups &) {
  Value mask = adaptor.getMask(), batch = b.size(mask, 0), length = b.size(mask, 1), zero = b.index(0), one = b.index(1);
  Value none = arith::ConstantIntOp::create(b, 0, 64);
  Value nowhere = arith::ConstantIntOp::create(b, kNoPosition, 64);
  auto isVisible = [&](Value sequence, Value i) -> Value {
    return b.compare(arith::CmpIPredicate::ne, extract(b, mask, {sequence, i}), none);
  };
  Value offsets = insert(b, none, tensor::EmptyOp::create(b, op.getOffsets().getType(), b.add(batch, one)), zero);
  auto countSequence = [&](Value sequence, ValueRange carried) -> Values {
    Value end = b.loop(zero, length, 1, carried[1], [&](Value i, ValueRange carried) -> Values {
      Value step = b.select(isVisible(sequence, i), one, zero);
      return {b.add(carried[0], step)};
    })[0];
    return {insert(b, b.toI64(end), carried[0], b.add(sequence, one)), end};
  };
  offsets = b.loop(zero, batch, 1, {offsets, zero}, countSequence)[0];

  // The count never exceeds the bound; the minimum lets later passes find the bound and size buffers by it.
  Value tokens = b.min(b.extractIndex(offsets, batch), b.mul(batch, length));
  Value positions = tensor::EmptyOp::create(b, op.getPositions().getType(), tokens);
  positions = linalg::FillOp::create(b, nowhere, positions).getResult(0);
  auto packSequence = [&](Value sequence, ValueRange carried) -> Values {
    Value first = b.mul(sequence, length), begin = b.extractIndex(offsets, sequence);
    return {b.loop(zero, length, 1, {carried[0], begin}, [&](Value i, ValueRange carried) -> Values {
      return b.choose(
          isVisible(sequence, i),
          [&]() -> Values {
            Value written = insert(b, b.toI64(b.add(first, i)), carried[0], carried[1]);
            return {written, b.add(carried[1], one)};
          },
          [&] { return Values(carried); });
    })[0]};
  };
  return {offsets, b.loop(zero, batch, 1, positions, packSequence)[0]};
}

/// Converts gather_tokens to copies of rows. If |knownCounts|, unused rows, which have position -1, get copies of row 0
/// of the input.
template <bool knownCounts>
Values convertGatherTokens(IndexBuilder &b, xfmr::GatherTokensOp op, xfmr::GatherTokensOp::Adaptor adaptor, KernelGroups &groups) {
  auto type = cast<RankedTensorType>(op.getType());
  if (type.getRank() > 1 && type.getNumDynamicDims() > 1) // only the first dimension may be dynamic
    return {};
  Value result = gatherRows(b, type, adaptor.getInput(), adaptor.getPositions(), knownCounts);
  groups.mark(result.getDefiningOp(), "gather tokens");
  return {result};
}

/// Converts scatter_tokens to copies of rows, one after the other, into a tensor of zeros.
Values convertScatterTokens(IndexBuilder &b, xfmr::ScatterTokensOp op, xfmr::ScatterTokensOp::Adaptor adaptor, KernelGroups &) {
  Value input = adaptor.getInput(), zeros = filled(b, op.getType(), adaptor.getRows(), 0.0);
  return b.loop(b.index(0), b.size(input, 0), 1, zeros, [&](Value token, ValueRange carried) -> Values {
    Value row = b.extractIndex(adaptor.getPositions(), token);
    return {insertRow(b, extractRow(b, input, token), carried[0], row)};
  });
}

/// Converts scatter_tokens to copies of rows in parallel into a tensor of zeros, for packed tokens that may have unused
/// rows (position -1). For an unused row, the copy is of a slice of no rows.
Values scatterPaddedTokens(IndexBuilder &b, xfmr::ScatterTokensOp op, xfmr::ScatterTokensOp::Adaptor adaptor, KernelGroups &) {
  Value input = adaptor.getInput(), zeros = filled(b, op.getType(), adaptor.getRows(), 0.0);
  auto scatterRow = [&](OpBuilder &, Location, ValueRange arguments) {
    Value token = arguments[0], zero = b.index(0), position = b.extractIndex(adaptor.getPositions(), token);
    Value isToken = b.compare(arith::CmpIPredicate::sge, position, zero);
    Value row = b.max(position, zero), count = b.select(isToken, b.index(1), zero);
    OpFoldResult none = b.getIndexAttr(0), one = b.getIndexAttr(1);
    OpFoldResult columns = b.getIndexAttr(cast<RankedTensorType>(input.getType()).getDimSize(1));
    SmallVector<OpFoldResult> from = {token, none}, to = {row, none}, sizes = {count, columns}, strides = {one, one};
    Value values = tensor::ExtractSliceOp::create(b, input, from, sizes, strides);
    auto end = scf::InParallelOp::create(b);
    b.setInsertionPointToStart(end.getBody());
    tensor::ParallelInsertSliceOp::create(b, values, arguments[1], to, sizes, strides);
  };
  auto loop = scf::ForallOp::create(b, OpFoldResult(b.size(input, 0)), zeros, std::nullopt, scatterRow);
  loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(loop.getContext(), "scatter tokens"));
  return {loop.getResult(0)};
}

Values convertScatterProbabilities(IndexBuilder &b, xfmr::ScatterProbabilitiesOp op, xfmr::ScatterProbabilitiesOp::Adaptor adaptor,
                                   KernelGroups &) {
  Value input = adaptor.getInput(), zero = b.index(0), one = b.index(1);
  Value heads = b.size(input, 1), length = b.size(input, 2);
  Value zeros = filled(b, op.getType(), dynamicSizes(b, input), 0.0);
  auto loop = [&](Value end, Value carried, llvm::function_ref<Value(Value, Value)> step) -> Value {
    return b.loop(zero, end, 1, carried, [&](Value i, ValueRange carried) -> Values { return {step(i, carried[0])}; })[0];
  };
  Value result = loop(b.size(input, 0), zeros, [&](Value sequence, Value carried) {
    Value begin = b.extractIndex(adaptor.getOffsets(), sequence);
    Value end = b.extractIndex(adaptor.getOffsets(), b.add(sequence, one));
    Value tokens = b.sub(end, begin), padded = b.mul(sequence, length);
    auto place = [&](Value token) { // the padded position, from the start of the sequence, of its packed token |token|
      return b.sub(b.extractIndex(adaptor.getPositions(), b.add(begin, token)), padded);
    };
    return loop(heads, carried, [&](Value h, Value carried) {
      return loop(tokens, carried, [&](Value i, Value carried) {
        Value row = place(i);
        return loop(tokens, carried, [&](Value j, Value carried) {
          Value p = extract(b, input, {sequence, h, i, j});
          return insert(b, p, carried, {sequence, h, row, place(j)});
        });
      });
    });
  });
  return {result};
}

} // namespace

void attune::populatePackingPatterns(RewritePatternSet &patterns, KernelGroups &groups, bool knownCounts) {
  addConversion(patterns, groups, knownCounts ? countAndPackTokens : convertPackTokens);
  addConversion(patterns, groups, convertSequenceOffsets);
  addConversion(patterns, groups, convertScatterProbabilities);
  addConversion(patterns, groups, knownCounts ? scatterPaddedTokens : convertScatterTokens);
  addConversion(patterns, groups, knownCounts ? convertGatherTokens<true> : convertGatherTokens<false>);
}
