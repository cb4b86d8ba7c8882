//===- LayerBody.cpp - The operations of a layer --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/LayerBody.h"
#include "compiler/Import/Elementwise.h"

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

Value attune::createNorm(OpBuilder &builder, Location loc, const NormSpec &spec, Value input, Value residual, Value weight, Value bias) {
  if (!bias)
    return xfmr::RmsNormOp::create(builder, loc, input, weight, residual, APFloat(spec.epsilon));
  return xfmr::LayerNormOp::create(builder, loc, input, weight, bias, residual, APFloat(spec.epsilon));
}

Value attune::createDistanceBias(OpBuilder &builder, Location loc, const DistanceBiasSpec &spec, Value table, Value slopes, Value length) {
  if (slopes)
    return xfmr::AlibiBiasOp::create(builder, loc, slopes, length);
  return xfmr::RelativePositionBiasOp::create(builder, loc, table, length, spec.bidirectional, spec.maxDistance);
}

Value LayerBody::norm(Value input, Value residual, const NormSpec &spec, StringRef part) {
  return createNorm(builder, at(part), spec, input, residual, weight(spec.weight), weight(spec.bias));
}

Value LayerBody::dropout(Value input, StringRef part) {
  return xfmr::DropoutOp::create(builder, at(part), input.getType(), input, APFloat(stack.dropout));
}

Value LayerBody::branch(Value input, const NormSpec &spec, const NormSpec &resultNorm, const std::string &part,
                        llvm::function_ref<Value(Value)> emit) {
  if (stack.placement == NormPlacement::None)
    return emit(input);
  bool post = stack.placement == NormPlacement::Post;
  Value normed = !post && spec ? norm(input, {}, spec, part + ".norm") : input;
  Value result = dropout(emit(normed), part + ".dropout");
  if (post) {
    if (resultNorm)
      result = norm(result, input, resultNorm, part + ".result_norm");
    return norm(result, input, spec, part + ".norm");
  }
  if (resultNorm)
    result = norm(result, {}, resultNorm, part + ".result_norm");
  Value residual = stack.placement == NormPlacement::PreNormedResidual ? normed : input;
  return arith::AddFOp::create(builder, at(part + ".norm"), residual, result);
}

LayerResults LayerBody::emitParallel(const LayerRequest &request) {
  LayerResults results;
  Value hidden = operands.hidden, normed = norm(hidden, {}, layer.attentionNorm, "attention.norm");
  Value ffnInput = layer.ffnNorm ? norm(hidden, {}, layer.ffnNorm, "ffn.norm") : normed;
  Value attended = attention(*layer.attention, selfInputs(normed), "attention", request.own, operands.selfCache, results.own);
  Value forwarded = feedForward(*layer.ffn, ffnInput);
  Value branches = arith::AddFOp::create(builder, at("branches"), attended, forwarded);
  results.hidden = arith::AddFOp::create(builder, at("branches"), dropout(branches, "dropout"), hidden);
  return results;
}

Value LayerBody::distanceBias() {
  if (!layer.distanceBias)
    return operands.distanceBias;
  Value length = operands.selfCache.keys ? operands.selfCache.length
                 : operands.pastKey     ? operands.keySequences.length
                                        : operands.sequences.length;
  return createDistanceBias(builder, at("distance_bias"), *layer.distanceBias, weight(layer.distanceBias->table),
                            weight(layer.distanceBias->slopes), length);
}

LayerBody::AttentionInputs LayerBody::selfInputs(Value input) {
  const Sequences &own = operands.sequences, &keys = operands.pastKey ? operands.keySequences : own;
  return {input, input, input, own, keys, operands.headMask, distanceBias(), operands.pastKey, operands.pastValue};
}

Value LayerBody::feedForward(const FfnSpec &spec, Value input) {
  return xfmr::FfnOp::create(builder, at("ffn"), spec.activation, input, weight(spec.up.weight), weight(spec.down.weight),
                             weight(spec.gate.weight), weight(spec.gate.bias), weight(spec.up.bias), weight(spec.down.bias), Value());
}

