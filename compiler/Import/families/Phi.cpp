//===- Phi.cpp - Phi ----------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Parallel branches with one norm, rotary embeddings of the first part of each head, biases in all projections.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readPhiSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"phi", "Phi", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 51200, defaults.hidden = 2048, defaults.layers = 24, defaults.intermediate = 8192;
  defaults.epsilonKey = "layer_norm_eps", defaults.epsilon = 1e-5, defaults.activation = "gelu_new";
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool normsHeads = reader.flag("qk_layernorm", false);
  RopeDefaults ropeDefaults;
  ropeDefaults.partial = true, ropeDefaults.partialFactor = 0.5;
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::norm;
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, ropeDefaults);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    const std::string module = path + ".self_attn";
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    attention.query = spec.linear(module + ".q_proj", keys.hidden, keys.queryFeatures());
    attention.key = spec.linear(module + ".k_proj", keys.hidden, keys.keyFeatures());
    attention.value = spec.linear(module + ".v_proj", keys.hidden, keys.keyFeatures());
    attention.output = spec.linear(module + ".dense", keys.queryFeatures(), keys.hidden);
    if (normsHeads) {
      attention.queryNorm.norm = decoder.norm(spec, module + ".q_layernorm", keys.headSize);
      attention.keyNorm.norm = decoder.norm(spec, module + ".k_layernorm", keys.headSize);
    }
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.fc1", path + ".mlp.fc2");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.parallel = true;
    return layer;
  };
  decoder.names.norm = "final_layernorm";
  decoder.head.bias = true;
  return decoder.declare(layer);
}
