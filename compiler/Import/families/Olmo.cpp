//===- Olmo.cpp - OLMo --------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with layer norms without weights and biases. Projected queries, keys and values may be clamped (`clip_qkv`).
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readOlmoSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"olmo", "Olmo", true, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50304;
  defaults.epsilon = 1e-5;
  defaults.padding = 1;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", false);
  std::optional<double> clip;
  if (reader.present("clip_qkv"))
    clip = reader.number("clip_qkv", 0, 0, 1e12);
  // No key sets the epsilon.
  keys.epsilon = 1e-5;
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::plainNorm;
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias});
    layer.attention->rotary = decoder.rotary;
    layer.attention->clip = clip;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
