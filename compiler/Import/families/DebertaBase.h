//===- DebertaBase.h - Shared parts of the versions of DeBERTa --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_DEBERTABASE_H
#define ATTUNE_IMPORT_FAMILIES_DEBERTABASE_H

#include "compiler/Import/families/BertBase.h"

namespace attune {

/// The values of the keys of a DebertaConfig or a DebertaV2Config.
struct DebertaKeys : BertKeys {
  /// True if scores depend on distances.
  bool relative = false;
  /// |positionKeys| is true if `pos_att_type` has the term "c2p", queries times vectors of distances, |positionQueries|
  /// if it has the term "p2c", vectors of distances times keys; |terms| is the number of its terms.
  bool positionKeys = false, positionQueries = false;
  int64_t terms = 0;
  /// |maxDistance| is `max_relative_positions`, or the number of positions if that is below 1. Without buckets
  /// (|buckets| is 0), the table has a row for each distance from -|maxDistance| to |maxDistance| - 1. With buckets, it
  /// has |buckets| rows for each sign; distances up to |buckets| / 2 have rows of their own, larger ones share rows in
  /// logarithmic buckets.
  int64_t maxDistance = 0, buckets = 0;
  /// True if vectors of absolute positions are added to those of words.
  bool positionsAdded = true;
  /// True if the head of masked words has BERT's tensors; otherwise it has those of `lm_predictions.lm_head`.
  bool legacy = true;
  double poolerDropout = 0;
  mlir::xfmr::Activation poolerActivation = mlir::xfmr::Activation::Gelu;

  // The rest is for versions 2 and 3. |sharedProjections| is true if vectors of distances are projected by the
  // projections of queries and keys, |normedTable| if a layer norm is applied to the rows of their table.
  bool sharedProjections = false, normedTable = false;
  /// |taps| is the number of tokens in a window of the convolution, 0 without a convolution; |groups| is its number of
  /// groups of features.
  int64_t taps = 0, groups = 1;
  mlir::xfmr::Activation convolution = mlir::xfmr::Activation::Tanh;

  int64_t headSize() const { return hidden / heads; }
  /// Returns the number of rows of the table of distances.
  int64_t distanceRows() const { return 2 * (buckets > 0 ? buckets : maxDistance); }
};

/// The defaults of the keys for sizes.
struct DebertaDefaults {
  int64_t vocab, hidden, layers, heads, intermediate;
};

/// Reads the keys that DebertaConfig and DebertaV2Config share.
DebertaKeys readDebertaKeys(ConfigReader &reader, const DebertaDefaults &defaults);

/// Declares the inputs and the embeddings, and returns the stack without layers.
StackSpec &declareDebertaStack(TransformerSpec &spec, const DebertaKeys &keys, const std::string &prefix);

/// Declares the layer |path| with the attention |attention|, after adding to the attention the parts that all versions
/// share: heads, scale and output projection.
void declareDebertaLayer(TransformerSpec &spec, const DebertaKeys &keys, const std::string &path, AttentionSpec attention);

/// Returns the first distance d from |maxDistance| on such that d has the last row of the table and -d the first; all
/// larger distances have the same rows. Returns |maxDistance| for two or three buckets, whose distances never reach
/// both rows, and 2^16 + 1 if no d up to 2^16 reaches them, as for some odd numbers of buckets. With |positionsAdded|
/// the result is at most |positions| - 1, the largest distance of two tokens.
int64_t lastDistance(const DebertaKeys &keys);
/// Projects the rows of |table| `[distanceRows, hidden]` by |linear|. Returns a projected row for each distance from
/// -lastDistance to lastDistance, both included.
WeightId projectDistances(TransformerSpec &spec, const DebertaKeys &keys, WeightId table, const LinearSpec &linear);

/// Reads a model of |family|. The names of its classes begin with |className|; |choices| is true if the family has a
/// class for multiple choice. |readKeys| reads the keys, |declare| declares the base model.
Result<TransformerSpec> readDeberta(const Config &config, const char *family, const std::string &className, bool choices,
                                    DebertaKeys (*readKeys)(ConfigReader &),
                                    void (*declare)(TransformerSpec &spec, const DebertaKeys &keys, const std::string &prefix));

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_DEBERTABASE_H
