//===- HeadSteps.cpp - From a hidden state to an output -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/HeadSteps.h"
#include "compiler/Import/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

/// Returns for each sequence one row of |value|, which has a row for each token. |rowOf| returns the index in the
/// padded batch of the token whose row is selected.
static Value gatherRows(OpBuilder &builder, Location loc, TokenBatch &tokens, Value value,
                        llvm::function_ref<Value(OpBuilder &, Location, Value sequence)> rowOf) {
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>(tokens.batch()), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    Value row = rowOf(inner, loc, linalg::IndexOp::create(inner, loc, 0));
    return arith::IndexCastOp::create(inner, loc, inner.getI64Type(), row);
  };
  Value rows = emitElements(builder, loc, empty, {}, body);
  if (tokens.paddedPositions())
    value = xfmr::ScatterTokensOp::create(builder, loc, value, tokens.paddedPositions(), tokens.paddedTokens());
  return xfmr::GatherTokensOp::create(builder, loc, value, rows);
}

/// Returns the rows of |value| that lastTokenStep describes.
static Value emitLastTokens(EntryScope &scope, const HeadStep &step, TokenBatch &tokens, Value value) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(step.path);
  Value ids = scope.input(InputRole::TokenIds, scope.spec.mainStack()), ends;
  if (ids && step.padding)
    ends = xfmr::PackTokensOp::create(builder, loc, markTokens(builder, loc, ids, arith::CmpIPredicate::ne, *step.padding)).getOffsets();
  auto rowOf = [&](OpBuilder &inner, Location loc, Value sequence) -> Value {
    Value one = arith::ConstantIndexOp::create(inner, loc, 1);
    Value next = arith::AddIOp::create(inner, loc, sequence, one), count = tokens.length();
    if (ends) {
      Value begin = tensor::ExtractOp::create(inner, loc, ends, sequence), end = tensor::ExtractOp::create(inner, loc, ends, next);
      Value some = arith::IndexCastOp::create(inner, loc, inner.getIndexType(), arith::SubIOp::create(inner, loc, end, begin));
      Value none = arith::ConstantIndexOp::create(inner, loc, 0);
      // For a sequence that is only padding, the result is the row of its last token.
      Value isEmpty = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, some, none);
      count = arith::SelectOp::create(inner, loc, isEmpty, count, some);
    }
    Value first = arith::MulIOp::create(inner, loc, sequence, tokens.length());
    return arith::SubIOp::create(inner, loc, arith::AddIOp::create(inner, loc, first, count), one);
  };
  return gatherRows(builder, loc, tokens, value, rowOf);
}

namespace {
/// The token that is selected among those that match.
enum class Match { First, Last };
} // namespace

/// Returns for each sequence the row of |value| of its first or last token, as |match| says, for whose element of |ids|
/// the comparison |predicate| with |id| is true. For a sequence without such a token, returns its first row if
/// |firstIfNone|, else its last.
static Value emitMatches(EntryScope &scope, Location loc, TokenBatch &tokens, Value value, Match match, Value ids,
                         arith::CmpIPredicate predicate, int64_t id, bool firstIfNone) {
  OpBuilder &builder = scope.builder;
  auto found = xfmr::PackTokensOp::create(builder, loc, markTokens(builder, loc, ids, predicate, id));
  Value positions = found.getPositions(), sourceLength = tensor::DimOp::create(builder, loc, ids, 1);
  auto rowOf = [&](OpBuilder &inner, Location loc, Value sequence) -> Value {
    Value one = arith::ConstantIndexOp::create(inner, loc, 1);
    Value zero = arith::ConstantIndexOp::create(inner, loc, 0), last = arith::SubIOp::create(inner, loc, tokens.length(), one);
    auto toIndex = [&](Value id) -> Value { return arith::IndexCastOp::create(inner, loc, inner.getIndexType(), id); };
    Value begin = toIndex(tensor::ExtractOp::create(inner, loc, found.getOffsets(), sequence));
    Value end = toIndex(tensor::ExtractOp::create(inner, loc, found.getOffsets(), Value(arith::AddIOp::create(inner, loc, sequence, one))));
    // Without a match any valid index will do; its value is not used.
    Value isEmpty = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, begin, end);
    Value wanted = match == Match::First ? begin : Value(arith::SubIOp::create(inner, loc, end, one));
    Value at = arith::SelectOp::create(inner, loc, isEmpty, zero, wanted);
    Value count = tensor::DimOp::create(inner, loc, positions, 0);
    at = arith::MinSIOp::create(inner, loc, at, arith::MaxSIOp::create(inner, loc, arith::SubIOp::create(inner, loc, count, one), zero));
    Value position = toIndex(tensor::ExtractOp::create(inner, loc, positions, at));
    position = arith::RemUIOp::create(inner, loc, position, sourceLength);
    position = arith::SelectOp::create(inner, loc, isEmpty, firstIfNone ? zero : last, arith::MinSIOp::create(inner, loc, position, last));
    return arith::AddIOp::create(inner, loc, arith::MulIOp::create(inner, loc, sequence, tokens.length()), position);
  };
  return gatherRows(builder, loc, tokens, value, rowOf);
}

