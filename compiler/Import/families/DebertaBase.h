//===- DebertaBase.h - What the versions of DeBERTa share -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_DEBERTABASE_H
#define ATTUNE_IMPORT_FAMILIES_DEBERTABASE_H

#include "compiler/Import/families/BertBase.h"

namespace attune {

/// The keys of a DebertaConfig or a DebertaV2Config.
struct DebertaKeys : BertKeys {
  /// Scores depend on distances.
  bool relative = false;
  /// The terms of scores: queries times positions (c2p), positions times keys (p2c), and the words in `pos_att_type`.
  bool positionKeys = false, positionQueries = false;
  int64_t terms = 0;
  /// The largest distance with a row of its own, or the rows for each side of the table if large distances share them, in logarithmic
  /// buckets; 0 without.
  int64_t maxDistance = 0, buckets = 0;
  /// Vectors of positions are added to the words.
  bool positionsAdded = true;
  /// The head of masked words is BERT's.
  bool legacy = true;
  double poolerDropout = 0;
  mlir::xfmr::Activation poolerActivation = mlir::xfmr::Activation::Gelu;

  // Of version 2. Positions are projected as tokens are; the table of positions is normalized.
  bool sharedProjections = false, normedTable = false;
  /// Tokens in a convolution, 0 without, and its groups of features.
  int64_t taps = 0, groups = 1;
  mlir::xfmr::Activation convolution = mlir::xfmr::Activation::Tanh;

  int64_t headSize() const { return hidden / heads; }
  /// Rows of the table of distances.
  int64_t distanceRows() const { return 2 * (buckets > 0 ? buckets : maxDistance); }
};

/// Sizes of a model whose configuration lacks them.
struct DebertaDefaults {
  int64_t vocab, hidden, layers, heads, intermediate;
};

/// Reads the keys that both versions have.
DebertaKeys readDebertaKeys(ConfigReader &reader, const DebertaDefaults &defaults);

/// Begins the stack: its inputs and embeddings.
StackSpec &declareDebertaStack(TransformerSpec &spec, const DebertaKeys &keys, const std::string &prefix);

/// Declares the layer |path|, whose attention is |attention| but for what all versions share.
void declareDebertaLayer(TransformerSpec &spec, const DebertaKeys &keys, const std::string &path, AttentionSpec attention);

/// The distance from which on all have the first or the last row of the table; beyond 2^16 where buckets of odd number end there.
int64_t lastDistance(const DebertaKeys &keys);
/// The rows of |table|, `[distanceRows, hidden]`, projected by |linear|: one for each distance from -lastDistance to lastDistance.
WeightId projectDistances(TransformerSpec &spec, const DebertaKeys &keys, WeightId table, const LinearSpec &linear);

/// Reads a model of |family| whose classes begin with |className|.
Result<TransformerSpec> readDeberta(const Config &config, const char *family, const std::string &className, bool choices,
                                    DebertaKeys (*readKeys)(ConfigReader &),
                                    void (*declare)(TransformerSpec &spec, const DebertaKeys &keys, const std::string &prefix));

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_DEBERTABASE_H
