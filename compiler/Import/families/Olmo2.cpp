//===- Olmo2.cpp - OLMo 2 -----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Norms of the results of the branches instead of their inputs, and of all heads of queries and keys together.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readOlmo2Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"olmo2", "Olmo2", true, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50304;
  defaults.epsilon = 1e-5;
  defaults.padding = 1;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", false);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias}));
    attention.queryNorm = {decoder.norm(spec, path + ".self_attn.q_norm", keys.queryFeatures()), HeadNormSpec::Projection};
    attention.keyNorm = {decoder.norm(spec, path + ".self_attn.k_norm", keys.keyFeatures()), HeadNormSpec::Projection};
    attention.rotary = decoder.rotary;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionResultNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    layer.ffnResultNorm = decoder.norm(spec, path + ".post_feedforward_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