/// Returns the rows of |value| that selectedTokenStep describes. A position past the end of a sequence selects its last
/// token.
static Value emitSelectedTokens(EntryScope &scope, const HeadStep &step, TokenBatch &tokens, Value value) {
  OpBuilder &builder = scope.builder;
  Value positions = scope.input(InputRole::TargetToken, scope.spec.mainStack());
  auto rowOf = [&](OpBuilder &inner, Location loc, Value sequence) -> Value {
    Value last = arith::SubIOp::create(inner, loc, tokens.length(), Value(arith::ConstantIndexOp::create(inner, loc, 1))), position = last;
    if (positions) {
      Value given = tensor::ExtractOp::create(inner, loc, positions, sequence);
      position = arith::MinUIOp::create(inner, loc, arith::IndexCastOp::create(inner, loc, inner.getIndexType(), given), last);
    }
    return arith::AddIOp::create(inner, loc, arith::MulIOp::create(inner, loc, sequence, tokens.length()), position);
  };
  return gatherRows(builder, scope.at(step.path), tokens, value, rowOf);
}

/// Returns the rows of |value| that poolStep describes.
static Value emitPool(EntryScope &scope, const HeadStep &step, TokenBatch &tokens, Value value) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(step.path);
  Value mask = scope.input(InputRole::AttentionMask, scope.spec.mainStack());
  if (readsMask(step) && mask && !tokens.paddedPositions()) {
    auto visible = xfmr::PackTokensOp::create(builder, loc, mask);
    value = xfmr::GatherTokensOp::create(builder, loc, value, visible.getPositions());
    return xfmr::PoolOp::create(builder, loc, step.pool, value, visible.getOffsets(), Value(), Value(), Value());
  }
  return xfmr::PoolOp::create(builder, loc, step.pool, value, tokens.sequences().offsets, tokens.paddedPositions(),
                              tokens.paddedPositions() ? tokens.length() : Value(), Value());
}

/// Returns the rows of |value| that poolsStep describes.
static Value emitPools(EntryScope &scope, const HeadStep &step, TokenBatch &tokens, Value value) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(step.path);
  StackRole stack = scope.spec.mainStack();
  Value mask = scope.input(InputRole::AttentionMask, stack), offsets = tokens.sequences().offsets;
  if (mask && !tokens.paddedPositions()) {
    auto visible = xfmr::PackTokensOp::create(builder, loc, mask);
    value = xfmr::GatherTokensOp::create(builder, loc, value, visible.getPositions());
    offsets = visible.getOffsets();
  }
  SmallVector<Value> rows;
  for (xfmr::PoolKind kind : step.pools)
    rows.push_back(xfmr::PoolOp::create(builder, loc, kind, value, offsets, Value(), Value(), scope.input(InputRole::PromptLength, stack)));
  return joinColumns(builder, loc, rows);
}

