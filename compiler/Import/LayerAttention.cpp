//===- LayerAttention.cpp - The attentions of a layer ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/Elementwise.h"
#include "compiler/Import/LayerBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

/// Returns true if `multi_head_attention` can express |spec|: all of queries, keys and values have biases or none has,
/// the output has a bias only if these have, and heads are projected from the input and used unchanged.
static bool isComposite(const AttentionSpec &spec) {
  bool bias = spec.query.bias != noWeight;
  bool together = (spec.key.bias != noWeight) == bias && (spec.value.bias != noWeight) == bias;
  bool plain = spec.rotary == noWeight && !spec.queryNorm.norm && !spec.keyNorm.norm && !spec.clip;
  plain = plain && !spec.queryLatent && !spec.keyLatent && spec.sharedKey.weight == noWeight;
  return together && (bias || spec.output.bias == noWeight) && plain;
}

template <typename Op>
Value LayerBody::setScores(Op op, const AttentionSpec &spec, const AttentionInputs &inputs) {
  auto maskType = inputs.keys.mask ? cast<RankedTensorType>(inputs.keys.mask.getType()) : RankedTensorType();
  bool replaced = spec.queryKeyMaskReplacesCausal && maskType && maskType.getRank() == 3;
  op.setCausal(spec.causal && !replaced);
  op.setMaskedRows(spec.maskedRows);
  if (op.getProbabilities())
    op.setScoreStage(spec.scoreStage);
  op.setWindowLeft(spec.windowLeft);
  op.setWindowRight(spec.windowRight);
  if (spec.softcap)
    op.setSoftcapAttr(builder.getF64FloatAttr(*spec.softcap));
  if (Value mask = inputs.keys.mask)
    op.getMaskMutable().assign(mask);
  if (inputs.headMask)
    op.getHeadMaskMutable().assign(inputs.headMask);
  if (inputs.distanceBias)
    op.getDistanceBiasMutable().assign(inputs.distanceBias);
  if (Value sinks = weight(spec.sinks)) {
    op.getSinksMutable().assign(sinks);
    op.setMaskedRows(xfmr::MaskedRows::Zero);
  }
  if (Value vectors = weight(spec.relativeKey))
    op.getRelativeKeyMutable().assign(vectors);
  if (Value vectors = weight(spec.relativeQuery))
    op.getRelativeQueryMutable().assign(vectors);
  return op.getProbabilities();
}

Value LayerBody::compositeAttention(Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, Type probabilities,
                                    AttentionResults &results) {
  auto rows = [&](WeightId id) { return cast<RankedTensorType>(weight(id).getType()).getDimSize(0); };
  int64_t features = spec.output.weight == noWeight ? rows(spec.value.weight) / spec.kvHeads * spec.heads : rows(spec.output.weight);
  auto op = xfmr::MultiHeadAttentionOp::create(
      builder, loc, RankedTensorType::get({ShapedType::kDynamic, features}, builder.getF32Type()), probabilities, inputs.query, inputs.key,
      weight(spec.query.weight), weight(spec.key.weight), weight(spec.value.weight), weight(spec.output.weight), weight(spec.query.bias),
      weight(spec.key.bias), weight(spec.value.bias), weight(spec.output.bias), inputs.queries.offsets, inputs.keys.offsets,
      inputs.queries.length, inputs.keys.length, spec.heads, spec.kvHeads, spec.scale);
  if (inputs.value != inputs.key)
    op.getValueMutable().assign(inputs.value);
  results.probabilities = setScores(op, spec, inputs);
  return op.getResult();
}

Value LayerBody::projectHeads(Location loc, Value input, const LinearSpec &projection, int64_t count, const HeadNormSpec &head,
                              std::optional<double> clip) {
  auto normed = [&](Value value) {
    return createNorm(builder, loc, head.norm, value, {}, weight(head.norm.weight), weight(head.norm.bias));
  };
  Value projected = linear(loc, input, projection);
  if (clip)
    projected = clampTokens(builder, loc, projected, *clip);
  if (head.norm && head.extent == HeadNormSpec::Projection)
    projected = normed(projected);
  Value split = xfmr::SplitHeadsOp::create(builder, loc, projected, count);
  if (!head.norm || head.extent == HeadNormSpec::Projection)
    return split;
  split = normed(split);
  if (head.factors == noWeight)
    return split;
  Value joined = xfmr::MergeHeadsOp::create(builder, loc, split);
  return xfmr::SplitHeadsOp::create(builder, loc, multiplyByRow(builder, loc, joined, weight(head.factors)), count);
}

Value LayerBody::rotatedHeads(Location loc, Value input, const AttentionSpec &spec, const LinearSpec &projection, int64_t count,
                              const HeadNormSpec &head) {
  if (!spec.normsTurned)
    return rotate(loc, projectHeads(loc, input, projection, count, head, spec.clip), spec);
  Value rotated = rotate(loc, projectHeads(loc, input, projection, count, {}, spec.clip), spec);
  return createNorm(builder, loc, head.norm, rotated, {}, weight(head.norm.weight), weight(head.norm.bias));
}

