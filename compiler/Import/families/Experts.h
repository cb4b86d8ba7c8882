//===- Experts.h - Parts of decoders with experts ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_EXPERTS_H
#define ATTUNE_IMPORT_FAMILIES_EXPERTS_H

#include "compiler/Import/families/CausalDecoder.h"

namespace attune {

/// The number of experts, and the number of experts that a token uses.
struct ExpertKeys {
  int64_t count, chosen;
};

/// Reads `num_local_experts` or `num_experts`, and `num_experts_per_tok`.
ExpertKeys readExpertKeys(ConfigReader &reader, const ExpertKeys &defaults);

/// Reads `mlp_only_layers` and `decoder_sparse_step`. Returns for each layer true if it has experts.
std::vector<bool> readSparseLayers(ConfigReader &reader, const Config &config, int64_t layers);

/// The names of the tensors of experts: PATH.EXPERT.GATE.weight in published files, and STACKED.{gate_up,down}_proj,
/// the names in memory in version 5 of transformers.
struct ExpertNames {
  std::string path, stacked;
  const char *gate = "gate_proj", *up = "up_proj", *down = "down_proj";
};

/// Declares |count| gated networks with |features| inner features and returns their matrices as stacks `[count, out,
/// in]`. Files have a tensor for each expert and matrix, or two for all experts: gates and ups `[count, 2 features,
/// hidden]`, and downs `[count, hidden, features]`.
FfnSpec declareExperts(TransformerSpec &spec, const DecoderKeys &keys, int64_t count, int64_t features, const ExpertNames &names);

/// Declares such networks whose files always have two tensors, |gatesAndUps| `[count, 2 I, hidden]` and |downs|
/// `[count, hidden, I]`, where I is |keys|.intermediate.
FfnSpec declareStackedExperts(TransformerSpec &spec, const DecoderKeys &keys, int64_t count, const std::string &gatesAndUps,
                              const std::string &downs);

/// The defaults of keys of routers that choose among groups of experts.
struct RouterDefaults {
  ExpertKeys experts;
  int64_t shared, features, firstSparse, groups, keptGroups;
  double factor = 1;
  /// Another name of the key `n_routed_experts` in transformers; it takes precedence if the file has both.
  const char *countKey = "num_local_experts";
};

/// The keys of such a router.
struct RouterKeys {
  ExpertKeys experts;
  /// The number of inner features of an expert, and of the network that all tokens use; 0 without one.
  int64_t features, sharedFeatures;
  /// The number of layers without experts, which come first.
  int64_t firstSparse;
  /// The number of groups of experts, the number of groups from which a token chooses, and the number of the largest
  /// scores in a group whose sum rates the group.
  int64_t groups, keptGroups, groupKeys = 2;
  /// The factor by which shares of experts are multiplied.
  double factor;
  bool normalized = false;
  /// True if shares are sigmoids of scores, and experts are chosen by the sigmoid plus a bias.
  bool sigmoid = false;
};

/// Reads `n_routed_experts` and the keys with it.
RouterKeys readRouterKeys(ConfigReader &reader, const RouterDefaults &defaults);

/// Declares PATH.gate, PATH.experts.E and, if |router| has it, PATH.shared_experts, which has biases if |bias|.
ExpertsSpec declareRoutedExperts(TransformerSpec &spec, const DecoderKeys &keys, const RouterKeys &router, const std::string &path,
                                 bool bias);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_EXPERTS_H