static Value emitStep(EntryScope &scope, const HeadStep &step, TokenBatch &tokens, Value value) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(step.path);
  switch (step.kind) {
  case HeadStep::Pool:
    return emitPool(scope, step, tokens, value);
  case HeadStep::Pools:
    return emitPools(scope, step, tokens, value);
  case HeadStep::FirstVisible:
    if (Value mask = scope.input(InputRole::AttentionMask, scope.spec.mainStack()))
      return emitMatches(scope, loc, tokens, value, Match::First, mask, arith::CmpIPredicate::ne, 0, /*firstIfNone=*/true);
    return emitPool(scope, step, tokens, value);
  case HeadStep::LastToken:
    return emitLastTokens(scope, step, tokens, value);
  case HeadStep::LastVisible:
    if (Value ids = scope.input(InputRole::TokenIds, scope.spec.mainStack()); ids && step.padding)
      return emitMatches(scope, loc, tokens, value, Match::Last, ids, arith::CmpIPredicate::ne, *step.padding, /*firstIfNone=*/true);
    return emitLastTokens(scope, step, tokens, value);
  case HeadStep::LastEos:
    return emitMatches(scope, loc, tokens, value, Match::Last, scope.input(InputRole::TokenIds, StackRole::Encoder),
                       arith::CmpIPredicate::eq, step.eosId, /*firstIfNone=*/false);
  case HeadStep::SelectedToken:
    return emitSelectedTokens(scope, step, tokens, value);
  case HeadStep::Linear:
    return xfmr::LinearOp::create(builder, loc, value, scope.weight(step.linear.weight), scope.weight(step.linear.bias), Value(),
                                  xfmr::Activation::None);
  case HeadStep::Activation:
    return xfmr::ActivationOp::create(builder, loc, value.getType(), step.activation, value);
  case HeadStep::Norm:
    return createNorm(builder, loc, step.norm, value, {}, scope.weight(step.norm.weight), scope.weight(step.norm.bias));
  case HeadStep::Dropout:
    return xfmr::DropoutOp::create(builder, loc, value.getType(), value, APFloat(step.rate));
  case HeadStep::Scale:
    return scaleTokens(builder, loc, value, step.factor);
  case HeadStep::Softcap:
    return softcapTokens(builder, loc, value, step.factor);
  case HeadStep::Softmax:
    return xfmr::SoftmaxOp::create(builder, loc, value.getType(), value, /*log=*/false);
  }
  llvm_unreachable("all steps are handled");
}

bool attune::isPerToken(const OutputSpec &output) {
  constexpr HeadStep::Kind chooses[] = {HeadStep::Pool,        HeadStep::Pools,   HeadStep::FirstVisible, HeadStep::LastToken,
                                        HeadStep::LastVisible, HeadStep::LastEos, HeadStep::SelectedToken};
  return llvm::none_of(output.steps, [&](const HeadStep &step) { return llvm::is_contained(chooses, step.kind); });
}

/// Splits the first dimension of |value|, batch x choices, into two.
static Value splitChoices(EntryScope &scope, Value value) {
  OpBuilder &builder = scope.builder;
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  sizes.front() = scope.rows;
  sizes.insert(sizes.begin() + 1, OpFoldResult(scope.choices));
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + 1, ShapedType::kDynamic);
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, joinFirstTwo(int64_t(shape.size())), sizes);
}

EntryResult attune::emitHead(EntryScope &scope, const OutputSpec &output, TokenBatch &tokens, Value hidden, bool lastOnly) {
  Value value = hidden;
  for (const HeadStep &step : output.steps)
    value = emitStep(scope, step, tokens, value);
  std::vector<std::string> dims = {"batch"};
  int64_t features = cast<RankedTensorType>(value.getType()).getDimSize(1);
  if (isPerToken(output) && !lastOnly) {
    value = tokens.toPadded(value, output.squeeze);
    dims.push_back(tokens.lengthDim());
  } else if (output.squeeze) {
    value = tensor::CollapseShapeOp::create(scope.builder, value.getLoc(), value, SmallVector<ReassociationIndices>{{0, 1}});
  }
  if (scope.choices) {
    value = splitChoices(scope, value);
    dims.insert(dims.begin() + 1, "choices");
  }
  if (!output.squeeze)
    dims.push_back(std::to_string(features));
  return {value, dims};
}
