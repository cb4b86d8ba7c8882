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

/// Reads `num_experts` or, without it, `num_local_experts`, and `num_experts_per_tok`. Records an error if a token uses
/// more experts than there are.
ExpertKeys readExpertKeys(ConfigReader &reader, const ExpertKeys &defaults);

/// Returns for each layer true if it has experts: if its number, counted from 1, is a multiple of
/// `decoder_sparse_step`, and `mlp_only_layers`, which counts from 0, does not list it.
std::vector<bool> readSparseLayers(ConfigReader &reader, const Config &config, int64_t layers);

/// The names of the tensors of experts: PATH.N.GATE.weight, PATH.N.UP.weight and PATH.N.DOWN.weight for expert N in
/// published files; or STACKED.gate_up_proj and STACKED.down_proj, which transformers 5 has in memory.
struct ExpertNames {
  std::string path, stacked;
  const char *gate = "gate_proj", *up = "up_proj", *down = "down_proj";
};

/// Declares |count| gated networks with |features| inner features and returns their matrices as stacks
/// `[count, out, in]`. Files have a tensor for each expert and matrix, or two tensors for all experts:
/// `[count, 2 * features, hidden]` with the rows of the gate before those of up, and `[count, hidden, features]` for
/// down.
FfnSpec declareExperts(TransformerSpec &spec, const DecoderKeys &keys, int64_t count, int64_t features, const ExpertNames &names);

/// Declares the same networks with I = |keys|.intermediate inner features for files that always have two tensors,
/// |gatesAndUps| `[count, 2 * I, hidden]` and |downs| `[count, hidden, I]`.
FfnSpec declareStackedExperts(TransformerSpec &spec, const DecoderKeys &keys, int64_t count, const std::string &gatesAndUps,
                              const std::string &downs);

/// The defaults of the keys in RouterKeys, for routers that choose among groups of experts. |shared| is that of
/// `n_shared_experts`.
struct RouterDefaults {
  ExpertKeys experts;
  int64_t shared, features, firstSparse, groups, keptGroups;
  double factor = 1;
  /// Another name of the key `n_routed_experts` in transformers; it takes precedence if the file has both.
  const char *countKey = "num_local_experts";
};

/// The keys of a router that chooses among groups of experts.
struct RouterKeys {
  ExpertKeys experts;
  /// The numbers of inner features: |features| of an expert, |sharedFeatures| of the network that all tokens use, 0
  /// without such a network.
  int64_t features, sharedFeatures;
  /// The number of layers without experts, which come first.
  int64_t firstSparse;
  /// |groups| is the number of groups of experts. A token chooses its experts from |keptGroups| groups: those with the
  /// largest sums of their |groupKeys| largest scores.
  int64_t groups, keptGroups, groupKeys = 2;
  /// The factor by which shares of experts are multiplied.
  double factor;
  /// True if the shares of a token's experts are divided by their sum (see ExpertsSpec).
  bool normalized = false;
  /// True if shares are sigmoids of scores, and experts are chosen by the sigmoid plus a bias; otherwise shares are a
  /// softmax of the scores.
  bool sigmoid = false;
};

/// Reads `n_routed_experts` and the other keys of a router but |groupKeys|, |normalized| and |sigmoid|, which the
/// family sets. Records an error if these keys contradict each other.
RouterKeys readRouterKeys(ConfigReader &reader, const RouterDefaults &defaults);

/// Declares PATH.gate, PATH.experts.N for each expert N and, unless |router|.sharedFeatures is 0, PATH.shared_experts,
/// which has biases if |bias|. The weights of `down_proj` of the experts are multiplied by |router|.factor.
ExpertsSpec declareRoutedExperts(TransformerSpec &spec, const DecoderKeys &keys, const RouterKeys &router, const std::string &path,
                                 bool bias);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_EXPERTS_H
