//===- GptOss.cpp - GPT-OSS ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with experts, biases in all projections, an attention sink for each head and a window in every other layer.
// Tensors of experts are `[experts, in, out]`; in `gate_up_proj`, columns of gate and up alternate.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Experts.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// Returns the indices |first|, |first| + 2, … below |end|.
static std::vector<int64_t> everySecond(int64_t first, int64_t end) {
  std::vector<int64_t> indices;
  for (int64_t i = first; i < end; i += 2)
    indices.push_back(i);
  return indices;
}

/// Declares the experts below |path| as stacks `[experts, out, in]`.
static FfnSpec declareNetworks(TransformerSpec &spec, const DecoderKeys &keys, int64_t count, const std::string &path) {
  int64_t hidden = keys.hidden, features = keys.intermediate;
  WeightId gateUp = spec.tensor(path + ".gate_up_proj", {count, hidden, 2 * features});
  WeightId gateUpBias = spec.tensor(path + ".gate_up_proj_bias", {count, 2 * features});
  WeightId downs = spec.tensor(path + ".down_proj", {count, features, hidden});
  auto matrix = [&](WeightId stack, int64_t expert, std::vector<int64_t> shape) {
    return spec.reshape(spec.slice(stack, 0, expert, expert + 1), std::move(shape));
  };
  std::vector<WeightId> gate, up, down;
  for (int64_t expert = 0; expert < count; ++expert) {
    WeightId both = matrix(gateUp, expert, {hidden, 2 * features});
    gate.push_back(spec.transpose(spec.select(both, 1, everySecond(0, 2 * features))));
    up.push_back(spec.transpose(spec.select(both, 1, everySecond(1, 2 * features))));
    down.push_back(spec.transpose(matrix(downs, expert, {features, hidden})));
  }
  FfnSpec networks;
  networks.gate = {spec.stackWeights(std::move(gate)), spec.select(gateUpBias, 1, everySecond(0, 2 * features))};
  networks.up = {spec.stackWeights(std::move(up)), spec.select(gateUpBias, 1, everySecond(1, 2 * features))};
  networks.down = {spec.stackWeights(std::move(down)), spec.tensor(path + ".down_proj_bias", {count, hidden})};
  return networks;
}

Result<TransformerSpec> attune::readGptOssSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"gpt_oss", "GptOss", true, true, /*questionAnswering=*/nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 201088;
  defaults.hidden = defaults.intermediate = 2880;
  defaults.layers = 36;
  defaults.heads = 64;
  defaults.kvHeads = 8;
  defaults.headSize = 64;
  defaults.positions = 131072;
  defaults.epsilon = 1e-5;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  ExpertKeys experts = readExpertKeys(reader, {128, 4});
  ExpertsSpec::ClampedGlu glu = {reader.number("swiglu_limit", 7, 1e-30, 1e30), reader.number("swiglu_alpha", 1.702, -1e6, 1e6)};
  bool bias = reader.flag("attention_bias", true);
  auto windows = readWindows(reader, config, keys.layers, readWindow(reader, 128), [](int64_t index) { return index % 2 == 0; });
  RopeDefaults rope;
  rope.theta = 150000;
  rope.absent = {/*factor=*/32, /*original=*/4096, /*truncate=*/false};
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, rope);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias}));
    attention.sinks = spec.tensor(path + ".self_attn.sinks", {keys.heads});
    attention.rotary = decoder.rotary;
    setWindow(attention, windows[index]);
    ExpertsSpec &mixture = layer.experts.emplace();
    mixture.router = spec.linear(path + ".mlp.router", keys.hidden, experts.count);
    mixture.chosen = experts.chosen;
    mixture.normalized = true;
    mixture.networks = declareNetworks(spec, keys, experts.count, path + ".mlp.experts");
    mixture.clampedGlu = glu;
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}
