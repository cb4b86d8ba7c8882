//===- Granite.cpp - Granite --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with constant factors of embeddings, scores, branches and logits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readGraniteSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"granite", "Granite", false, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool attentionBias = reader.flag("attention_bias", false), ffnBias = reader.flag("mlp_bias", false);
  constexpr double most = 1e12;
  double branches = reader.number("residual_multiplier", 1, -most, most), scores = reader.number("attention_multiplier", 1, -most, most);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {attentionBias, attentionBias});
    layer.attention->scale = scores;
    layer.attention->output = spec.scaled(layer.attention->output, branches);
    layer.attention->rotary = decoder.rotary;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp", ffnBias);
    layer.ffn->down = spec.scaled(layer.ffn->down, branches);
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  decoder.embeddingScale = reader.number("embedding_multiplier", 1, -most, most);
  decoder.scalesGivenVectors = true;
  decoder.head.scale = 1 / reader.number("logits_scaling", 1, 1e-12, most);
  return decoder.declare(layer);
}
