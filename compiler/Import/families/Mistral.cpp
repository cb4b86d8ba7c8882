//===- Mistral.cpp - Mistral --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with a window of tokens that each token attends to, in all layers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readMistralSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"mistral", "Mistral"};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.kvHeads = 8;
  defaults.intermediate = 14336;
  defaults.positions = 4096 * 32;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  // Absent is not null here: null switches the window off.
  std::optional<int64_t> window = 4096;
  if (config.find("sliding_window"))
    window = reader.present("sliding_window") ? std::optional(reader.integer("sliding_window", 4096, {1, int64_t(1) << 31})) : std::nullopt;
  RopeSpec rope = readRope(reader, config, keys.headSize, keys.positions);
  WeightId rotary = noWeight;
  auto tables = [&](TransformerSpec &spec, const std::string &prefix) {
    rotary = declareRope(spec, prefix + "rotary_emb", rope, keys.positions);
  };
  auto norm = [&](TransformerSpec &spec, const std::string &name, int64_t size) { return spec.rmsNorm(name, size, keys.epsilon); };
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn");
    layer.attention->rotary = rotary;
    setWindow(*layer.attention, window);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = norm(spec, path + ".input_layernorm", keys.hidden);
    layer.ffnNorm = norm(spec, path + ".post_attention_layernorm", keys.hidden);
    return layer;
  };
  return CausalDecoder(reader, classes, keys).declare(tables, layer, norm);
}
