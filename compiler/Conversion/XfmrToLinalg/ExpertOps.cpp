//===- ExpertOps.cpp - Choices of experts as loops over tokens ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tokens choose experts, and rows are added to tokens, in parallel. The sort by expert is one counting sort: loops that
// carry their destinations, which bufferize in place. Lists of tokens by expert are made in parallel over experts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace attune;

namespace {

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Offsets, sizes and strides of a slice with one row, |row|.
struct RowSlice {
  RowSlice(OpBuilder &b, Value row, int64_t columns)
      : offsets{row, b.getIndexAttr(0)}, sizes{b.getIndexAttr(1), b.getIndexAttr(columns)}, strides{b.getIndexAttr(1), b.getIndexAttr(1)} {}
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

/// Creates a kernel |what| that runs |body| for each of |count| rows. |body| gets the number of the row and the
/// destinations, and returns a row for each of |outputs|, whose number is |targetOf| the number of the row.
scf::ForallOp forEachRow(IndexBuilder &b, Value count, ValueRange outputs, StringRef what, llvm::function_ref<Value(Value row)> targetOf,
                         llvm::function_ref<Values(Value row, ValueRange old)> body) {
  auto rowsBody = [&](OpBuilder &, Location, ValueRange arguments) {
    Value target = targetOf(arguments[0]);
    Values old;
    for (Value output : arguments.drop_front())
      old.push_back(extractRow(b, output, target));
    Values results = body(arguments[0], old);
    auto end = scf::InParallelOp::create(b);
    b.setInsertionPointToStart(end.getBody());
    for (auto [result, output] : llvm::zip_equal(results, arguments.drop_front())) {
      RowSlice slice(b, target, cast<RankedTensorType>(output.getType()).getDimSize(1));
      tensor::ParallelInsertSliceOp::create(b, result, output, slice.offsets, slice.sizes, slice.strides);
    }
  };
  auto loop = scf::ForallOp::create(b, OpFoldResult(count), outputs, std::nullopt, rowsBody);
  loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(loop.getContext(), what));
  return loop;
}

/// Returns the largest score of |token| after the score |before| of the expert |beforeExpert|, and its expert.
Values nextScore(IndexBuilder &b, Value scores, Value token, Value experts, Value before, Value beforeExpert) {
  Value none = b.index(-1), lowest = b.f32(-std::numeric_limits<double>::infinity());
  return b.loop(b.index(0), experts, 1, {lowest, none}, [&](Value expert, ValueRange best) -> Values {
    Value score = extract(b, scores, {token, expert});
    // NaN, which compares with nothing, becomes the smallest.
    score = b.select(b.compare(CmpFPredicate::UNO, score, score), lowest, score);
    Value behind = b.both(b.compare(CmpFPredicate::OEQ, score, before), b.compare(CmpIPredicate::sgt, expert, beforeExpert));
    Value isLeft = b.either(b.compare(CmpFPredicate::OLT, score, before), behind);
    Value isFirst = b.compare(CmpIPredicate::eq, best[1], none);
    Value isBetter = b.both(isLeft, b.either(isFirst, b.compare(CmpFPredicate::OGT, score, best[0])));
    return {b.select(isBetter, score, best[0]), b.select(isBetter, expert, best[1])};
  });
}

Values chooseOf(IndexBuilder &b, xfmr::ChooseExpertsOp op, Value scores, Value token, ValueRange rows) {
  Value zero = b.index(0), experts = b.index(cast<RankedTensorType>(scores.getType()).getDimSize(1)), count = b.index(op.getCount());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // The first score is before all others: it is larger than the largest.
  Values taken = b.loop(zero, count, 1, {rows[0], rows[1], b.f32(infinity), b.index(-1)}, [&](Value rank, ValueRange carried) -> Values {
    Values best = nextScore(b, scores, token, experts, carried[2], carried[3]);
    Value choices = insert(b, b.toI64(best[1]), carried[0], {zero, rank}), shares = insert(b, best[0], carried[1], {zero, rank});
    return {choices, shares, best[0], best[1]};
  });
  Value chosen = taken[1], largest = extract(b, chosen, {zero, zero});
  auto exponential = [&](Value score) -> Value { return math::ExpOp::create(b, b.subf(score, largest)); };
  Value sum = b.loop(zero, op.getNormalized() ? count : experts, 1, {b.f32(0)}, [&](Value i, ValueRange carried) -> Values {
    Value score = op.getNormalized() ? extract(b, chosen, {zero, i}) : extract(b, scores, {token, i});
    return {b.addf(carried[0], exponential(score))};
  })[0];
  Value shares = b.loop(zero, count, 1, {chosen}, [&](Value rank, ValueRange carried) -> Values {
    Value share = b.divf(exponential(extract(b, carried[0], {zero, rank})), sum);
    return {insert(b, share, carried[0], {zero, rank})};
  })[0];
  return {taken[0], shares};
}

/// choose_experts -> for each token, |count| passes over its scores. A pass takes the largest score after the one that
/// the pass before took; scores are ordered by value, then by expert.
Values convertChooseExperts(IndexBuilder &b, xfmr::ChooseExpertsOp op, xfmr::ChooseExpertsOp::Adaptor adaptor, KernelGroups &) {
  Value scores = adaptor.getScores(), tokens = b.size(scores, 0);
  int64_t experts = cast<RankedTensorType>(scores.getType()).getDimSize(1), count = op.getCount();
  auto destination = [&](Type type) -> Value {
    auto shaped = cast<RankedTensorType>(type);
    return tensor::EmptyOp::create(b, shaped, shaped.isDynamicDim(0) ? ValueRange(tokens) : ValueRange());
  };
  SmallVector<Value> outputs{destination(op.getChoices().getType()), destination(op.getShares().getType())};
  std::string what = ("choose " + Twine(count) + " of " + Twine(experts) + " experts").str();
  auto loop = forEachRow(
      b, tokens, outputs, what, [](Value token) { return token; },
      [&](Value token, ValueRange old) { return chooseOf(b, op, scores, token, old); });
  return Values(loop.getResults());
}

/// group_by_expert -> a counting sort: the numbers of pairs of all experts, their sums, then a pass that writes each
/// pair to the next row of its expert.
Values convertGroupByExpert(IndexBuilder &b, xfmr::GroupByExpertOp op, xfmr::GroupByExpertOp::Adaptor adaptor, KernelGroups &) {
  Value choices = adaptor.getChoices(), tokens = b.size(choices, 0), zero = b.index(0), one = b.index(1);
  Value perToken = b.size(choices, 1), experts = b.index(op.getExperts());
  Value none = arith::ConstantIntOp::create(b, 0, 64);
  auto forEachPair = [&](ValueRange initial, llvm::function_ref<Values(Value token, Value rank, ValueRange carried)> body) {
    return b.loop(zero, tokens, 1, initial, [&](Value token, ValueRange carried) {
      return b.loop(zero, perToken, 1, carried, [&](Value rank, ValueRange carried) { return body(token, rank, carried); });
    });
  };
  auto expertOf = [&](Value token, Value rank) { return b.toIndex(extract(b, choices, {token, rank})); };
  auto offsetsType = cast<RankedTensorType>(op.getOffsets().getType());
  auto zeros = [&]() -> Value {
    return linalg::FillOp::create(b, none, tensor::EmptyOp::create(b, offsetsType, ValueRange()).getResult()).getResult(0);
  };

  Value counts = forEachPair(zeros(), [&](Value token, Value rank, ValueRange carried) -> Values {
    Value expert = expertOf(token, rank);
    return {insert(b, b.toI64(b.add(b.extractIndex(carried[0], expert), one)), carried[0], expert)};
  })[0];
  // Both tensors get the first row of each expert. The second is then advanced to the next free row.
  Values starts = b.loop(zero, experts, 1, {zeros(), zeros()}, [&](Value expert, ValueRange carried) -> Values {
    Value begin = b.extractIndex(carried[0], expert), next = b.add(expert, one);
    Value end = b.toI64(b.add(begin, b.extractIndex(counts, expert)));
    return {insert(b, end, carried[0], next), insert(b, end, carried[1], next)};
  });
  Value rows = b.mul(tokens, perToken);
  Value rowTokens = tensor::EmptyOp::create(b, op.getTokens().getType(), rows);
  Value rowShares = tensor::EmptyOp::create(b, cast<RankedTensorType>(op.getRowShares().getType()), rows);
  Values sorted = forEachPair({starts[1], rowTokens, rowShares}, [&](Value token, Value rank, ValueRange carried) -> Values {
    Value expert = expertOf(token, rank), row = b.extractIndex(carried[0], expert);
    return {insert(b, b.toI64(b.add(row, one)), carried[0], expert), insert(b, b.toI64(token), carried[1], row),
            insert(b, extract(b, adaptor.getShares(), {token, rank}), carried[2], row)};
  });
  return {starts[0], sorted[1], sorted[2]};
}

/// Returns the rows of |expert| in the lists of tokens by expert: its count, its tokens and their shares, written to |old|.
Values listOf(IndexBuilder &b, xfmr::ListByExpertOp::Adaptor adaptor, Value expert, Value tokens, ValueRange old) {
  Value zero = b.index(0), one = b.index(1), perToken = b.size(adaptor.getChoices(), 1);
  Value nowhere = arith::ConstantIntOp::create(b, -1, 64);
  Value all = linalg::FillOp::create(b, nowhere, old[1]).getResult(0);
  Values listed = b.loop(zero, tokens, 1, {all, old[2], zero}, [&](Value token, ValueRange carried) {
    return b.loop(zero, perToken, 1, carried, [&](Value rank, ValueRange carried) -> Values {
      Value choice = b.toIndex(extract(b, adaptor.getChoices(), {token, rank}));
      return b.choose(
          b.compare(CmpIPredicate::eq, choice, expert),
          [&]() -> Values {
            Value share = extract(b, adaptor.getShares(), {token, rank}), row = carried[2];
            return {insert(b, b.toI64(token), carried[0], {zero, row}), insert(b, share, carried[1], {zero, row}), b.add(row, one)};
          },
          [&] { return Values(carried); });
    });
  });
  return {insert(b, b.toI64(listed[2]), old[0], {zero, zero}), listed[0], listed[1]};
}

/// list_by_expert -> for each expert, one pass over all choices.
Values convertListByExpert(IndexBuilder &b, xfmr::ListByExpertOp op, xfmr::ListByExpertOp::Adaptor adaptor, KernelGroups &) {
  Value tokens = b.size(adaptor.getChoices(), 0);
  SmallVector<Value> outputs;
  for (Type type : op.getResultTypes()) {
    auto shaped = cast<RankedTensorType>(type);
    outputs.push_back(tensor::EmptyOp::create(b, shaped, shaped.isDynamicDim(1) ? ValueRange(tokens) : ValueRange()));
  }
  SmallVector<OpFoldResult> columns{b.getIndexAttr(1), tokens, tokens};
  auto body = [&](OpBuilder &, Location, ValueRange arguments) {
    Value expert = arguments[0];
    SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1)), offsets{expert, b.getIndexAttr(0)};
    auto sizesOf = [&](size_t i) { return SmallVector<OpFoldResult>{b.getIndexAttr(1), columns[i]}; };
    Values old;
    for (size_t i = 0; i < 3; ++i)
      old.push_back(tensor::ExtractSliceOp::create(b, arguments[1 + i], offsets, sizesOf(i), strides));
    Values rows = listOf(b, adaptor, expert, tokens, old);
    auto end = scf::InParallelOp::create(b);
    b.setInsertionPointToStart(end.getBody());
    for (size_t i = 0; i < 3; ++i)
      tensor::ParallelInsertSliceOp::create(b, rows[i], arguments[1 + i], offsets, sizesOf(i), strides);
  };
  auto loop = scf::ForallOp::create(b, b.getIndexAttr(op.getExperts()), outputs, std::nullopt, body);
  std::string what = ("list tokens of " + Twine(op.getExperts()) + " experts").str();
  loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(op.getContext(), what));
  return Values(loop.getResults());
}

/// add_rows -> multiply-adds of rows in parallel; no two rows belong to one token.
Values convertAddRows(IndexBuilder &b, xfmr::AddRowsOp op, xfmr::AddRowsOp::Adaptor adaptor, KernelGroups &) {
  Value rows = adaptor.getRows();
  auto tokenOf = [&](Value row) { return b.extractIndex(adaptor.getTokens(), row); };
  auto loop = forEachRow(b, b.size(rows, 0), adaptor.getSum(), "add rows of an expert", tokenOf, [&](Value row, ValueRange old) -> Values {
    Value factor = extract(b, adaptor.getFactors(), row);
    return {generic(b, extractRow(b, rows, row), b.getMultiDimIdentityMap(2), old[0],
                    [&](ValueRange args) -> Value { return b.fma(factor, args[0], args[1]); })};
  });
  return Values(loop.getResults());
}

} // namespace

void attune::populateExpertPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertChooseExperts);
  addConversion(patterns, groups, convertGroupByExpert);
  addConversion(patterns, groups, convertListByExpert);
  addConversion(patterns, groups, convertAddRows);
}
