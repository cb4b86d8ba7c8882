//===- ExpertOps.cpp - Choices of experts as loops over tokens ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tokens choose their experts in parallel, and rows are added to their tokens in parallel. The sort of pairs of a token
// and an expert is one serial counting sort: loops that carry their destinations, which bufferize in place. For a host
// that cannot read the sort's result, there is a list of tokens for each expert instead. The lists are made in
// parallel, each by a scan of all choices.
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

/// An emitter of the code that chooses the experts of one token: those with the largest keys. The key of an expert is
/// its score, or with `sigmoid` the sigmoid of the score, plus its bias. The share of a chosen expert is the factor of
/// its result in the sum of results.
class ExpertChoice {
public:
  ExpertChoice(IndexBuilder &b, xfmr::ChooseExpertsOp op, xfmr::ChooseExpertsOp::Adaptor adaptor, Value token)
      : b(b), op(op), scores(adaptor.getScores()), bias(adaptor.getBias()), token(token),
        experts(b.index(cast<RankedTensorType>(scores.getType()).getDimSize(1))) {}

  /// Returns the token's choices (i64) and shares (f32), two rows `[1, count]`. |rows| are their destinations.
  Values run(ValueRange rows);

private:
  /// Returns true if fewer groups are kept than there are. Experts of groups that are not kept are not chosen.
  bool dropsGroups() { return op.getGroups() && *op.getKeptGroups() < *op.getGroups(); }
  Value sigmoid(Value score) { return b.divf(b.f32(1), b.addf(b.f32(1), math::ExpOp::create(b, b.subf(b.f32(0), score)))); }
  /// Returns the score of |expert| or, with `sigmoid`, the sigmoid of the score.
  Value weight(Value expert) {
    Value score = extract(b, scores, {token, expert});
    return op.getSigmoid() ? sigmoid(score) : score;
  }
  /// Returns the key of |expert|, by which experts are chosen. NaN, which compares with nothing, becomes -infinity, the
  /// smallest key.
  Value key(Value expert) {
    Value value = weight(expert);
    if (bias)
      value = b.addf(value, extract(b, bias, expert));
    return b.select(b.compare(CmpFPredicate::UNO, value, value), lowest(), value);
  }
  Value lowest() { return b.f32(-std::numeric_limits<double>::infinity()); }
  Values next(Value kept, Value before, Value beforeExpert);
  Value keyOfGroup(Value group, int64_t size);
  Value keptGroups(int64_t size);
  Value isKept(Value kept, Value expert);
  Value shares(Value chosen);

  IndexBuilder &b;
  xfmr::ChooseExpertsOp op;
  Value scores, bias, token, experts;
};

/// Returns the key and the number of the expert that is chosen after the expert |beforeExpert| with the key |before|:
/// experts are chosen by descending key, of equal keys by ascending number. The number is -1 if no expert is left.
/// |kept| has a bit for each group of experts, 1 if its experts may be chosen; null allows all.
Values ExpertChoice::next(Value kept, Value before, Value beforeExpert) {
  Value none = b.index(-1);
  return b.loop(b.index(0), experts, 1, {lowest(), none}, [&](Value expert, ValueRange best) -> Values {
    Value score = key(expert);
    Value behind = b.both(b.compare(CmpFPredicate::OEQ, score, before), b.compare(CmpIPredicate::sgt, expert, beforeExpert));
    Value isLeft = b.either(b.compare(CmpFPredicate::OLT, score, before), behind);
    if (kept)
      isLeft = b.both(isLeft, isKept(kept, expert));
    Value isFirst = b.compare(CmpIPredicate::eq, best[1], none);
    Value isBetter = b.both(isLeft, b.either(isFirst, b.compare(CmpFPredicate::OGT, score, best[0])));
    return {b.select(isBetter, score, best[0]), b.select(isBetter, expert, best[1])};
  });
}

/// Returns the key of |group|, a group of |size| experts: the sum of the `group_keys` (1 or 2) largest keys of its
/// experts.
Value ExpertChoice::keyOfGroup(Value group, int64_t size) {
  Value begin = b.mul(group, size);
  Values largest = b.loop(begin, b.add(begin, size), 1, {lowest(), lowest()}, [&](Value expert, ValueRange best) -> Values {
    Value value = key(expert), isFirst = b.compare(CmpFPredicate::OGT, value, best[0]);
    Value rest = b.select(isFirst, best[0], value);
    return {b.select(isFirst, value, best[0]), b.select(b.compare(CmpFPredicate::OGT, rest, best[1]), rest, best[1])};
  });
  if (*op.getGroupKeys() == 1)
    return largest[0];
  // The sum of two different infinities is NaN, which becomes the smallest key.
  Value sum = b.addf(largest[0], largest[1]);
  return b.select(b.compare(CmpFPredicate::UNO, sum, sum), lowest(), sum);
}

