//===- Glm4Moe.cpp - GLM-4.5 ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with rotary embeddings of the first half of each head; norms of the heads of queries and keys if `use_qk_norm`
// says so; and, after the first layers, experts that are chosen by sigmoids and a bias.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Experts.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readGlm4MoeSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"glm4_moe", "Glm4Moe", false, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 151552, defaults.layers = 46, defaults.heads = 96, defaults.kvHeads = 8, defaults.intermediate = 10944;
  defaults.positions = 131072, defaults.epsilon = 1e-5;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", false), normsHeads = reader.flag("use_qk_norm", false);
  RouterKeys router = readRouterKeys(reader, {{128, 8}, 1, 1408, 1, 1, 1});
  router.sigmoid = true;
  router.normalized = reader.flag("norm_topk_prob", true);
  RopeDefaults ropeDefaults;
  ropeDefaults.partial = true, ropeDefaults.partialFactor = 0.5;
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, ropeDefaults);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias}));
    attention.rotary = decoder.rotary;
    if (normsHeads) {
      attention.queryNorm.norm = decoder.norm(spec, path + ".self_attn.q_norm", keys.headSize);
      attention.keyNorm.norm = decoder.norm(spec, path + ".self_attn.k_norm", keys.headSize);
    }
    if (index >= router.firstSparse)
      layer.experts = declareRoutedExperts(spec, keys, router, path + ".mlp", /*bias=*/false);
    else
      layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}
