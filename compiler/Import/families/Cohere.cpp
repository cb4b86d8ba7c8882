//===- Cohere.cpp - Cohere ----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Branches that read the same norm of their input, layer norms without biases, rotary embeddings of neighbouring components, scaled logits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readCohereSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"cohere", "Cohere", false, false, nullptr};
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
  bool bias = reader.flag("attention_bias", false), normsHeads = reader.flag("use_qk_norm", false);
  RopeSpec rope = readRope(reader, config, keys.headSize, keys.positions);
  WeightId rotary = noWeight;
  auto tables = [&](TransformerSpec &spec, const std::string &prefix) {
    rotary = declareRope(spec, prefix + "rotary_emb", rope, keys.positions);
  };
  auto norm = [&](TransformerSpec &spec, const std::string &name, int64_t size) { return spec.normWithoutBias(name, size, keys.epsilon); };
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias}));
    if (normsHeads) {
      attention.queryNorm = spec.headNorm(path + ".self_attn.q_norm", keys.heads, keys.headSize, keys.epsilon);
      attention.keyNorm = spec.headNorm(path + ".self_attn.k_norm", keys.kvHeads, keys.headSize, keys.epsilon);
    }
    attention.rotary = rotary;
    attention.interleaved = true;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = norm(spec, path + ".input_layernorm", keys.hidden);
    layer.parallel = true;
    return layer;
  };
  CausalDecoder decoder(reader, classes, keys);
  decoder.head.scale = reader.number("logit_scale", 0.0625, -1e12, 1e12);
  return decoder.declare(tables, layer, norm);
}