/// Returns an integer whose bit g is 1 if group g, of |size| experts, is kept. The `kept_groups` groups with the
/// largest keys are kept; of equal keys, the groups with lower numbers.
Value ExpertChoice::keptGroups(int64_t size) {
  Value zero = b.index(0), one = b.index(1), groups = b.index(*op.getGroups());
  return b.loop(zero, groups, 1, {zero}, [&](Value group, ValueRange bits) -> Values {
    Value own = keyOfGroup(group, size);
    Value better = b.loop(zero, groups, 1, {zero}, [&](Value other, ValueRange count) -> Values {
      Value value = keyOfGroup(other, size);
      Value isBefore = b.both(b.compare(CmpFPredicate::OEQ, value, own), b.compare(CmpIPredicate::slt, other, group));
      Value isBetter = b.either(b.compare(CmpFPredicate::OGT, value, own), isBefore);
      return {b.select(isBetter, b.add(count[0], one), count[0])};
    })[0];
    Value bit = arith::ShLIOp::create(b, one, group);
    Value kept = b.compare(CmpIPredicate::slt, better, b.index(*op.getKeptGroups()));
    return {b.select(kept, arith::OrIOp::create(b, bits[0], bit), bits[0])};
  })[0];
}

Value ExpertChoice::isKept(Value kept, Value expert) {
  int64_t size = cast<RankedTensorType>(scores.getType()).getDimSize(1) / *op.getGroups();
  Value bit = arith::AndIOp::create(b, arith::ShRUIOp::create(b, kept, b.div(expert, size)), b.index(1));
  return b.compare(CmpIPredicate::eq, bit, b.index(1));
}

/// Returns the shares of the chosen experts, a row `[1, count]`. |chosen| is the row of their scores or, with
/// `sigmoid`, of the sigmoids of their scores.
Value ExpertChoice::shares(Value chosen) {
  Value zero = b.index(0), count = b.index(op.getCount());
  auto sumOver = [&](Value end, llvm::function_ref<Value(Value)> value) {
    return b.loop(zero, end, 1, {b.f32(0)}, [&](Value i, ValueRange sum) -> Values { return {b.addf(sum[0], value(i))}; })[0];
  };
  auto each = [&](llvm::function_ref<Value(Value share)> value) {
    return b.loop(zero, count, 1, {chosen}, [&](Value rank, ValueRange row) -> Values {
      return {insert(b, value(extract(b, row[0], {zero, rank})), row[0], {zero, rank})};
    })[0];
  };
  if (op.getSigmoid()) {
    if (!op.getNormalized())
      return chosen;
    Value sum = sumOver(count, [&](Value i) { return extract(b, chosen, {zero, i}); });
    return each([&](Value share) { return b.divf(share, sum); });
  }
  // The first choice has the largest score, unless there is a bias or a group that is not kept has a larger score.
  Value largest = extract(b, chosen, {zero, zero});
  if (bias || dropsGroups())
    largest = b.loop(zero, experts, 1, {largest}, [&](Value expert, ValueRange best) -> Values {
      Value score = weight(expert);
      return {b.select(b.compare(CmpFPredicate::OGT, score, best[0]), score, best[0])};
    })[0];
  auto exponential = [&](Value score) -> Value { return math::ExpOp::create(b, b.subf(score, largest)); };
  Value sum = sumOver(op.getNormalized() ? count : experts, [&](Value i) {
    return exponential(op.getNormalized() ? extract(b, chosen, {zero, i}) : extract(b, scores, {token, i}));
  });
  return each([&](Value share) { return b.divf(exponential(share), sum); });
}

