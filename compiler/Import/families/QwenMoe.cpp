//===- QwenMoe.cpp - Qwen2 and Qwen3 with experts -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Qwen2 and Qwen3 with experts in place of the feed-forward in some layers. Qwen2-MoE has an expert that all tokens
// use. If `use_sliding_window` is true, layers 0, 2, … below `max_window_layers` have a window in Qwen2, unless
// `layer_types` lists others; in Qwen3 all layers have one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Experts.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

namespace {

/// The keys of these families that other decoders lack.
struct QwenMoeKeys {
  ExpertKeys experts;
  /// The numbers of inner features of an expert, and of the expert that all tokens use; |sharedFeatures| is 0 without
  /// one.
  int64_t features, sharedFeatures;
  bool normalized;
  AttentionBiases biases;
  std::vector<bool> sparse;
  std::vector<std::optional<int64_t>> windows;
};

} // namespace

static ExpertsSpec declareMixture(TransformerSpec &spec, const DecoderKeys &keys, const QwenMoeKeys &own, const std::string &path) {
  ExpertsSpec mixture;
  mixture.router = spec.linear(path + ".gate", keys.hidden, own.experts.count, /*bias=*/false);
  mixture.chosen = own.experts.chosen;
  mixture.normalized = own.normalized;
  mixture.networks = declareExperts(spec, keys, own.experts.count, own.features, {path + ".experts", path + ".experts"});
  if (own.sharedFeatures == 0)
    return mixture;
  DecoderKeys shared = keys;
  shared.intermediate = own.sharedFeatures;
  mixture.shared = declareGatedFfn(spec, shared, path + ".shared_expert");
  mixture.sharedGate = spec.linear(path + ".shared_expert_gate", keys.hidden, 1, /*bias=*/false);
  return mixture;
}

static Result<TransformerSpec> declareQwenMoe(ConfigReader &reader, const Config &config, const DecoderClasses &classes,
                                              const DecoderKeys &keys, const QwenMoeKeys &own, bool normsHeads) {
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", own.biases));
    if (normsHeads) {
      attention.queryNorm.norm = decoder.norm(spec, path + ".self_attn.q_norm", keys.headSize);
      attention.keyNorm.norm = decoder.norm(spec, path + ".self_attn.k_norm", keys.headSize);
    }
    attention.rotary = decoder.rotary;
    setWindow(attention, own.windows[index]);
    if (own.sparse[index])
      layer.experts = declareMixture(spec, keys, own, path + ".mlp");
    else
      layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}

Result<TransformerSpec> attune::readQwen2MoeSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"qwen2_moe", "Qwen2Moe"};
  constexpr IntegerRange size = {1, 1 << 24};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 151936;
  defaults.hidden = 2048;
  defaults.layers = 24;
  defaults.heads = defaults.kvHeads = 16;
  defaults.intermediate = 5632;
  defaults.positions = 32768;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  QwenMoeKeys own;
  own.experts = readExpertKeys(reader, {60, 4});
  own.features = reader.integer("moe_intermediate_size", 1408, size);
  own.sharedFeatures = reader.integer("shared_expert_intermediate_size", 5632, size);
  own.normalized = reader.flag("norm_topk_prob", false);
  own.biases.queryKeyValue = reader.flag("qkv_bias", true);
  own.sparse = readSparseLayers(reader, config, keys.layers);
  std::optional<int64_t> window = reader.flag("use_sliding_window", false) ? readWindow(reader, 4096) : std::nullopt;
  int64_t firstFull = reader.integer("max_window_layers", 28, {0, int64_t(1) << 31});
  own.windows = readWindows(reader, config, keys.layers, window, [&](int64_t index) { return index % 2 == 0 && index < firstFull; });
  return declareQwenMoe(reader, config, classes, keys, own, /*normsHeads=*/false);
}

Result<TransformerSpec> attune::readQwen3MoeSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"qwen3_moe", "Qwen3Moe", true, true, "transformer."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 151936;
  defaults.hidden = 2048;
  defaults.layers = 24;
  defaults.kvHeads = 4;
  defaults.intermediate = 6144;
  defaults.positions = 32768;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  QwenMoeKeys own;
  own.experts = readExpertKeys(reader, {128, 8});
  own.features = reader.integer("moe_intermediate_size", 768, {1, 1 << 24});
  own.sharedFeatures = 0;
  own.normalized = reader.flag("norm_topk_prob", false);
  own.biases.queryKeyValue = own.biases.output = reader.flag("attention_bias", false);
  own.sparse = readSparseLayers(reader, config, keys.layers);
  std::optional<int64_t> window = reader.flag("use_sliding_window", false) ? readWindow(reader, 4096) : std::nullopt;
  own.windows.assign(keys.layers, window);
  return declareQwenMoe(reader, config, classes, keys, own, /*normsHeads=*/true);
}
