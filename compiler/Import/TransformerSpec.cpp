//===- TransformerSpec.cpp - The description of a model of any family -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/TransformerSpec.h"

#include <algorithm>

using namespace attune;
using mlir::xfmr::Activation;

LinearSpec TransformerSpec::linear(const std::string &name, int64_t in, int64_t out, bool bias) {
  LinearSpec spec;
  spec.weight = tensor(name + ".weight", {out, in});
  if (bias)
    spec.bias = tensor(name + ".bias", {out});
  return spec;
}

LinearSpec TransformerSpec::joinedLinear(const std::string &name, const std::vector<std::string> &parts, int64_t in, int64_t out,
                                         bool bias) {
  LinearSpec joined = linear(name, in, out, bias);
  int64_t count = int64_t(parts.size());
  std::vector<WeightId> partWeights, partBiases;
  for (const std::string &part : parts) {
    partWeights.push_back(otherTensor(part + ".weight", {out / count, in}));
    if (bias)
      partBiases.push_back(otherTensor(part + ".bias", {out / count}));
  }
  setStandIn(joined.weight, concat(0, partWeights));
  if (bias)
    setStandIn(joined.bias, concat(0, partBiases));
  return joined;
}

LinearSpec TransformerSpec::classifier(const std::string &name, int64_t in, int64_t labels, bool bias) {
  classes = labels;
  return linear(name, in, labels, bias);
}

LinearSpec TransformerSpec::transposedLinear(const std::string &name, int64_t in, int64_t out) {
  return {transpose(tensor(name + ".weight", {in, out})), tensor(name + ".bias", {out})};
}

NormSpec TransformerSpec::norm(const std::string &name, int64_t size, double epsilon) {
  return {tensor(name + ".weight", {size}), tensor(name + ".bias", {size}), epsilon};
}

NormSpec TransformerSpec::rmsNorm(const std::string &name, int64_t size, double epsilon) {
  return {tensor(name + ".weight", {size}), noWeight, epsilon};
}

NormSpec TransformerSpec::shiftedRmsNorm(const std::string &name, int64_t size, double epsilon) {
  return {shift(tensor(name + ".weight", {size}), 1), noWeight, epsilon};
}

NormSpec TransformerSpec::shiftedNorm(const std::string &name, int64_t size, double epsilon) {
  NormSpec spec = norm(name, size, epsilon);
  spec.weight = shift(spec.weight, 1);
  return spec;
}

NormSpec TransformerSpec::normWithoutBias(const std::string &name, int64_t size, double epsilon) {
  return {tensor(name + ".weight", {size}), fill(name + ".no_bias", {size}, 0), epsilon};
}

NormSpec TransformerSpec::plainNorm(const std::string &name, int64_t size, double epsilon) {
  return {fill(name + ".no_weight", {size}, 1), fill(name + ".no_bias", {size}, 0), epsilon};
}

HeadNormSpec TransformerSpec::headNorm(const std::string &name, int64_t heads, int64_t size, double epsilon) {
  HeadNormSpec spec;
  spec.norm = plainNorm(name, size, epsilon);
  spec.factors = reshape(tensor(name + ".weight", {heads, size}), {heads * size});
  return spec;
}

HeadNormSpec TransformerSpec::separateHeadNorm(const std::string &name, int64_t heads, int64_t size, double epsilon) {
  HeadNormSpec spec;
  spec.norm = plainNorm(name, size, epsilon);
  std::vector<WeightId> factors;
  for (int64_t head = 0; head < heads; ++head)
    factors.push_back(tensor(name + "." + std::to_string(head) + ".weight", {size}));
  spec.factors = concat(0, std::move(factors));
  return spec;
}

void TransformerSpec::addZeroBias(LinearSpec &linear, const std::string &name) {
  linear.bias = fill(name + ".no_bias", {shapeOf(linear.weight)[0]}, 0);
}

LinearSpec TransformerSpec::features(const LinearSpec &linear, int64_t begin, int64_t end) {
  LinearSpec part;
  part.weight = slice(linear.weight, 0, begin, end);
  if (linear.bias != noWeight)
    part.bias = slice(linear.bias, 0, begin, end);
  return part;
}

void TransformerSpec::splitByGroup(AttentionSpec &attention, const LinearSpec &joined, int64_t heads, int64_t kvHeads) {
  int64_t parts = heads / kvHeads + 2, headSize = shapeOf(joined.weight)[0] / (kvHeads * parts);
  auto select = [&](int64_t begin, int64_t end) {
    std::vector<int64_t> rows;
    for (int64_t group = 0; group < kvHeads; ++group)
      for (int64_t row = begin * headSize; row < end * headSize; ++row)
        rows.push_back(group * parts * headSize + row);
    LinearSpec part;
    part.weight = WeightList::select(joined.weight, 0, rows);
    if (joined.bias != noWeight)
      part.bias = WeightList::select(joined.bias, 0, rows);
    return part;
  };
  attention.query = select(0, parts - 2);
  attention.key = select(parts - 2, parts - 1);
  attention.value = select(parts - 1, parts);
}

void TransformerSpec::splitByPart(AttentionSpec &attention, const LinearSpec &joined, int64_t heads, int64_t kvHeads) {
  int64_t headSize = shapeOf(joined.weight)[0] / (heads + 2 * kvHeads), queries = heads * headSize, keys = kvHeads * headSize;
  attention.query = features(joined, 0, queries);
  attention.key = features(joined, queries, queries + keys);
  attention.value = features(joined, queries + keys, queries + 2 * keys);
}