Values ExpertChoice::run(ValueRange rows) {
  Value zero = b.index(0), count = b.index(op.getCount());
  Value kept;
  if (dropsGroups())
    kept = keptGroups(cast<RankedTensorType>(scores.getType()).getDimSize(1) / *op.getGroups());
  // The search for the first expert begins after a key that precedes the keys of all experts: infinity, with expert -1.
  Value first = b.f32(std::numeric_limits<double>::infinity());
  Values taken = b.loop(zero, count, 1, {rows[0], rows[1], first, b.index(-1)}, [&](Value rank, ValueRange carried) -> Values {
    Values best = next(kept, carried[2], carried[3]);
    Value score = weight(best[1]); // not the key, which hides a NaN
    Value choices = insert(b, b.toI64(best[1]), carried[0], {zero, rank}), shares = insert(b, score, carried[1], {zero, rank});
    return {choices, shares, best[0], best[1]};
  });
  return {taken[0], shares(taken[1])};
}

/// Converts choose_experts to a loop over tokens in parallel, with `count` passes over the keys of a token. A pass
/// takes the largest key after the one that the pass before took; keys are ordered by value, equal keys by the expert's
/// number.
Values convertChooseExperts(IndexBuilder &b, xfmr::ChooseExpertsOp op, xfmr::ChooseExpertsOp::Adaptor adaptor, KernelGroups &) {
  Value scores = adaptor.getScores(), tokens = b.size(scores, 0);
  int64_t experts = cast<RankedTensorType>(scores.getType()).getDimSize(1), count = op.getCount();
  auto destination = [&](Type type) -> Value {
    auto shaped = cast<RankedTensorType>(type);
    return tensor::EmptyOp::create(b, shaped, shaped.isDynamicDim(0) ? ValueRange(tokens) : ValueRange());
  };
  SmallVector<Value> outputs{destination(op.getChoices().getType()), destination(op.getShares().getType())};
  std::string what = ("choose " + Twine(count) + " of " + Twine(experts) + " experts").str();
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1)), sizes{b.getIndexAttr(1), b.getIndexAttr(count)};
  auto chooseForToken = [&](OpBuilder &, Location, ValueRange arguments) {
    Value token = arguments[0];
    Values old{extractRow(b, arguments[1], token), extractRow(b, arguments[2], token)};
    Values rows = ExpertChoice(b, op, adaptor, token).run(old);
    SmallVector<OpFoldResult> offsets{token, b.getIndexAttr(0)};
    auto end = scf::InParallelOp::create(b);
    b.setInsertionPointToStart(end.getBody());
    for (auto [row, output] : llvm::zip_equal(rows, arguments.drop_front()))
      tensor::ParallelInsertSliceOp::create(b, row, output, offsets, sizes, strides);
  };
  auto loop = scf::ForallOp::create(b, OpFoldResult(tokens), outputs, std::nullopt, chooseForToken);
  loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(loop.getContext(), what));
  return Values(loop.getResults());
}

/// Converts group_by_expert to a counting sort: counts the pairs of each expert, adds up the counts to get the first
/// row of each expert, then writes each pair to the next free row of its expert.
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
  // Both tensors get the first row of each expert and, as their last element, the number of all rows. In the second
  // one, the next loop replaces the first row of an expert by its next free row.
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

