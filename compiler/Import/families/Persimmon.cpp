//===- Persimmon.cpp - Persimmon ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama's names of modules, but GPT-NeoX's projections and their names: one for queries, keys and values, packed head
// by head, and feed-forwards without gate. Norms are layer norms; each head of queries and keys has one, too.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readPersimmonSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"persimmon", "Persimmon", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 262144, defaults.layers = 36, defaults.heads = 64, defaults.intermediate = 16384, defaults.positions = 16384;
  defaults.epsilonKey = "layer_norm_eps", defaults.epsilon = 1e-5, defaults.activation = "relu2";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool normsHeads = reader.flag("qk_layernorm", true);
  RopeDefaults ropeDefaults;
  ropeDefaults.partial = true, ropeDefaults.partialFactor = 0.5;
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::norm;
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, ropeDefaults);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    const std::string module = path + ".self_attn";
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    spec.splitByHead(attention, spec.linear(module + ".query_key_value", keys.hidden, 3 * keys.hidden), keys.heads);
    attention.output = spec.linear(module + ".dense", keys.hidden, keys.hidden);
    if (normsHeads) {
      attention.queryNorm.norm = decoder.norm(spec, module + ".q_layernorm", keys.headSize);
      attention.keyNorm.norm = decoder.norm(spec, module + ".k_layernorm", keys.headSize);
    }
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.dense_h_to_4h", path + ".mlp.dense_4h_to_h");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  decoder.names.norm = "final_layernorm";
  return decoder.declare(layer);
}
