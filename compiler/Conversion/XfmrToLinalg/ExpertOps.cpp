//===- ExpertOps.cpp - Choices of experts as loops over tokens ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tokens choose their experts in parallel, and rows are added to their tokens in parallel. The sort of pairs of a token
// and an expert is one serial counting sort: loops that carry their destinations, which bufferize in place.
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

/// Creates a kernel that |what| describes: a parallel loop over row = 0 to |count| - 1, which replaces row |targetOf|(row)
/// of each of |outputs|. No two iterations may have the same target. |body| gets |row| and the target rows before, one of
/// each output, and returns the new ones.
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

/// The choice of experts of one token: keys of experts, groups that are kept, and shares.
class ExpertChoice {
public:
  ExpertChoice(IndexBuilder &b, xfmr::ChooseExpertsOp op, xfmr::ChooseExpertsOp::Adaptor adaptor, Value token)
      : b(b), op(op), scores(adaptor.getScores()), bias(adaptor.getBias()), token(token),
        experts(b.index(cast<RankedTensorType>(scores.getType()).getDimSize(1))) {}

  /// Returns the rows of choices and shares, written to |rows|.
  Values run(ValueRange rows);

private:
  /// Returns true if experts of some groups are not chosen.
  bool dropsGroups() { return op.getGroups() && *op.getKeptGroups() < *op.getGroups(); }
  Value sigmoid(Value score) { return b.divf(b.f32(1), b.addf(b.f32(1), math::ExpOp::create(b, b.subf(b.f32(0), score)))); }
  /// Returns the score of |expert|, or its sigmoid.
  Value weight(Value expert) {
    Value score = extract(b, scores, {token, expert});
    return op.getSigmoid() ? sigmoid(score) : score;
  }
  /// Returns the key of |expert|, by which experts are chosen. NaN, which compares with nothing, becomes the smallest key.
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

/// Returns the key of |group|, a group of |size| experts: the sum of their `group_keys` largest keys.
Value ExpertChoice::keyOfGroup(Value group, int64_t size) {
  Value begin = b.mul(group, size);
  Values largest = b.loop(begin, b.add(begin, size), 1, {lowest(), lowest()}, [&](Value expert, ValueRange best) -> Values {
    Value value = key(expert), isFirst = b.compare(CmpFPredicate::OGT, value, best[0]);
    Value rest = b.select(isFirst, best[0], value);
    return {b.select(isFirst, value, best[0]), b.select(b.compare(CmpFPredicate::OGT, rest, best[1]), rest, best[1])};
  });
  return *op.getGroupKeys() == 1 ? largest[0] : b.addf(largest[0], largest[1]);
}

/// Returns an integer with a bit for each group, 1 if the group is kept: if fewer than `kept_groups` groups are better.
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

/// Returns the shares of the chosen experts. |chosen| is a row `[1, count]` of their scores, or of their sigmoids.
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
  // Without a bias the first choice has the largest score, unless a group with a larger one is not kept.
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
  // The search for the first expert begins after a key that precedes all others: infinity, with expert -1.
  Value first = b.f32(std::numeric_limits<double>::infinity());
  Values taken = b.loop(zero, count, 1, {rows[0], rows[1], first, b.index(-1)}, [&](Value rank, ValueRange carried) -> Values {
    Values best = next(kept, carried[2], carried[3]);
    Value score = op.getSigmoid() || bias ? weight(best[1]) : best[0];
    Value choices = insert(b, b.toI64(best[1]), carried[0], {zero, rank}), shares = insert(b, score, carried[1], {zero, rank});
    return {choices, shares, best[0], best[1]};
  });
  return {taken[0], shares(taken[1])};
}

/// choose_experts -> for each token, |count| passes over its keys. A pass takes the largest key after the one that the
/// pass before took; keys are ordered by value, then by expert.
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
      [&](Value token, ValueRange old) { return ExpertChoice(b, op, adaptor, token).run(old); });
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
  addConversion(patterns, groups, convertAddRows);
}
