//===- Qwen3.cpp - Qwen3 ------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with an RMS norm of each head of queries and keys; the layers after the first ones may attend to a window.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readQwen3Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"qwen3", "Qwen3", true, true, "transformer."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 151936;
  defaults.kvHeads = 32;
  defaults.headSize = 128;
  defaults.intermediate = 22016;
  defaults.positions = 32768;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", false);
  bool slides = reader.flag("use_sliding_window", false);
  std::optional<int64_t> window;
  if (slides && (!config.find("sliding_window") || reader.present("sliding_window")))
    window = reader.integer("sliding_window", 4096, {1, int64_t(1) << 31});
  int64_t firstSliding = reader.integer("max_window_layers", 28, {0, int64_t(1) << 31});
  auto windows = readWindows(reader, config, keys.layers, window, [&](int64_t index) { return index >= firstSliding; });
  RopeSpec rope = readRope(reader, config, keys.headSize, keys.positions);
  WeightId rotary = noWeight;
  auto tables = [&](TransformerSpec &spec, const std::string &prefix) {
    rotary = declareRope(spec, prefix + "rotary_emb", rope, keys.positions);
  };
  auto norm = [&](TransformerSpec &spec, const std::string &name, int64_t size) { return spec.rmsNorm(name, size, keys.epsilon); };
  auto layer = [&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias}));
    attention.queryNorm.norm = norm(spec, path + ".self_attn.q_norm", keys.headSize);
    attention.keyNorm.norm = norm(spec, path + ".self_attn.k_norm", keys.headSize);
    attention.rotary = rotary;
    setWindow(attention, windows[index]);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = norm(spec, path + ".input_layernorm", keys.hidden);
    layer.ffnNorm = norm(spec, path + ".post_attention_layernorm", keys.hidden);
    return layer;
  };
  return CausalDecoder(reader, classes, keys).declare(tables, layer, norm);
}
