//===- Nemotron.cpp - Nemotron ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with layer norms whose factors are 1 + weight, rotary embeddings of the first part of each head, and
// feed-forwards without gate.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readNemotronSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"nemotron", "Nemotron", true, true, "transformer."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 256000, defaults.hidden = 6144, defaults.heads = 48, defaults.intermediate = 24576, defaults.positions = 4096;
  defaults.epsilonKey = "norm_eps", defaults.epsilon = 1e-5, defaults.activation = "relu2";
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool attentionBias = reader.flag("attention_bias", false), ffnBias = reader.flag("mlp_bias", false);
  RopeDefaults ropeDefaults;
  ropeDefaults.partial = true, ropeDefaults.partialFactor = 0.5;
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::shiftedNorm;
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, ropeDefaults);
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {attentionBias, attentionBias});
    layer.attention->rotary = decoder.rotary;
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.up_proj", path + ".mlp.down_proj", ffnBias);
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}
