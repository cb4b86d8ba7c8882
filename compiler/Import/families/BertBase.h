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
#include "compiler/Import/families/Rope.h"
#include "compiler/Import/PruneHeads.h"

#include <array>
#include <functional>

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
  bool relative = false, relativeToKeys = false;
  /// Positions are rotary embeddings of queries and keys.
  std::optional<RopeSpec> rope;
  /// The embeddings have a table of positions.
  bool positionTable = true;
  /// The name of the norm of the embeddings, null if there is none.
  const char *embeddingNorm = "embeddings.LayerNorm";
  /// The names of the norms of a layer, of its attention within "attention" and "crossattention".
  const char *attentionNorm = "output.LayerNorm", *ffnNorm = "output.LayerNorm";
  /// The name of a norm after the last layer; norms of layers are then before their branches.
  const char *lastNorm = nullptr;
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
template <typename Keys>
using DeclareHead = std::function<void(TransformerSpec &spec, const Keys &keys, const std::string &prefix)>;
/// The architectures of a family whose keys are |Keys|, BertKeys or what derives from them.
template <typename Keys>
using EncoderHeads = std::vector<std::pair<std::string, DeclareHead<Keys>>>;
using BertHeads = EncoderHeads<BertKeys>;

/// Reads a model of |family|: |heads| by architecture, first the base model, whose tensors have the prefix |basePrefix| in the others.
/// |readKeys| gets a reader of the file, |declare| declares the base model.
template <typename Keys, typename ReadKeys, typename Declare>
Result<TransformerSpec> readBertLike(const Config &config, const char *family, const char *basePrefix, const EncoderHeads<Keys> &heads,
                                     ReadKeys readKeys, Declare declare) {
  ConfigReader reader(config);
  Keys keys = readKeys(reader);
  TransformerSpec spec;
  spec.family = family;
  spec.architecture = reader.architecture(heads.front().first.c_str());
  spec.basePrefix = basePrefix;
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  std::string prefix = head == &heads.front() ? "" : basePrefix;
  declare(spec, keys, prefix);
  head->second(spec, keys, prefix);
  return spec;
}

/// Reads the keys with the defaults of transformers' BertConfig.
BertKeys readBertKeys(ConfigReader &reader);
/// The same but for the kind of positions, which families say in their own ways.
BertKeys readBertSizes(ConfigReader &reader);
/// Refuses positions other than a table of embeddings.
void rejectRelativePositions(ConfigReader &reader);
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
/// Sets what attention of all heads has beside its projections.
void setWholeAttention(AttentionSpec &attention, const BertKeys &keys);
/// Declares an attention of all heads whose projections of queries, keys, values and results are PATH.NAME for each of |names|.
AttentionSpec declareWholeAttention(TransformerSpec &spec, const BertKeys &keys, const std::string &path,
                                    const std::array<const char *, 4> &names);
/// Declares the feed-forward of |layer|, PATH.intermediate.dense and PATH.output.dense, and the norm after it.
void declareBertFfn(TransformerSpec &spec, const BertKeys &keys, LayerSpec &layer);
/// Declares inputs, embeddings and layers.
void declareBertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

/// The last hidden state alone.
void declareLastState(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// The weight of a head that scores all words: the word table, or the tensor |name|.
WeightId bertDecoderTable(TransformerSpec &spec, const BertKeys &keys, const std::string &name);
/// The bias of such a head called |path|: PATH.bias if it |isTied|, else PATH.decoder.bias. Files may have either alone.
WeightId bertDecoderBias(TransformerSpec &spec, int64_t vocab, const std::string &path, bool isTied);
/// tanh of a projection of the first token.
std::vector<HeadStep> bertPooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// The last hidden state, and pooled.
void declareBertOutputs(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// `classifier` of the pooled first token.
void declareBertClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// BERT's `cls.predictions`: scores of all words for every token. |normName| is the name of the norm of its transform.
std::vector<HeadStep> bertPredictions(TransformerSpec &spec, const BertKeys &keys, const char *normName = "LayerNorm");
void declareBertMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// `classifier` on every token.
void declareTokenClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// A score for each choice, `classifier` of |steps|.
void declareMultipleChoice(TransformerSpec &spec, const BertKeys &keys, std::vector<HeadStep> steps);
/// The same of the pooled first token.
void declarePooledMultipleChoice(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// The parts of `lm_head` that differ between families.
struct LanguageHeadParts {
  /// Names in the files of the reference, and other ones that are understood.
  const char *norm = "layer_norm", *otherNorm = nullptr;
  /// The bias is that of the decoder, tied or not.
  bool hasDecoderBias = false;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::Gelu;
};
/// RoBERTa's `lm_head`: scores of all words for every token.
void declareLanguageHead(TransformerSpec &spec, const BertKeys &keys, const LanguageHeadParts &parts);
void declareRobertaMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// RoBERTa's `classifier`: two projections of the first token.
void declareRobertaClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// `qa_outputs`: one projection to two features, a start and an end score per token.
void declareQuestionAnswering(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_BERTBASE_H