LinearSpec TransformerSpec::scaled(const LinearSpec &linear, double factor) {
  return {scale(linear.weight, factor), linear.bias == noWeight ? noWeight : scale(linear.bias, factor)};
}

/// Returns a step whose |member| is |value|.
template <typename T>
static HeadStep makeStep(HeadStep::Kind kind, std::string path, T HeadStep::*member, T value) {
  HeadStep step(kind, std::move(path));
  step.*member = value;
  return step;
}

HeadStep attune::poolStep(mlir::xfmr::PoolKind kind, std::string path) {
  return makeStep(HeadStep::Pool, std::move(path), &HeadStep::pool, kind);
}

HeadStep attune::poolsStep(std::vector<mlir::xfmr::PoolKind> kinds, std::string path) {
  return makeStep(HeadStep::Pools, std::move(path), &HeadStep::pools, std::move(kinds));
}

HeadStep attune::firstVisibleStep(std::string path) { return HeadStep(HeadStep::FirstVisible, std::move(path)); }

HeadStep attune::lastTokenStep(std::optional<int64_t> padding, std::string path) {
  return makeStep(HeadStep::LastToken, std::move(path), &HeadStep::padding, padding);
}

HeadStep attune::lastVisibleStep(std::optional<int64_t> padding, std::string path) {
  return makeStep(HeadStep::LastVisible, std::move(path), &HeadStep::padding, padding);
}

HeadStep attune::lastEosStep(int64_t end, std::string path) { return makeStep(HeadStep::LastEos, std::move(path), &HeadStep::eosId, end); }

HeadStep attune::selectedTokenStep(std::string path) { return HeadStep(HeadStep::SelectedToken, std::move(path)); }

HeadStep attune::linearStep(LinearSpec linear, std::string path) {
  return makeStep(HeadStep::Linear, std::move(path), &HeadStep::linear, linear);
}

HeadStep attune::activationStep(Activation kind, std::string path) {
  return makeStep(HeadStep::Activation, std::move(path), &HeadStep::activation, kind);
}

HeadStep attune::normStep(NormSpec norm, std::string path) { return makeStep(HeadStep::Norm, std::move(path), &HeadStep::norm, norm); }

HeadStep attune::dropoutStep(double rate, std::string path) { return makeStep(HeadStep::Dropout, std::move(path), &HeadStep::rate, rate); }

HeadStep attune::softmaxStep(std::string path) { return HeadStep(HeadStep::Softmax, std::move(path)); }

HeadStep attune::scaleStep(double factor, std::string path) {
  return makeStep(HeadStep::Scale, std::move(path), &HeadStep::factor, factor);
}

HeadStep attune::softcapStep(double limit, std::string path) {
  return makeStep(HeadStep::Softcap, std::move(path), &HeadStep::factor, limit);
}

void attune::declareStartAndEnd(TransformerSpec &spec, const LinearSpec &both) {
  spec.outputs.push_back({"start_logits", {linearStep(spec.features(both, 0, 1), "qa_outputs")}, /*squeeze=*/true});
  spec.outputs.push_back({"end_logits", {linearStep(spec.features(both, 1, 2), "qa_outputs")}, /*squeeze=*/true});
}

Activation attune::readActivation(ConfigReader &reader, const char *key, const char *fallback) {
  return readActivationName(reader, key, reader.string(key, fallback));
}

Activation attune::readActivationName(ConfigReader &reader, const char *key, const std::string &name, const char *more) {
  static constexpr std::pair<const char *, Activation> table[] = {
      {"gelu", Activation::Gelu},
      {"gelu_python", Activation::Gelu},
      {"gelu_new", Activation::GeluTanh},
      {"gelu_pytorch_tanh", Activation::GeluTanh},
      {"gelu_fast", Activation::GeluTanh},
      {"relu", Activation::Relu},
      {"silu", Activation::Silu},
      {"swish", Activation::Silu},
      {"tanh", Activation::Tanh},
      {"gelu_accurate", Activation::GeluTanh},
      {"quick_gelu", Activation::QuickGelu},
      {"sigmoid", Activation::Sigmoid},
      {"relu6", Activation::Relu6},
      {"relu2", Activation::SquaredRelu},
      {"leaky_relu", Activation::LeakyRelu},
      {"linear", Activation::None},
  };
  std::string expected;
  for (const auto &[known, activation] : table)
    expected += (expected.empty() ? "one of " : ", ") + std::string(known);
  bool isKnown = std::any_of(std::begin(table), std::end(table), [&](const auto &entry) { return name == entry.first; });
  if (!isKnown && *more)
    reader.fail(key, expected + more);
  const auto *entry = reader.choose(key, name, table);
  return entry ? entry->second : Activation::None;
}

void attune::declarePast(TransformerSpec &spec) {
  spec.inputs.erase(
      std::remove_if(spec.inputs.begin(), spec.inputs.end(), [](const InputSpec &input) { return input.role == InputRole::PastKeyValues; }),
      spec.inputs.end());
  int64_t parts = spec.decoder ? spec.decoder->cachedParts() : 0;
  for (int64_t i = 0; i < parts * int64_t(spec.decoder ? spec.decoder->layers.size() : 0); ++i) {
    InputSpec input{std::string(pastGroup) + "." + std::to_string(i / parts) + "." + std::to_string(i % parts), InputRole::PastKeyValues};
    input.standard = false;
    input.stack = StackRole::Decoder;
    input.member = i;
    spec.inputs.push_back(std::move(input));
  }
}
