//===- SmolLM3.cpp - SmolLM3 --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with some layers without rotary embeddings, and with layers that may have a window.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// Returns for each layer true if it has rotary embeddings. Reads `no_rope_layers`, a list with 1 for each layer that
/// has them and 0 for the others; without it, all layers but every `no_rope_layer_interval`-th have them.
static std::vector<bool> readRotaryLayers(ConfigReader &reader, const Config &config, int64_t layers) {
  std::vector<bool> turns(layers);
  if (!reader.present("no_rope_layers")) {
    int64_t interval = reader.integer("no_rope_layer_interval", 4, {1, int64_t(1) << 31});
    for (int64_t i = 0; i < layers; ++i)
      turns[i] = (i + 1) % interval != 0;
    return turns;
  }
  const Json &list = *config.find("no_rope_layers");
  bool valid = list.is_array() && int64_t(list.size()) == layers;
  for (int64_t i = 0; valid && i < layers; ++i) {
    valid = list[i] == 0 || list[i] == 1;
    turns[i] = list[i] == 1;
  }
  if (!valid)
    reader.fail("no_rope_layers", "a list of " + std::to_string(layers) + " numbers 0 or 1, as 'num_hidden_layers' says");
  return turns;
}

Result<TransformerSpec> attune::readSmolLM3Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"smollm3", "SmolLM3", true, true, "transformer."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 128256;
  defaults.hidden = 2048;
  defaults.layers = 36;
  defaults.heads = 16;
  defaults.kvHeads = 4;
  defaults.positions = 32768;
  defaults.tied = true;
  defaults.padding = 128004;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool attentionBias = reader.flag("attention_bias", false), ffnBias = reader.flag("mlp_bias", false);
  std::vector<bool> turns = readRotaryLayers(reader, config, keys.layers);
  std::optional<int64_t> window = reader.flag("use_sliding_window", false) ? readWindow(reader, std::nullopt) : std::nullopt;
  auto windows = readWindows(reader, config, keys.layers, window, [&](int64_t index) { return !turns[index]; });
  RopeDefaults ropeDefaults;
  ropeDefaults.theta = 2e6;
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, ropeDefaults);
  auto layer = [&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {attentionBias, attentionBias});
    layer.attention->rotary = turns[index] ? decoder.rotary : noWeight;
    setWindow(*layer.attention, windows[index]);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp", ffnBias);
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
