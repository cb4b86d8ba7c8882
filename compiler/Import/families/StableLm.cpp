//===- StableLm.cpp - StableLM ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with layer norms, rotary embeddings of the first part of each head, and optionally parallel branches.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readStableLmSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"stablelm", "StableLm", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50304;
  defaults.hidden = 2560;
  defaults.intermediate = 6912;
  defaults.kvHeads = 32;
  defaults.positions = 4096;
  defaults.epsilon = 1e-5;
  defaults.epsilonKey = "layer_norm_eps";
  defaults.headKeys = HeadKeys::KeyHeads;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("use_qkv_bias", false), normsHeads = reader.flag("qk_layernorm", false);
  bool parallel = reader.flag("use_parallel_residual", false);
  RopeDefaults ropeDefaults;
  ropeDefaults.partial = true;
  ropeDefaults.partialFactor = 0.25;
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::norm;
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, ropeDefaults);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias}));
    if (normsHeads) {
      attention.queryNorm = spec.separateHeadNorm(path + ".self_attn.q_layernorm.norms", keys.heads, keys.headSize, keys.epsilon);
      attention.keyNorm = spec.separateHeadNorm(path + ".self_attn.k_layernorm.norms", keys.kvHeads, keys.headSize, keys.epsilon);
    }
    attention.rotary = decoder.rotary;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.parallel = parallel;
    if (!parallel)
      layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
