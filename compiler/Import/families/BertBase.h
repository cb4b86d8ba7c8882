//===- BertBase.h - What BERT and its descendants share ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Keys, tensor names and layers of BERT, which RoBERTa has, too, and heads that all models of its kind have.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_BERTBASE_H
#define ATTUNE_IMPORT_FAMILIES_BERTBASE_H

#include "compiler/Import/families/Families.h"
#include "compiler/Import/PruneHeads.h"

#include <array>

namespace attune {

/// The keys of a BertConfig.
struct BertKeys {
  int64_t vocab, hidden, layers, heads, intermediate, positions, types, labels;
  double epsilon, dropout, classifierDropout;
  mlir::xfmr::Activation activation;
  bool tied;
  /// Whether tokens attend to earlier ones only, and whether they attend to another sequence, too.
  bool decoder = false, cross = false;
  /// Whether positions are vectors of distances in the attention, multiplied by queries (and keys), and not embeddings.
  bool relative = false;
  mlir::xfmr::RelativeTerms relativeTerms = mlir::xfmr::RelativeTerms::Query;
  /// Features of the embedding tables; where these are not those of the layers, the tensor `PREFIX + embeddingProjection` is between them.
  int64_t embedding = 0;
  const char *embeddingProjection = nullptr;
  /// Groups of layers that share weights, and the layers of each.
  int64_t groups = 0, layersOfGroup = 1;
  /// The padding id, for models whose positions depend on it.
  int64_t padding = 0;
  /// Heads that the saved weights lack.
  HeadsByLayer pruned;
};

/// Adds the outputs of one architecture to a spec whose base model is declared; its tensors' names begin with |prefix|.
using DeclareBertHead = void (*)(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
using BertHeads = std::vector<std::pair<std::string, DeclareBertHead>>;

/// Reads a model of |family|: |heads| by architecture, first the base model, whose tensors have the prefix |basePrefix| in the others.
/// |declare| declares the base model.
Result<TransformerSpec> readBertLike(const Config &config, const char *family, const char *basePrefix, const BertHeads &heads,
                                     BertKeys (*readKeys)(ConfigReader &), DeclareBertHead declare);

/// Reads the keys with the defaults of transformers' BertConfig.
BertKeys readBertKeys(ConfigReader &reader);
/// Reads what `pad_token_id` says, |fallback| without it, for models whose positions are counted after it.
void readCountedPadding(ConfigReader &reader, BertKeys &keys, int64_t fallback);
/// Counts positions after the padding id, over tokens that are not padding; the first rows of the position table are for nothing else.
void countPositions(TransformerSpec &spec, const BertKeys &keys);
/// The only stack of |spec|.
StackSpec &bertStack(TransformerSpec &spec);
/// The embeddings, without the projection of their sum, and without token types where there are none.
void declareBertEmbeddings(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// The inputs of |spec|, whose stack is there.
void declareBertInputs(TransformerSpec &spec, const BertKeys &keys);
/// Begins the stack of a model.
StackSpec &declareBertStack(TransformerSpec &spec, const BertKeys &keys);
/// Declares an attention of all heads whose projections of queries, keys, values and results are PATH.NAME for each of |names|.
AttentionSpec declareWholeAttention(TransformerSpec &spec, const BertKeys &keys, const std::string &path,
                                    const std::array<const char *, 4> &names);
/// Declares inputs, embeddings and layers.
void declareBertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

/// The weight of a head that scores all words: the word table, or the tensor |name|.
WeightId bertDecoderTable(TransformerSpec &spec, const BertKeys &keys, const std::string &name);
/// tanh of a projection of the first token.
std::vector<HeadStep> bertPooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// The last hidden state, and pooled.
void declareBertOutputs(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// `classifier` on every token.
void declareTokenClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// A score for each choice, `classifier` of |steps|.
void declareMultipleChoice(TransformerSpec &spec, const BertKeys &keys, std::vector<HeadStep> steps);
/// The same of the pooled first token.
void declarePooledMultipleChoice(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// RoBERTa's `lm_head`: scores of all words for every token.
void declareRobertaMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// RoBERTa's `classifier`: two projections of the first token.
void declareRobertaClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// `qa_outputs`: one projection to two features, a start and an end score per token.
void declareQuestionAnswering(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_BERTBASE_H