Value LayerBody::experts(const ExpertsSpec &spec, Value input) {
  Location loc = at("experts");
  Value scores = linear(loc, input, spec.router);
  auto choice = xfmr::ChooseExpertsOp::create(builder, loc, scores, weight(spec.choiceBias), spec.chosen, spec.normalized, spec.sigmoid,
                                              nullptr, nullptr, nullptr);
  if (spec.groups) {
    choice.setGroups(spec.groups->count);
    choice.setKeptGroups(spec.groups->kept);
    choice.setGroupKeys(spec.groups->keys);
  }
  const FfnSpec &networks = spec.networks;
  auto mixture = xfmr::ExpertsOp::create(builder, loc, networks.activation, input, choice.getChoices(), choice.getShares(),
                                         weight(networks.up.weight), weight(networks.up.bias), weight(networks.down.weight),
                                         weight(networks.down.bias), weight(networks.gate.weight), weight(networks.gate.bias), {}, {});
  if (spec.clampedGlu) {
    mixture.setGluLimitAttr(builder.getF64FloatAttr(spec.clampedGlu->limit));
    mixture.setGluAlphaAttr(builder.getF64FloatAttr(spec.clampedGlu->alpha));
  }
  if (!spec.shared)
    return mixture;
  Value shared = feedForward(*spec.shared, input);
  if (spec.sharedGate.weight == noWeight)
    return arith::AddFOp::create(builder, loc, mixture, shared);
  Value score = linear(loc, input, spec.sharedGate);
  Value gate = xfmr::ActivationOp::create(builder, loc, score.getType(), xfmr::Activation::Sigmoid, score);
  return arith::AddFOp::create(builder, loc, mixture, multiplyRows(builder, loc, shared, gate));
}

LayerResults LayerBody::emit(const LayerRequest &request) {
  if (layer.parallel)
    return emitParallel(request);
  LayerResults results;
  Value hidden = operands.hidden;
  const Sequences &own = operands.sequences, &memory = operands.memorySequences;
  if (layer.attention)
    hidden = branch(hidden, layer.attentionNorm, layer.attentionResultNorm, "attention", [&](Value input) {
      return attention(*layer.attention, selfInputs(input), "attention", request.own, operands.selfCache, results.own);
    });
  if (layer.cross)
    hidden = branch(hidden, layer.crossNorm, {}, "cross", [&](Value input) {
      Value values = operands.memoryValues ? operands.memoryValues : operands.memory;
      AttentionInputs inputs{input, operands.memory, values, own, memory, operands.crossHeadMask, {}};
      if (layer.crossFromMemory)
        inputs = {operands.memory, operands.memory, input, memory, memory, operands.crossHeadMask, {}};
      if (operands.memoryKey) {
        inputs.key = inputs.value = {};
        inputs.pastKey = operands.memoryKey, inputs.pastValue = operands.memoryValue;
      }
      return attention(*layer.cross, inputs, "cross", request.cross, operands.crossCache, results.cross);
    });
  if (layer.ffn)
    hidden = branch(hidden, layer.ffnNorm, layer.ffnResultNorm, "ffn", [&](Value input) { return feedForward(*layer.ffn, input); });
  if (layer.experts)
    hidden = branch(hidden, layer.ffnNorm, layer.ffnResultNorm, "ffn", [&](Value input) { return experts(*layer.experts, input); });
  results.hidden = hidden;
  return results;
}

AttentionResults LayerBody::emitCrossKeys() {
  Value values = operands.memoryValues ? operands.memoryValues : operands.memory;
  AttentionInputs inputs{{}, operands.memory, values, {}, operands.memorySequences, {}, {}};
  return updateCache(at("cross"), *layer.cross, inputs, operands.crossCache);
}
