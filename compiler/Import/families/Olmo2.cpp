//===- Olmo2.cpp - OLMo 2 and OLMo 3 ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with norms of the results of the branches instead of their inputs, one norm over all query heads together, and
// one over all key heads together. In OLMo 3, by default, three of every four layers have a window.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

static DecoderKeys readOlmo2Keys(ConfigReader &reader) {
  DecoderDefaults defaults;
  defaults.vocab = 50304;
  defaults.epsilon = 1e-5;
  defaults.padding = 1;
  defaults.headKeys = HeadKeys::All;
  return readDecoderKeys(reader, defaults);
}

/// Declares a layer with a window of |window| tokens, or without a window if |window| is empty, and with the table of
/// rotary embeddings |rotary|.
static LayerSpec declareOlmo2Layer(TransformerSpec &spec, const DecoderKeys &keys, const CausalDecoder &decoder, const std::string &path,
                                   bool bias, std::optional<int64_t> window, WeightId rotary) {
  LayerSpec layer;
  AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias}));
  attention.queryNorm = {decoder.norm(spec, path + ".self_attn.q_norm", keys.queryFeatures()), HeadNormSpec::Projection};
  attention.keyNorm = {decoder.norm(spec, path + ".self_attn.k_norm", keys.keyFeatures()), HeadNormSpec::Projection};
  attention.rotary = rotary;
  setWindow(attention, window);
  layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
  layer.attentionResultNorm = decoder.norm(spec, path + ".post_attention_layernorm");
  layer.ffnResultNorm = decoder.norm(spec, path + ".post_feedforward_layernorm");
  return layer;
}

Result<TransformerSpec> attune::readOlmo2Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"olmo2", "Olmo2", true, false, nullptr};
  ConfigReader reader(config);
  DecoderKeys keys = readOlmo2Keys(reader);
  bool bias = reader.flag("attention_bias", false);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    return declareOlmo2Layer(spec, keys, decoder, path, bias, std::nullopt, decoder.rotary);
  });
}

Result<TransformerSpec> attune::readOlmo3Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"olmo3", "Olmo3", true, false, nullptr};
  ConfigReader reader(config);
  DecoderKeys keys = readOlmo2Keys(reader);
  bool bias = reader.flag("attention_bias", false);
  auto windows = readWindows(reader, config, keys.layers, readWindow(reader, 4096), [](int64_t index) { return (index + 1) % 4 != 0; });
  RopeDefaults global, local;
  global.theta = local.theta = 5e5;
  // In transformers `rope_theta` applies only to layers without a window.
  local.thetaKey = nullptr;
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, global, "full_attention");
  decoder.slidingRope = readRope(reader, config, keys.headSize, keys.positions, local, "sliding_attention");
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    WeightId rotary = windows[index] ? decoder.slidingRotary : decoder.rotary;
    return declareOlmo2Layer(spec, keys, decoder, path, bias, windows[index], rotary);
  });
}
