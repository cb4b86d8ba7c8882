//===- Bert.h - The BERT family in plain C++ -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An independent implementation of BertModel, RobertaModel and their heads, in double, from the papers' formulas and
// the behavior of transformers 4.22. Letters: B batch, S length, H hidden, A heads, D head size, L layers. An error
// ends the program, as in Weights.h.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_BERT_H
#define ATTUNE_TEST_REFERENCE_BERT_H

#include "test/Reference/Weights.h"

namespace attune::reference {

/// The configuration in config.json.
struct BertConfig {
  std::string family = "bert"; ///< or "roberta"
  std::string architecture = "BertModel";
  int64_t layers = 12, heads = 12;
  std::string activation = "gelu";
  double epsilon = 1e-12;
  bool tiedEmbeddings = true;
  int64_t padding = 1; ///< RoBERTa's padding id, after which positions begin
};

/// Reads config.json of |folder|.
BertConfig readConfig(const std::string &folder);

/// The inputs of one call; omitted inputs have their default already.
struct BertInputs {
  int64_t batch = 0, length = 0;
  std::vector<int64_t> ids;    ///< [B, S]; empty if there are embeddings
  Array embeddings;            ///< [B * S, H]
  std::vector<int64_t> types;  ///< [B, S]
  std::vector<int64_t> places; ///< [B, S], or [S] for all rows
  Array scoreMask;             ///< added to the scores: [B, 1, S] or [B, S, S]
  Array headMask;              ///< [L, A] factors of the probabilities; empty without a head mask
  std::vector<bool> padding;   ///< [B, S]: true where the mask is 0; empty unless the mask is [B, S] of integers
};

/// Reads the inputs of a call from a safetensors file.
BertInputs readInputs(const std::string &path, const BertConfig &config);

/// A named result.
struct Output {
  std::string name;
  Array value;
  bool perToken; ///< true if the shape is [B, S], [B, S, …] or [B, A, S, S]
};

/// Returns all outputs of the architecture, with hidden states and attention probabilities.
std::vector<Output> runBert(const BertConfig &config, const Weights &weights, const BertInputs &inputs);

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_BERT_H