/// Converts list_by_expert to a loop over experts in parallel; each scans the choices of all tokens.
Values convertListByExpert(IndexBuilder &b, xfmr::ListByExpertOp op, xfmr::ListByExpertOp::Adaptor adaptor, KernelGroups &) {
  Value choices = adaptor.getChoices(), count = b.size(choices, 0), perToken = b.size(choices, 1), zero = b.index(0);
  OpFoldResult one = b.getIndexAttr(1);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, value, 64); };
  // Returns the share that |token| gives to |expert|, 0 if it does not choose the expert, and an i1, true if it does.
  auto find = [&](Value expert, Value token) -> Values {
    return b.loop(zero, perToken, 1, {b.f32(0), b.no()}, [&](Value rank, ValueRange found) -> Values {
      Value isChosen = b.compare(CmpIPredicate::eq, b.toIndex(extract(b, choices, {token, rank})), expert);
      Value share = extract(b, adaptor.getShares(), {token, rank});
      return {b.select(found[1], found[0], b.select(isChosen, share, found[0])), b.either(found[1], isChosen)};
    });
  };
  auto listTokens = [&](OpBuilder &, Location, ValueRange arguments) {
    Value expert = arguments[0];
    SmallVector<OpFoldResult> at{expert}, rowAt{expert, b.getIndexAttr(0)}, ones{one}, rowOnes{one, one}, rowSizes{one, count};
    auto row = [&](Value output, Value unused) -> Value {
      auto type = RankedTensorType::get({ShapedType::kDynamic}, unused.getType());
      Value slice = tensor::ExtractSliceOp::create(b, type, output, rowAt, rowSizes, rowOnes);
      return linalg::FillOp::create(b, unused, slice).getResult(0);
    };
    Values initial{row(arguments[2], constant(-1)), row(arguments[3], b.f32(0)), zero};
    Values listed = b.loop(zero, count, 1, initial, [&](Value token, ValueRange carried) -> Values {
      Values found = find(expert, token);
      auto append = [&]() -> Values {
        Value next = carried[2];
        return {insert(b, b.toI64(token), carried[0], next), insert(b, found[0], carried[1], next), b.add(next, 1)};
      };
      return b.choose(found[1], append, [&] { return Values(carried); });
    });
    auto counted = RankedTensorType::get({1}, b.getI64Type());
    Value own = tensor::ExtractSliceOp::create(b, counted, arguments[1], at, ones, ones);
    own = insert(b, b.toI64(listed[2]), own, zero);
    auto end = scf::InParallelOp::create(b);
    b.setInsertionPointToStart(end.getBody());
    tensor::ParallelInsertSliceOp::create(b, own, arguments[1], at, ones, ones);
    tensor::ParallelInsertSliceOp::create(b, listed[0], arguments[2], rowAt, rowSizes, rowOnes);
    tensor::ParallelInsertSliceOp::create(b, listed[1], arguments[3], rowAt, rowSizes, rowOnes);
  };
  SmallVector<Value> outputs{tensor::EmptyOp::create(b, op.getCounts().getType(), ValueRange()),
                             tensor::EmptyOp::create(b, op.getTokens().getType(), count),
                             tensor::EmptyOp::create(b, op.getRowShares().getType(), count)};
  auto loop = scf::ForallOp::create(b, OpFoldResult(b.getIndexAttr(op.getExperts())), outputs, std::nullopt, listTokens);
  std::string what = ("list the tokens of " + Twine(op.getExperts()) + " experts").str();
  loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(loop.getContext(), what));
  return Values(loop.getResults());
}

/// Converts add_rows to multiply-adds of rows in parallel; no two rows belong to one token. With `padded`, the slices
/// for a row without a token have no rows; the slice of the sum begins at row 0.
Values convertAddRows(IndexBuilder &b, xfmr::AddRowsOp op, xfmr::AddRowsOp::Adaptor adaptor, KernelGroups &) {
  Value rows = adaptor.getRows();
  OpFoldResult columns = b.getIndexAttr(cast<RankedTensorType>(rows.getType()).getDimSize(1)), none = b.getIndexAttr(0),
               one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> strides{one, one};
  auto addToToken = [&](OpBuilder &, Location, ValueRange arguments) {
    Value row = arguments[0], token = b.extractIndex(adaptor.getTokens(), row);
    SmallVector<OpFoldResult> from{row, none}, to{token, none}, sizes{one, columns};
    if (op.getPadded()) {
      sizes[0] = b.select(b.compare(CmpIPredicate::sge, token, 0), b.index(1), b.index(0));
      to[0] = b.max(token, b.index(0));
    }
    Value factor = extract(b, adaptor.getFactors(), row), added = tensor::ExtractSliceOp::create(b, rows, from, sizes, strides);
    Value before = tensor::ExtractSliceOp::create(b, arguments[1], to, sizes, strides);
    Value result =
        generic(b, added, b.getMultiDimIdentityMap(2), before, [&](ValueRange args) -> Value { return b.fma(factor, args[0], args[1]); });
    auto end = scf::InParallelOp::create(b);
    b.setInsertionPointToStart(end.getBody());
    tensor::ParallelInsertSliceOp::create(b, result, arguments[1], to, sizes, strides);
  };
  auto loop = scf::ForallOp::create(b, OpFoldResult(b.size(rows, 0)), adaptor.getSum(), std::nullopt, addToToken);
  loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(loop.getContext(), "add rows of an expert"));
  return Values(loop.getResults());
}

} // namespace

void attune::populateExpertPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertChooseExperts);
  addConversion(patterns, groups, convertGroupByExpert);
  addConversion(patterns, groups, convertListByExpert);
  addConversion(patterns, groups, convertAddRows);
}
