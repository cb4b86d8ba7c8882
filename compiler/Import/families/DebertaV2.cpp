//===- DebertaV2.cpp - DeBERTa, versions 2 and 3 --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Vectors of distances (see DebertaBase.cpp) are projected by the projections of queries and keys, or by projections of
// their own. Large distances may share buckets. A convolution of the embeddings may be added to the result of the first
// layer.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/DebertaBase.h"

using namespace attune;

static DebertaKeys readDebertaV2Keys(ConfigReader &reader) {
  DebertaKeys keys = readDebertaKeys(reader, {128100, 1536, 24, 24, 6144});
  keys.sharedProjections = reader.flag("share_att_key", false);
  keys.buckets = std::max<int64_t>(reader.integer("position_buckets", -1, {-1, 1 << 16}), 0);
  if (keys.buckets == 1)
    reader.fail("position_buckets", "2 or more buckets, or -1 for none");
  else if (keys.relative && keys.buckets && keys.maxDistance - 1 <= keys.buckets / 2)
    reader.fail("position_buckets", "less than twice the largest distance, " + std::to_string(keys.maxDistance - 1));
  else if (keys.relative && lastDistance(keys) > 1 << 16)
    reader.fail("position_buckets", "buckets that end at a distance up to 65536, as those of an even number do");
  for (const std::string &norm : reader.words("norm_rel_ebd")) {
    if (norm != "layer_norm" && norm != "none")
      reader.fail("norm_rel_ebd", "\"layer_norm\" or \"none\"");
    keys.normedTable |= norm == "layer_norm";
  }
  if (int64_t size = reader.integer("attention_head_size", keys.headSize(), {1, 1 << 24}); size != keys.headSize())
    reader.fail("attention_head_size", std::to_string(keys.headSize()) + ", 'hidden_size' / 'num_attention_heads'");
  keys.taps = std::max<int64_t>(reader.integer("conv_kernel_size", 0, {-1, 1 << 10}), 0);
  if (keys.taps == 0)
    return keys;
  if (keys.taps % 2 == 0)
    reader.fail("conv_kernel_size", "an odd number, with as many tokens before each token as after it");
  keys.groups = reader.integer("conv_groups", 1, {1, 1 << 24});
  if (keys.hidden % keys.groups != 0)
    reader.fail("conv_groups", "a divisor of 'hidden_size', " + std::to_string(keys.hidden));
  keys.convolution = readActivation(reader, "conv_act", "tanh");
  return keys;
}

static AttentionSpec declareDebertaV2Attention(TransformerSpec &spec, const DebertaKeys &keys, const std::string &path, WeightId table) {
  auto linear = [&](const char *name) { return spec.linear(path + name, keys.hidden, keys.hidden); };
  AttentionSpec attention;
  attention.query = linear(".query_proj");
  attention.key = linear(".key_proj");
  attention.value = linear(".value_proj");
  if (!keys.relative)
    return attention;
  if (keys.positionKeys)
    attention.relativeKey = projectDistances(spec, keys, table, keys.sharedProjections ? attention.key : linear(".pos_key_proj"));
  if (keys.positionQueries)
    attention.relativeQuery = projectDistances(spec, keys, table, keys.sharedProjections ? attention.query : linear(".pos_query_proj"));
  return attention;
}

/// Returns the weight of a convolution, `[hidden, hidden / groups, taps]`, as the weight of a projection,
/// `[hidden, taps * hidden]`: for each tap a column for each input feature, with zeros for the features of other
/// groups.
static WeightId projectionOfTaps(TransformerSpec &spec, const DebertaKeys &keys, WeightId weight) {
  int64_t size = keys.hidden / keys.groups;
  WeightId byTap = spec.permute(weight, {0, 2, 1});
  std::vector<WeightId> groups;
  for (int64_t group = 0; keys.groups > 1 && group < keys.groups; ++group) {
    std::vector<WeightId> parts;
    auto addZeros = [&](int64_t features) {
      if (features != 0)
        parts.push_back(spec.fill(spec.weights[weight].name + ".zeros", {size, keys.taps, features}, 0));
    };
    addZeros(group * size);
    parts.push_back(spec.slice(byTap, 0, group * size, (group + 1) * size));
    addZeros(keys.hidden - (group + 1) * size);
    groups.push_back(spec.concat(2, std::move(parts)));
  }
  WeightId all = groups.empty() ? byTap : spec.concat(0, std::move(groups));
  return spec.reshape(all, {keys.hidden, keys.taps * keys.hidden});
}

static void declareDebertaV2Model(TransformerSpec &spec, const DebertaKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareDebertaStack(spec, keys, prefix);
  const std::string encoder = prefix + "encoder";
  WeightId table = noWeight;
  if (keys.relative) {
    table = spec.tensor(encoder + ".rel_embeddings.weight", {keys.distanceRows(), keys.hidden});
    NormSpec norm;
    if (keys.normedTable)
      norm = spec.norm(encoder + ".LayerNorm", keys.hidden, keys.epsilon);
    if (norm)
      table = spec.layerNorm(table, norm.weight, norm.bias, norm.epsilon);
  }
  for (int64_t i = 0; i < keys.layers; ++i) {
    std::string path = encoder + ".layer." + std::to_string(i);
    declareDebertaLayer(spec, keys, path, declareDebertaV2Attention(spec, keys, path + ".attention.self", table));
  }
  if (keys.taps == 0)
    return;
  ConvolutionSpec &convolution = stack.convolution.emplace();
  convolution.path = encoder + ".conv";
  convolution.taps = keys.taps;
  WeightId weight = spec.tensor(convolution.path + ".conv.weight", {keys.hidden, keys.hidden / keys.groups, keys.taps});
  convolution.projection.weight = projectionOfTaps(spec, keys, weight);
  convolution.projection.bias = spec.tensor(convolution.path + ".conv.bias", {keys.hidden});
  convolution.activation = keys.convolution;
  convolution.norm = spec.norm(convolution.path + ".LayerNorm", keys.hidden, keys.epsilon);
}

Result<TransformerSpec> attune::readDebertaV2Spec(const Config &config) {
  return readDeberta(config, "deberta-v2", "DebertaV2", /*choices=*/true, readDebertaV2Keys, declareDebertaV2Model);
}
