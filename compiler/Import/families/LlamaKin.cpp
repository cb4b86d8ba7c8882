//===- LlamaKin.cpp - Llama with other biases, rotations or activations ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Families whose layers are Llama's but for biases, the form of rotary embeddings, norms of rotated heads, or a
// feed-forward without gate. A LlamaVariant describes each family.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

#include <cmath>
#include <string_view>

using namespace attune;

namespace {

/// The classes, defaults and switches of a family.
struct LlamaVariant {
  DecoderClasses classes;
  DecoderDefaults defaults;
  RopeDefaults rope = {};
  /// The configuration keys that switch on biases of queries, keys and values, of the output projection, and of
  /// feed-forwards; null if there are no such biases. |hasAttentionBias| is the default of |attentionBias|; the others
  /// are false by default.
  const char *attentionBias = "attention_bias", *outputBias = "attention_bias", *ffnBias = "mlp_bias";
  bool hasAttentionBias = false;
  bool gated = true;
  bool interleaved = false;
  /// The names of the norms of queries and keys, which are applied to each head after its rotary embeddings; null if
  /// there are none.
  const char *queryNorm = nullptr, *keyNorm = nullptr;
};

} // namespace

static Result<TransformerSpec> readLlamaKinVariant(const Config &config, const LlamaVariant &variant) {
  ConfigReader reader(config);
  DecoderDefaults defaults = variant.defaults;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  auto bias = [&](const char *key, bool fallback) { return key && reader.flag(key, fallback); };
  AttentionBiases biases;
  biases.queryKeyValue = bias(variant.attentionBias, variant.hasAttentionBias);
  bool isShared = variant.outputBias && variant.attentionBias && variant.outputBias == std::string_view(variant.attentionBias);
  biases.output = isShared ? biases.queryKeyValue : bias(variant.outputBias, false);
  bool ffnBias = bias(variant.ffnBias, false);
  CausalDecoder decoder(reader, variant.classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, variant.rope);
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    const std::string module = path + ".self_attn.", mlp = path + ".mlp";
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", biases));
    attention.rotary = decoder.rotary;
    attention.interleaved = variant.interleaved;
    if (variant.queryNorm) {
      attention.queryNorm.norm = decoder.norm(spec, module + variant.queryNorm, keys.headSize);
      attention.keyNorm.norm = decoder.norm(spec, module + variant.keyNorm, keys.headSize);
      attention.normsTurned = true;
    }
    layer.ffn = variant.gated ? declareGatedFfn(spec, keys, mlp, ffnBias)
                              : declarePlainFfn(spec, keys, mlp + ".up_proj", mlp + ".down_proj", ffnBias);
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}

Result<TransformerSpec> attune::readArceeSpec(const Config &config) {
  LlamaVariant arcee{{"arcee", "Arcee", true, true, "transformer."}, {}};
  arcee.defaults.hidden = 2560, arcee.defaults.intermediate = 18432, arcee.defaults.positions = 4096;
  arcee.defaults.epsilon = 1e-5, arcee.defaults.activation = "relu2";
  arcee.gated = false;
  return readLlamaKinVariant(config, arcee);
}

Result<TransformerSpec> attune::readSeedOssSpec(const Config &config) {
  LlamaVariant seed{{"seed_oss", "SeedOss", true, true, "transformer."}, {}};
  seed.defaults.vocab = 155136, seed.defaults.layers = 64, seed.defaults.heads = 80, seed.defaults.kvHeads = 8;
  seed.defaults.headSize = 128, seed.defaults.intermediate = 27648, seed.defaults.positions = 524288, seed.defaults.padding = 1;
  seed.outputBias = "attention_out_bias", seed.hasAttentionBias = true;
  return readLlamaKinVariant(config, seed);
}

Result<TransformerSpec> attune::readHeliumSpec(const Config &config) {
  LlamaVariant helium{{"helium", "Helium", true, true, nullptr}, {}};
  helium.defaults.vocab = 48000, helium.defaults.hidden = 2560, helium.defaults.layers = 24, helium.defaults.heads = 20;
  helium.defaults.kvHeads = 20, helium.defaults.headSize = 128, helium.defaults.intermediate = 7040;
  helium.defaults.positions = 4096, helium.defaults.epsilon = 1e-8, helium.defaults.padding = 3;
  helium.rope.theta = 1e5;
  helium.outputBias = nullptr, helium.interleaved = true;
  return readLlamaKinVariant(config, helium);
}

Result<TransformerSpec> attune::readErnie45Spec(const Config &config) {
  LlamaVariant ernie{{"ernie4_5", "Ernie4_5", false, false, nullptr}, {}};
  ernie.defaults.vocab = 103424, ernie.defaults.hidden = 1024, ernie.defaults.layers = 18, ernie.defaults.heads = 16;
  ernie.defaults.kvHeads = 2, ernie.defaults.headSize = 128, ernie.defaults.intermediate = 3072, ernie.defaults.positions = 131072;
  ernie.defaults.epsilon = 1e-5, ernie.defaults.tied = true, ernie.defaults.padding = 0;
  ernie.rope.theta = 5e5;
  ernie.attentionBias = ernie.outputBias = ernie.ffnBias = "use_bias", ernie.interleaved = true;
  return readLlamaKinVariant(config, ernie);
}

Result<TransformerSpec> attune::readHunYuanSpec(const Config &config) {
  LlamaVariant hunyuan{{"hunyuan_v1_dense", "HunYuanDenseV1", true, false, nullptr}, {}};
  hunyuan.defaults.vocab = 290943, hunyuan.defaults.epsilon = 1e-5, hunyuan.defaults.padding = 0;
  hunyuan.rope.alpha = true;
  hunyuan.ffnBias = nullptr, hunyuan.queryNorm = "query_layernorm", hunyuan.keyNorm = "key_layernorm";
  return readLlamaKinVariant(config, hunyuan);
}
