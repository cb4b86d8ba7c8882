//===- Experts.cpp - Parts of decoders with experts -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Experts.h"

#include <algorithm>

using namespace attune;

ExpertKeys attune::readExpertKeys(ConfigReader &reader, const ExpertKeys &defaults) {
  constexpr IntegerRange some = {1, 1 << 16};
  ExpertKeys keys;
  keys.count = reader.integer("num_local_experts", "num_experts", defaults.count, some);
  keys.chosen = reader.integer("num_experts_per_tok", defaults.chosen, some);
  if (keys.chosen > keys.count)
    reader.fail("num_experts_per_tok", "at most the number of experts, which is " + std::to_string(keys.count));
  return keys;
}

std::vector<bool> attune::readSparseLayers(ConfigReader &reader, const Config &config, int64_t layers) {
  int64_t step = reader.integer("decoder_sparse_step", 1, {1, 1 << 16});
  std::vector<bool> sparse(layers);
  for (int64_t i = 0; i < layers; ++i)
    sparse[i] = (i + 1) % step == 0;
  if (!reader.present("mlp_only_layers"))
    return sparse;
  const Json &dense = *config.find("mlp_only_layers");
  auto isLayer = [](const Json &layer) { return layer.is_number_integer() && layer.get<int64_t>() >= 0; };
  if (!dense.is_array() || !std::all_of(dense.begin(), dense.end(), isLayer)) {
    reader.fail("mlp_only_layers", "a list of numbers of layers");
    return sparse;
  }
  // As in transformers, indices beyond the number of layers have no effect.
  for (const Json &layer : dense)
    if (layer.get<int64_t>() < layers)
      sparse[layer.get<int64_t>()] = false;
  return sparse;
}

FfnSpec attune::declareExperts(TransformerSpec &spec, const DecoderKeys &keys, int64_t count, int64_t features, const ExpertNames &names) {
  int64_t hidden = keys.hidden;
  WeightId gatesAndUps = spec.otherTensor(names.stacked + ".gate_up_proj", {count, 2 * features, hidden});
  WeightId downs = spec.otherTensor(names.stacked + ".down_proj", {count, hidden, features});
  auto declare = [&](int64_t expert, const char *name, WeightId all, int64_t first, std::vector<int64_t> shape) {
    WeightId id = spec.tensor(names.path + "." + std::to_string(expert) + "." + name + ".weight", shape);
    WeightId rows = spec.slice(spec.slice(all, 0, expert, expert + 1), 1, first, first + shape[0]);
    spec.setStandIn(id, spec.reshape(rows, std::move(shape)));
    return id;
  };
  std::vector<WeightId> gate, up, down;
  for (int64_t expert = 0; expert < count; ++expert) {
    gate.push_back(declare(expert, names.gate, gatesAndUps, 0, {features, hidden}));
    up.push_back(declare(expert, names.up, gatesAndUps, features, {features, hidden}));
    down.push_back(declare(expert, names.down, downs, 0, {hidden, features}));
  }
  FfnSpec networks;
  networks.gate.weight = spec.stackWeights(std::move(gate));
  networks.up.weight = spec.stackWeights(std::move(up));
  networks.down.weight = spec.stackWeights(std::move(down));
  networks.activation = keys.activation;
  return networks;
}

FfnSpec attune::declareStackedExperts(TransformerSpec &spec, const DecoderKeys &keys, int64_t count, const std::string &gatesAndUps,
                                      const std::string &downs) {
  int64_t features = keys.intermediate, hidden = keys.hidden;
  WeightId joined = spec.tensor(gatesAndUps, {count, 2 * features, hidden}), last = spec.tensor(downs, {count, hidden, features});
  auto matrix = [&](WeightId all, int64_t expert, int64_t first, int64_t rows, int64_t columns) {
    return spec.reshape(spec.slice(spec.slice(all, 0, expert, expert + 1), 1, first, first + rows), {rows, columns});
  };
  std::vector<WeightId> gate, up, down;
  for (int64_t expert = 0; expert < count; ++expert) {
    gate.push_back(matrix(joined, expert, 0, features, hidden));
    up.push_back(matrix(joined, expert, features, features, hidden));
    down.push_back(matrix(last, expert, 0, hidden, features));
  }
  FfnSpec networks;
  networks.gate.weight = spec.stackWeights(std::move(gate));
  networks.up.weight = spec.stackWeights(std::move(up));
  networks.down.weight = spec.stackWeights(std::move(down));
  networks.activation = keys.activation;
  return networks;
}

RouterKeys attune::readRouterKeys(ConfigReader &reader, const RouterDefaults &defaults) {
  constexpr IntegerRange size = {1, 1 << 24}, some = {1, 1 << 16};
  RouterKeys keys;
  keys.experts.count = reader.integer("n_routed_experts", defaults.countKey, defaults.experts.count, some);
  keys.experts.chosen = reader.integerOrNull("num_experts_per_tok", defaults.experts.chosen, some);
  keys.features = reader.integer("moe_intermediate_size", defaults.features, size);
  keys.sharedFeatures = keys.features * reader.integerOrNull("n_shared_experts", defaults.shared, {0, 1 << 10});
  keys.firstSparse = reader.integerOrNull("first_k_dense_replace", defaults.firstSparse, {0, 1 << 12});
  keys.groups = reader.integerOrNull("n_group", defaults.groups, {1, 64});
  keys.keptGroups = reader.integerOrNull("topk_group", defaults.keptGroups, {1, 64});
  keys.factor = reader.number("routed_scaling_factor", defaults.factor, -1e6, 1e6);
  const std::string count = std::to_string(keys.experts.count);
  if (keys.experts.count % keys.groups != 0)
    reader.fail("n_group", "a divisor of 'n_routed_experts', which is " + count);
  else if (keys.keptGroups > keys.groups)
    reader.fail("topk_group", "at most 'n_group', which is " + std::to_string(keys.groups));
  else if (keys.experts.chosen > keys.keptGroups * (keys.experts.count / keys.groups))
    reader.fail("num_experts_per_tok", "at most the number of experts in 'topk_group' groups");
  return keys;
}

ExpertsSpec attune::declareRoutedExperts(TransformerSpec &spec, const DecoderKeys &keys, const RouterKeys &router, const std::string &path,
                                         bool bias) {
  ExpertsSpec mixture;
  mixture.router = spec.linear(path + ".gate", keys.hidden, router.experts.count, /*bias=*/false);
  mixture.chosen = router.experts.chosen;
  mixture.normalized = router.normalized;
  mixture.sigmoid = router.sigmoid;
  if (router.sigmoid)
    mixture.choiceBias = spec.tensor(path + ".gate.e_score_correction_bias", {router.experts.count});
  int64_t groupSize = router.experts.count / router.groups;
  if (router.keptGroups < router.groups)
    mixture.groups = {router.groups, router.keptGroups, std::min(router.groupKeys, groupSize)};
  mixture.networks = declareExperts(spec, keys, router.experts.count, router.features, {path + ".experts", path + ".experts"});
  if (router.factor != 1)
    mixture.networks.down.weight = spec.scale(mixture.networks.down.weight, router.factor);
  if (router.sharedFeatures == 0)
    return mixture;
  DecoderKeys shared = keys;
  shared.intermediate = router.sharedFeatures;
  mixture.shared = declareGatedFfn(spec, shared, path + ".shared_experts", bias);
  return mixture;
}
