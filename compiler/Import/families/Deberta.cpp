//===- Deberta.cpp - DeBERTa, version 1 -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The projections of queries, keys and values are one tensor, packed head by head; queries and values have biases, keys
// have none. Vectors of distances (see DebertaBase.cpp) have projections of their own. Large distances are clamped.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/DebertaBase.h"

using namespace attune;

static DebertaKeys readDebertaV1Keys(ConfigReader &reader) {
  DebertaKeys keys = readDebertaKeys(reader, {50265, 768, 12, 12, 3072});
  reader.reject("talking_head", "the heads' scores are not mixed");
  return keys;
}

static AttentionSpec declareDebertaAttention(TransformerSpec &spec, const DebertaKeys &keys, const std::string &path, WeightId table) {
  AttentionSpec attention;
  LinearSpec packed;
  packed.weight = spec.tensor(path + ".in_proj.weight", {3 * keys.hidden, keys.hidden});
  spec.splitByGroup(attention, packed, keys.heads, keys.heads);
  attention.query.bias = spec.tensor(path + ".q_bias", {keys.hidden});
  attention.value.bias = spec.tensor(path + ".v_bias", {keys.hidden});
  // Gives keys a bias of zeros: projections of one input are joined only if all of them or none have a bias.
  attention.key.bias = spec.fill(path + ".no_bias", {keys.hidden}, 0);
  if (!keys.relative)
    return attention;
  auto project = [&](const LinearSpec &linear) { return projectDistances(spec, keys, table, linear); };
  if (keys.positionKeys)
    attention.relativeKey = project(spec.linear(path + ".pos_proj", keys.hidden, keys.hidden, /*bias=*/false));
  if (keys.positionQueries)
    attention.relativeQuery = project(spec.linear(path + ".pos_q_proj", keys.hidden, keys.hidden));
  return attention;
}

static void declareDebertaModel(TransformerSpec &spec, const DebertaKeys &keys, const std::string &prefix) {
  declareDebertaStack(spec, keys, prefix);
  WeightId table = noWeight;
  if (keys.relative)
    table = spec.tensor(prefix + "encoder.rel_embeddings.weight", {keys.distanceRows(), keys.hidden});
  for (int64_t i = 0; i < keys.layers; ++i) {
    std::string path = prefix + "encoder.layer." + std::to_string(i);
    declareDebertaLayer(spec, keys, path, declareDebertaAttention(spec, keys, path + ".attention.self", table));
  }
}

Result<TransformerSpec> attune::readDebertaSpec(const Config &config) {
  return readDeberta(config, "deberta", "Deberta", /*choices=*/false, readDebertaV1Keys, declareDebertaModel);
}
