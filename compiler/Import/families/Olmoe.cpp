//===- Olmoe.cpp - OLMoE ------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with one norm over all query heads together, one over all key heads together, and experts in place of
// feed-forwards.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Experts.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readOlmoeSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"olmoe", "Olmoe", false, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50304, defaults.hidden = 2048, defaults.layers = 16, defaults.heads = 16, defaults.intermediate = 2048;
  defaults.positions = 4096, defaults.epsilon = 1e-5, defaults.padding = 1;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  ExpertKeys experts = readExpertKeys(reader, {64, 8});
  bool bias = reader.flag("attention_bias", false), normalized = reader.flag("norm_topk_prob", false);
  reader.reject("clip_qkv", "limits of normed queries and keys are not implemented");
  if (keys.headSize * keys.heads != keys.hidden)
    reader.fail("head_dim", std::to_string(keys.hidden / keys.heads) + ", the features of a head");
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias}));
    attention.queryNorm = {decoder.norm(spec, path + ".self_attn.q_norm", keys.queryFeatures()), HeadNormSpec::Projection};
    attention.keyNorm = {decoder.norm(spec, path + ".self_attn.k_norm", keys.keyFeatures()), HeadNormSpec::Projection};
    attention.rotary = decoder.rotary;
    ExpertsSpec &mixture = layer.experts.emplace();
    mixture.router = spec.linear(path + ".mlp.gate", keys.hidden, experts.count, /*bias=*/false);
    mixture.chosen = experts.chosen;
    mixture.normalized = normalized;
    mixture.networks = declareExperts(spec, keys, experts.count, keys.intermediate, {path + ".mlp.experts", path + ".mlp.experts"});
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}