Value LayerBody::rotate(Location loc, Value heads, const AttentionSpec &spec) {
  if (spec.rotary == noWeight)
    return heads;
  return xfmr::RotaryOp::create(builder, loc, heads, operands.positions, weight(spec.rotary), spec.interleaved);
}

Value LayerBody::latent(Location loc, Value input, const LatentSpec &spec) {
  if (!spec)
    return input;
  Value projected = linear(loc, input, spec.projection);
  return createNorm(builder, loc, spec.norm, projected, {}, weight(spec.norm.weight), weight(spec.norm.bias));
}

Value LayerBody::queryHeads(Location loc, Value input, const AttentionSpec &spec) {
  return rotatedHeads(loc, latent(loc, input, spec.queryLatent), spec, spec.query, spec.heads, spec.queryNorm);
}

Value LayerBody::keyHeads(Location loc, Value input, const AttentionSpec &spec) {
  Value vectors = latent(loc, input, spec.keyLatent);
  if (spec.sharedKey.weight == noWeight)
    return rotatedHeads(loc, vectors, spec, spec.key, spec.kvHeads, spec.keyNorm);
  Value shared = rotatedHeads(loc, input, spec, spec.sharedKey, 1, {});
  return prependShared(loc, shared, projectHeads(loc, vectors, spec.key, spec.kvHeads, spec.keyNorm, spec.clip));
}

Value LayerBody::prependShared(Location loc, Value shared, Value heads) {
  auto type = cast<RankedTensorType>(heads.getType());
  int64_t count = type.getDimSize(1), own = type.getDimSize(2), first = cast<RankedTensorType>(shared.getType()).getDimSize(2);
  Value tokens = tensor::DimOp::create(builder, loc, heads, 0);
  Value empty = tensor::EmptyOp::create(builder, loc, {ShapedType::kDynamic, count, first + own}, type.getElementType(), tokens);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(inner, loc, value); };
    Value token = linalg::IndexOp::create(inner, loc, 0);
    Value head = linalg::IndexOp::create(inner, loc, 1), component = linalg::IndexOp::create(inner, loc, 2);
    Value before = arith::MinUIOp::create(inner, loc, component, index(first - 1));
    Value after = arith::MaxSIOp::create(inner, loc, arith::SubIOp::create(inner, loc, component, index(first)), index(0));
    Value ofAll = tensor::ExtractOp::create(inner, loc, shared, ValueRange{token, index(0), before});
    Value ofHead = tensor::ExtractOp::create(inner, loc, heads, ValueRange{token, head, after});
    Value isShared = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, component, index(first));
    return arith::SelectOp::create(inner, loc, isShared, ofAll, ofHead);
  };
  return emitElements(builder, loc, empty, {}, body);
}

Value LayerBody::valueHeads(Location loc, Value input, const AttentionSpec &spec) {
  return projectHeads(loc, latent(loc, input, spec.keyLatent), spec.value, spec.kvHeads, {}, spec.clip);
}

Value LayerBody::splitAttention(Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, Type probabilities,
                                AttentionResults &results) {
  Value query = queryHeads(loc, inputs.query, spec);
  if (inputs.key) {
    results.key = keyHeads(loc, inputs.key, spec);
    results.value = valueHeads(loc, inputs.value, spec);
  }
  results.key = appendHeads(loc, inputs.pastKey, results.key, inputs.keys.length);
  results.value = appendHeads(loc, inputs.pastValue, results.value, inputs.keys.length);
  auto op = xfmr::AttentionOp::create(builder, loc, probabilities, query, results.key, results.value, inputs.queries.offsets,
                                      inputs.keys.offsets, inputs.queries.length, inputs.keys.length, spec.scale);
  results.probabilities = setScores(op, spec, inputs);
  Value joined = xfmr::MergeHeadsOp::create(builder, loc, op.getResult());
  return spec.output.weight == noWeight ? joined : linear(loc, joined, spec.output);
}

AttentionResults LayerBody::updateCache(Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, const CachedKeys &cache) {
  Value key = keyHeads(loc, inputs.key, spec), value = valueHeads(loc, inputs.value, spec);
  auto update = xfmr::KvCacheUpdateOp::create(builder, loc, cache.keys.getType(), cache.values.getType(), key, value, cache.keys,
                                              cache.values, cache.past, cache.slots, inputs.keys.offsets);
  return {Value(), update.getNewKeyCache(), update.getNewValueCache()};
}

