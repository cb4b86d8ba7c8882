//===- Cohere.cpp - Cohere 1 and 2 ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Parallel branches with one norm, layer norms without biases, rotary embeddings of pairs of neighboring components,
// scaled logits. Cohere 1 may have norms of the heads of queries and keys. In Cohere 2 most layers have a window, and
// only these layers have rotary embeddings.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// Reads a model of Cohere 2, if |isCohere2|, or of Cohere 1.
static Result<TransformerSpec> readCohere(const Config &config, const DecoderClasses &classes, bool isCohere2) {
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 256000, defaults.hidden = 8192, defaults.layers = 40, defaults.heads = 64;
  defaults.intermediate = 22528, defaults.positions = 8192;
  defaults.epsilonKey = "layer_norm_eps", defaults.epsilon = 1e-5;
  defaults.tied = true, defaults.padding = 0;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", false), normsHeads = !isCohere2 && reader.flag("use_qk_norm", false);
  std::vector<std::optional<int64_t>> windows(keys.layers);
  if (isCohere2) {
    int64_t pattern = reader.integer("sliding_window_pattern", 4, {1, int64_t(1) << 31});
    windows = readWindows(reader, config, keys.layers, readWindow(reader, 4096), [&](int64_t index) { return (index + 1) % pattern != 0; });
  }
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::normWithoutBias;
  RopeDefaults rope;
  rope.theta = isCohere2 ? 1e4 : 5e5;
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, rope);
  decoder.head.scale = reader.number("logit_scale", 0.0625, -1e12, 1e12);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias}));
    if (normsHeads) {
      attention.queryNorm = spec.headNorm(path + ".self_attn.q_norm", keys.heads, keys.headSize, keys.epsilon);
      attention.keyNorm = spec.headNorm(path + ".self_attn.k_norm", keys.kvHeads, keys.headSize, keys.epsilon);
    }
    attention.rotary = !isCohere2 || windows[index] ? decoder.rotary : noWeight;
    attention.interleaved = true;
    setWindow(attention, windows[index]);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.parallel = true;
    return layer;
  });
}

Result<TransformerSpec> attune::readCohereSpec(const Config &config) {
  return readCohere(config, {"cohere", "Cohere", false, false, nullptr}, /*isCohere2=*/false);
}

Result<TransformerSpec> attune::readCohere2Spec(const Config &config) {
  return readCohere(config, {"cohere2", "Cohere2", false, false, nullptr}, /*isCohere2=*/true);
}
