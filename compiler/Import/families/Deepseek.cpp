//===- Deepseek.cpp - DeepSeek-V2 and V3 ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Latent attention: queries are projected from a small normalized vector, keys and values from another one. Only a part
// of the components of a query or key is rotated by rotary embeddings. In keys, this part is the same for all heads and
// is projected from the input of the attention. The rotated part is the last part of a head in the files and the first
// one in the compiled model. After the first layers, experts take the place of the feed-forward.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Experts.h"
#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;

namespace {

/// The keys of these families that other decoders lack.
struct DeepseekKeys {
  /// The numbers of features of the small vectors: |queryRank| of those that are projected to queries, 0 if the input
  /// of the layer is projected to queries directly; |keyRank| of those that are projected to keys and values.
  int64_t queryRank, keyRank;
  /// The numbers of components of the part of a query or key without rotary embeddings (|plain|), of the part with them
  /// (|rotated|), and of a value (|value|).
  int64_t plain, rotated, value;
  bool attentionBias, ffnBias;
  double scale;
  RouterKeys router;
};

} // namespace

/// Returns the factor of scores: 1 / sqrt(|headSize|), multiplied by (0.1 mscale_all_dim ln(factor) + 1)^2 if the
/// scaling of rotary embeddings has a type other than `default`, `mscale_all_dim` (YaRN) and a `factor` above 1.
static double readScale(ConfigReader &reader, const Config &config, double headSize) {
  const Config scaling = config.object(hasRopeScaling(config) ? "rope_scaling" : "rope_parameters");
  ConfigReader values(scaling);
  const char *typeKey = values.present("rope_type") ? "rope_type" : "type";
  double scale = 1 / std::sqrt(headSize), most = 1e12;
  if (!values.present(typeKey) || values.string(typeKey) == "default" || !values.present("mscale_all_dim"))
    return scale;
  double factor = values.number("factor", 1, 1e-6, most), all = values.number("mscale_all_dim", 0, -most, most);
  reader.join(values);
  double growth = factor <= 1 || all == 0 ? 1 : 0.1 * all * std::log(factor) + 1;
  return scale * growth * growth;
}

/// Selects |count| rows from each of the |heads| heads of |linear|, which have |size| rows each: those from row |begin|
/// on, where row 0 of the head follows row |size| - 1. The result has no bias.
static LinearSpec rowsOfHeads(TransformerSpec &spec, const LinearSpec &linear, int64_t heads, int64_t size, int64_t begin, int64_t count) {
  std::vector<int64_t> rows;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t i = 0; i < count; ++i)
      rows.push_back(head * size + (begin + i) % size);
  return {spec.select(linear.weight, 0, std::move(rows)), noWeight};
}

static AttentionSpec declareLatentAttention(TransformerSpec &spec, const DecoderKeys &keys, const DeepseekKeys &own,
                                            const std::string &path) {
  constexpr double epsilon = 1e-6; // of the norms in an attention; `rms_norm_eps` does not apply to them
  int64_t size = own.plain + own.rotated, queryFeatures = keys.heads * size;
  AttentionSpec attention;
  LinearSpec query;
  if (own.queryRank == 0) {
    query = spec.linear(path + ".q_proj", keys.hidden, queryFeatures, /*bias=*/false);
  } else {
    attention.queryLatent.projection = spec.linear(path + ".q_a_proj", keys.hidden, own.queryRank, own.attentionBias);
    attention.queryLatent.norm = spec.rmsNorm(path + ".q_a_layernorm", own.queryRank, epsilon);
    query = spec.linear(path + ".q_b_proj", own.queryRank, queryFeatures, /*bias=*/false);
  }
  // The rows of each head are reordered, so that rotated components come first.
  attention.query = rowsOfHeads(spec, query, keys.heads, size, own.plain, size);
  LinearSpec both = spec.linear(path + ".kv_a_proj_with_mqa", keys.hidden, own.keyRank + own.rotated, own.attentionBias);
  attention.keyLatent.projection = spec.features(both, 0, own.keyRank);
  attention.sharedKey = spec.features(both, own.keyRank, own.keyRank + own.rotated);
  attention.keyLatent.norm = spec.rmsNorm(path + ".kv_a_layernorm", own.keyRank, epsilon);
  int64_t pair = own.plain + own.value;
  LinearSpec keysAndValues = spec.linear(path + ".kv_b_proj", own.keyRank, keys.heads * pair, /*bias=*/false);
  attention.key = rowsOfHeads(spec, keysAndValues, keys.heads, pair, 0, own.plain);
  attention.value = rowsOfHeads(spec, keysAndValues, keys.heads, pair, own.plain, own.value);
  attention.output = spec.linear(path + ".o_proj", keys.heads * own.value, keys.hidden, own.attentionBias);
  setDecoderAttention(attention, keys);
  attention.scale = own.scale;
  return attention;
}

