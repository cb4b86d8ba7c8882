//===- Glm.cpp - GLM and GLM-4 ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with rotary embeddings of pairs of neighboring components in the first half of each head, and one projection
// for gate and up. GLM-4 (`glm4`) also has norms of the results of branches.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

static Result<TransformerSpec> readGlm(const Config &config, const DecoderClasses &classes, bool normsResults) {
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 151552, defaults.layers = 40, defaults.kvHeads = 2, defaults.headSize = 128, defaults.intermediate = 13696;
  defaults.positions = 131072, defaults.epsilon = 1.5625e-7, defaults.padding = 151329;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", true);
  RopeDefaults ropeDefaults;
  ropeDefaults.partial = true, ropeDefaults.partialFactor = 0.5;
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, ropeDefaults);
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias}));
    attention.rotary = decoder.rotary;
    attention.interleaved = true;
    layer.ffn = declareJoinedFfn(spec, keys, path + ".mlp.gate_up_proj", path + ".mlp.down_proj");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    if (normsResults) {
      layer.attentionResultNorm = decoder.norm(spec, path + ".post_self_attn_layernorm");
      layer.ffnResultNorm = decoder.norm(spec, path + ".post_mlp_layernorm");
    }
    return layer;
  });
}

Result<TransformerSpec> attune::readGlmSpec(const Config &config) {
  return readGlm(config, {"glm", "Glm", true, true, nullptr}, /*normsResults=*/false);
}

Result<TransformerSpec> attune::readGlm4Spec(const Config &config) {
  return readGlm(config, {"glm4", "Glm4", true, true, nullptr}, /*normsResults=*/true);
}
