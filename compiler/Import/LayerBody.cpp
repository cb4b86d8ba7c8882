//===- LayerBody.cpp - What one layer computes ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/LayerBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace attune;
using namespace mlir;

Value LayerBody::weight(WeightId id) const {
  auto it = weights.find(id);
  return it == weights.end() ? Value() : it->second;
}

Value LayerBody::linear(Location loc, Value input, const LinearSpec &spec) {
  return xfmr::LinearOp::create(builder, loc, input, weight(spec.weight), weight(spec.bias), Value(), xfmr::Activation::None);
}

Value LayerBody::norm(Value input, Value residual, const NormSpec &spec, StringRef part) {
  return xfmr::LayerNormOp::create(builder, at(part), input, weight(spec.weight), weight(spec.bias), residual, APFloat(spec.epsilon));
}

Value LayerBody::dropout(Value input, StringRef part) {
  return xfmr::DropoutOp::create(builder, at(part), input.getType(), input, APFloat(stack.dropout));
}

Value LayerBody::branch(Value input, const NormSpec &spec, const std::string &part, llvm::function_ref<Value(Value)> emit) {
  if (stack.placement == NormPlacement::None)
    return emit(input);
  bool pre = stack.placement == NormPlacement::Pre;
  Value result = emit(pre ? norm(input, {}, spec, part + ".norm") : input);
  result = dropout(result, part + ".dropout");
  if (pre)
    return arith::AddFOp::create(builder, at(part + ".norm"), input, result);
  return norm(result, input, spec, part + ".norm");
}

/// Whether `multi_head_attention` has the biases of |spec|: together, and that of the output only with them.
static bool isComposite(const AttentionSpec &spec) {
  bool bias = spec.query.bias != noWeight;
  bool together = (spec.key.bias != noWeight) == bias && (spec.value.bias != noWeight) == bias;
  return together && (bias || spec.output.bias == noWeight);
}

/// Sets what both attention ops have beside their tensors; returns the probabilities, if any.
template <typename Op>
static Value setScores(Op op, const AttentionSpec &spec, const Sequences &keys, Value headMask) {
  op.setCausal(spec.causal);
  if (keys.mask)
    op.getMaskMutable().assign(keys.mask);
  if (headMask)
    op.getHeadMaskMutable().assign(headMask);
  return op.getProbabilities();
}

Value LayerBody::attention(const AttentionSpec &spec, const AttentionInputs &inputs, const std::string &part, Value *probabilities) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Type probabilityType = probabilities ? RankedTensorType::get({dynamic, spec.heads, dynamic, dynamic}, builder.getF32Type()) : Type();
  const Sequences &queries = inputs.queries, &keys = inputs.keys;
  Location loc = at(part);
  Value result, scores;
  if (isComposite(spec)) {
    auto rows = [&](WeightId id) { return cast<RankedTensorType>(weight(id).getType()).getDimSize(0); };
    int64_t features = spec.output.weight == noWeight ? rows(spec.value.weight) / spec.kvHeads * spec.heads : rows(spec.output.weight);
    auto op = xfmr::MultiHeadAttentionOp::create(
        builder, loc, RankedTensorType::get({dynamic, features}, builder.getF32Type()), probabilityType, inputs.query, inputs.key,
        weight(spec.query.weight), weight(spec.key.weight), weight(spec.value.weight), weight(spec.output.weight), weight(spec.query.bias),
        weight(spec.key.bias), weight(spec.value.bias), weight(spec.output.bias), queries.offsets, keys.offsets, queries.length,
        keys.length, spec.heads, spec.kvHeads, spec.scale);
    if (inputs.value != inputs.key)
      op.getValueMutable().assign(inputs.value);
    scores = setScores(op, spec, keys, inputs.headMask);
    result = op.getResult();
  } else {
    Value query = xfmr::SplitHeadsOp::create(builder, loc, linear(loc, inputs.query, spec.query), spec.heads);
    Value key = xfmr::SplitHeadsOp::create(builder, loc, linear(loc, inputs.key, spec.key), spec.kvHeads);
    Value value = xfmr::SplitHeadsOp::create(builder, loc, linear(loc, inputs.value, spec.value), spec.kvHeads);
    auto op = xfmr::AttentionOp::create(builder, loc, probabilityType, query, key, value, queries.offsets, keys.offsets, queries.length,
                                        keys.length, spec.scale);
    scores = setScores(op, spec, keys, inputs.headMask);
    result = xfmr::MergeHeadsOp::create(builder, loc, op.getResult());
    if (spec.output.weight != noWeight)
      result = linear(loc, result, spec.output);
  }
  if (probabilities)
    *probabilities = scores;
  return result;
}

Value LayerBody::feedForward(const FfnSpec &spec, Value input) {
  return xfmr::FfnOp::create(builder, at("ffn"), spec.activation, input, weight(spec.up.weight), weight(spec.down.weight),
                             weight(spec.up.bias), weight(spec.down.bias), Value());
}

LayerResults LayerBody::emit(const LayerRequest &request) {
  LayerResults results;
  Value hidden = operands.hidden;
  const Sequences &own = operands.sequences, &memory = operands.memorySequences;
  if (layer.attention)
    hidden = branch(hidden, layer.attentionNorm, "attention", [&](Value input) {
      AttentionInputs inputs{input, input, input, own, own, operands.headMask};
      return attention(*layer.attention, inputs, "attention", request.probabilities ? &results.probabilities : nullptr);
    });
  if (layer.cross)
    hidden = branch(hidden, layer.crossNorm, "cross", [&](Value input) {
      Value values = operands.memoryValues ? operands.memoryValues : operands.memory;
      AttentionInputs inputs{input, operands.memory, values, own, memory, {}};
      if (layer.crossFromMemory)
        inputs = {operands.memory, operands.memory, input, memory, memory, {}};
      return attention(*layer.cross, inputs, "cross", request.crossProbabilities ? &results.crossProbabilities : nullptr);
    });
  if (layer.ffn)
    hidden = branch(hidden, layer.ffnNorm, "ffn", [&](Value input) { return feedForward(*layer.ffn, input); });
  results.hidden = hidden;
  return results;
}
