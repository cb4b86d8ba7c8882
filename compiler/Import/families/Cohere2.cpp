//===- Cohere2.cpp - Cohere 2 -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Cohere with windows in most layers; only these have rotary embeddings.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readCohere2Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"cohere2", "Cohere2", false, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 256000;
  defaults.hidden = 8192;
  defaults.layers = 40;
  defaults.heads = 64;
  defaults.intermediate = 22528;
  defaults.positions = 8192;
  defaults.epsilon = 1e-5;
  defaults.epsilonKey = "layer_norm_eps";
  defaults.tied = true;
  defaults.padding = 0;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", false);
  std::optional<int64_t> window;
  if (!config.find("sliding_window") || reader.present("sliding_window"))
    window = reader.integer("sliding_window", 4096, {1, int64_t(1) << 31});
  int64_t pattern = reader.integer("sliding_window_pattern", 4, {1, int64_t(1) << 31});
  auto windows = readWindows(reader, config, keys.layers, window, [&](int64_t index) { return (index + 1) % pattern != 0; });
  RopeSpec rope = readRope(reader, config, keys.headSize, keys.positions);
  WeightId rotary = noWeight;
  auto tables = [&](TransformerSpec &spec, const std::string &prefix) {
    rotary = declareRope(spec, prefix + "rotary_emb", rope, keys.positions);
  };
  auto norm = [&](TransformerSpec &spec, const std::string &name, int64_t size) { return spec.normWithoutBias(name, size, keys.epsilon); };
  auto layer = [&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias}));
    attention.rotary = windows[index] ? rotary : noWeight;
    attention.interleaved = true;
    setWindow(attention, windows[index]);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = norm(spec, path + ".input_layernorm", keys.hidden);
    layer.parallel = true;
    return layer;
  };
  CausalDecoder decoder(reader, classes, keys);
  decoder.head.scale = reader.number("logit_scale", 0.0625, -1e12, 1e12);
  return decoder.declare(tables, layer, norm);
}