Value LayerBody::cachedAttention(Location loc, const AttentionSpec &spec, AttentionInputs inputs, const CachedKeys &cache,
                                 AttentionResults &results) {
  // Projects in the same order as a layer without caches, so that both functions use their weights in the same order
  // and can share rows of the weights file.
  Value query = queryHeads(loc, inputs.query, spec), keys = cache.keys, values = cache.values;
  if (cache.past) {
    results = updateCache(loc, spec, inputs, cache);
    keys = results.key, values = results.value;
  }
  auto op = xfmr::AttentionOp::create(builder, loc, Type(), query, keys, values, inputs.queries.offsets, Value(), inputs.queries.length,
                                      cache.length, spec.scale);
  op.getSlotsMutable().assign(cache.slots);
  op.getKeyLengthsMutable().assign(cache.lengths);
  inputs.keys.mask = cache.mask;
  setScores(op, spec, inputs);
  Value joined = xfmr::MergeHeadsOp::create(builder, loc, op.getResult());
  return spec.output.weight == noWeight ? joined : linear(loc, joined, spec.output);
}

Value LayerBody::appendHeads(Location loc, Value past, Value heads, Value length) {
  if (!past)
    return heads;
  auto type = cast<RankedTensorType>(past.getType());
  int64_t count = type.getDimSize(1), size = type.getDimSize(3);
  auto index = [](OpBuilder &inner, Location loc, int64_t value) -> Value { return arith::ConstantIndexOp::create(inner, loc, value); };
  Value batch = tensor::DimOp::create(builder, loc, past, 0), pastLength = tensor::DimOp::create(builder, loc, past, 2);
  Value tokens = arith::MulIOp::create(builder, loc, batch, length);
  Value empty = tensor::EmptyOp::create(builder, loc, {ShapedType::kDynamic, count, size}, type.getElementType(), tokens);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    Value token = linalg::IndexOp::create(inner, loc, 0);
    Value head = linalg::IndexOp::create(inner, loc, 1), feature = linalg::IndexOp::create(inner, loc, 2);
    Value sequence = arith::DivUIOp::create(inner, loc, token, length), position = arith::RemUIOp::create(inner, loc, token, length);
    Value last = arith::SubIOp::create(inner, loc, pastLength, index(inner, loc, 1));
    Value before = arith::MinUIOp::create(inner, loc, position, last);
    Value value = tensor::ExtractOp::create(inner, loc, past, ValueRange{sequence, head, before, feature});
    if (heads) {
      Value added = arith::SubIOp::create(inner, loc, length, pastLength);
      Value own = arith::MaxSIOp::create(inner, loc, arith::SubIOp::create(inner, loc, position, pastLength), index(inner, loc, 0));
      Value row = arith::AddIOp::create(inner, loc, arith::MulIOp::create(inner, loc, sequence, added), own);
      Value next = tensor::ExtractOp::create(inner, loc, heads, ValueRange{row, head, feature});
      Value isPast = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, position, pastLength);
      value = arith::SelectOp::create(inner, loc, isPast, value, next);
    }
    return value;
  };
  return emitElements(builder, loc, empty, {}, body);
}

Value LayerBody::padHeads(Location loc, Value heads, const Sequences &sequences) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto type = cast<RankedTensorType>(heads.getType());
  int64_t count = type.getDimSize(1), size = type.getDimSize(2);
  Value batch = arith::SubIOp::create(builder, loc, tensor::DimOp::create(builder, loc, sequences.offsets, 0),
                                      arith::ConstantIndexOp::create(builder, loc, 1));
  if (sequences.paddedPositions) {
    Value tokens = arith::MulIOp::create(builder, loc, batch, sequences.length);
    Value joined = xfmr::MergeHeadsOp::create(builder, loc, heads);
    Value spread = xfmr::ScatterTokensOp::create(builder, loc, joined, sequences.paddedPositions, tokens);
    heads = xfmr::SplitHeadsOp::create(builder, loc, spread, count);
  }
  SmallVector<ReassociationIndices> groups = {{0, 1}, {2}, {3}};
  SmallVector<OpFoldResult> sizes = {batch, sequences.length, builder.getIndexAttr(count), builder.getIndexAttr(size)};
  Value split = tensor::ExpandShapeOp::create(builder, loc, type.clone({dynamic, dynamic, count, size}), heads, groups, sizes);
  Value empty =
      tensor::EmptyOp::create(builder, loc, {dynamic, count, dynamic, size}, type.getElementType(), ValueRange{batch, sequences.length});
  return linalg::TransposeOp::create(builder, loc, split, empty, ArrayRef<int64_t>{0, 2, 1, 3}).getResult()[0];
}

Value LayerBody::attention(const AttentionSpec &spec, const AttentionInputs &inputs, const std::string &part,
                           const AttentionRequest &request, const CachedKeys &cache, AttentionResults &results) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  if (cache.keys)
    return cachedAttention(at(part), spec, inputs, cache, results);
  Type probabilities;
  if (request.probabilities)
    probabilities = RankedTensorType::get({dynamic, spec.heads, dynamic, dynamic}, builder.getF32Type());
  if (isComposite(spec) && !request.parts() && !inputs.pastKey)
    return compositeAttention(at(part), spec, inputs, probabilities, results);
  Value result = splitAttention(at(part), spec, inputs, probabilities, results);
  results.key = request.key ? padHeads(at(part + ".key"), results.key, inputs.keys) : Value();
  results.value = request.value ? padHeads(at(part + ".value"), results.value, inputs.keys) : Value();
  return result;
}