/// Reads the keys that both versions share; does not set |ffnBias|. Defaults of the router's keys are in |router|.
static DeepseekKeys readDeepseekKeys(ConfigReader &reader, const Config &config, const RouterDefaults &router) {
  constexpr IntegerRange size = {1, 1 << 24};
  DeepseekKeys own;
  own.queryRank = reader.knows("q_lora_rank") && !reader.present("q_lora_rank") ? 0 : reader.integer("q_lora_rank", 1536, size);
  own.keyRank = reader.integer("kv_lora_rank", 512, size);
  own.plain = reader.integer("qk_nope_head_dim", 128, size);
  own.rotated = reader.integer("qk_rope_head_dim", 64, size);
  own.value = reader.integer("v_head_dim", 128, size);
  own.attentionBias = reader.flag("attention_bias", false);
  own.scale = readScale(reader, config, double(own.plain + own.rotated));
  own.router = readRouterKeys(reader, router);
  if (reader.present("moe_layer_freq") && reader.integer("moe_layer_freq", 1, size) != 1)
    reader.fail("moe_layer_freq", "1, as every layer after the first ones has experts");
  return own;
}

static Result<TransformerSpec> declareDeepseek(ConfigReader &reader, const Config &config, const DecoderClasses &classes,
                                               const DecoderKeys &keys, const DeepseekKeys &own, bool interleaved) {
  if (keys.kvHeads != keys.heads)
    reader.fail("num_key_value_heads", "the number of 'num_attention_heads', which is " + std::to_string(keys.heads));
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, own.rotated, keys.positions);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareLatentAttention(spec, keys, own, path + ".self_attn"));
    attention.rotary = decoder.rotary;
    attention.interleaved = interleaved;
    if (index >= own.router.firstSparse)
      layer.experts = declareRoutedExperts(spec, keys, own.router, path + ".mlp", own.ffnBias);
    else
      layer.ffn = declareGatedFfn(spec, keys, path + ".mlp", own.ffnBias);
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}

Result<TransformerSpec> attune::readDeepseekV2Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"deepseek_v2", "DeepseekV2", true, false, nullptr};
  static constexpr std::pair<const char *, bool> methods[] = {{"greedy", false}, {"group_limited_greedy", true}};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 102400;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  DeepseekKeys own = readDeepseekKeys(reader, config, {{64, 6}, 2, 1407, 0, 1, 1, 1, "num_experts"});
  own.ffnBias = reader.flag("mlp_bias", false);
  const auto *method = reader.choose("topk_method", reader.string("topk_method", "greedy"), methods);
  if (!method || !method->second)
    own.router.groups = 1;
  own.router.groupKeys = 1;
  static constexpr std::pair<const char *, int> scores[] = {{"softmax", 0}};
  reader.choose("scoring_func", reader.string("scoring_func", "softmax"), scores);
  reader.reject("norm_topk_prob", "shares of the chosen experts alone are not implemented for this family, and transformers ignores them");
  return declareDeepseek(reader, config, classes, keys, own, /*interleaved=*/true);
}

Result<TransformerSpec> attune::readDeepseekV3Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"deepseek_v3", "DeepseekV3", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 129280, defaults.hidden = 7168, defaults.layers = 61, defaults.heads = defaults.kvHeads = 128;
  defaults.intermediate = 18432, defaults.positions = 4096;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  DeepseekKeys own = readDeepseekKeys(reader, config, {{256, 8}, 1, 2048, 3, 8, 4, 2.5});
  own.ffnBias = false;
  own.router.sigmoid = true;
  own.router.normalized = reader.flag("norm_topk_prob", true);
  static constexpr std::pair<const char *, int> scores[] = {{"sigmoid", 0}}, methods[] = {{"noaux_tc", 0}};
  reader.choose("scoring_func", reader.string("scoring_func", "sigmoid"), scores);
  reader.choose("topk_method", reader.string("topk_method", "noaux_tc"), methods);
  return declareDeepseek(reader, config, classes, keys, own, reader.flag("rope_interleave", true));
}
