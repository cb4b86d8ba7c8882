//===- BertBase.h - Shared parts of BERT and its variants -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Keys, tensor names and layers of BERT, which RoBERTa shares, and heads that all models of this kind share.
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

/// The values of the keys of a BertConfig, and the switches of a family.
struct BertKeys {
  int64_t vocab, hidden, layers, heads, intermediate, positions, types, labels;
  double epsilon, dropout, classifierDropout;
  mlir::xfmr::Activation activation;
  bool tied;
  /// |decoder| is true if tokens attend only to themselves and earlier ones, |cross| if there is cross attention.
  bool decoder = false, cross = false;
  /// |relative| is true if, instead of embeddings of positions, attention has a vector for each distance and adds its
  /// product with the query to scores; |relativeToKeys| is true if it adds the product with the key, too.
  bool relative = false, relativeToKeys = false;
  /// The rotary embeddings of queries and keys; empty for models without them.
  std::optional<RopeSpec> rope;
  /// True if files have a table of positions. With |relative| the embeddings do not add it.
  bool positionTable = true;
  /// The name of the norm of the embeddings, or null.
  const char *embeddingNorm = "embeddings.LayerNorm";
  /// The names of the norms of a layer, relative to its path for |ffnNorm| and to PATH.attention or PATH.crossattention
  /// for |attentionNorm|.
  const char *attentionNorm = "output.LayerNorm", *ffnNorm = "output.LayerNorm";
  /// The name of a norm after the last layer, or null. In a model with such a norm, the norms of layers are before
  /// their branches.
  const char *lastNorm = nullptr;
  /// The number of features of the embedding tables. If it differs from the number of features of the layers, the
  /// projection PREFIX + |embeddingProjection| follows the embeddings, where PREFIX is the prefix of the base model's
  /// tensors.
  int64_t embedding = 0;
  const char *embeddingProjection = nullptr;
  /// The number of groups of layers that share weights, and the number of layers in each.
  int64_t groups = 0, layersOfGroup = 1;
  /// The padding id, for models whose positions depend on it, and for models that hide tokens with this id if there is
  /// no mask.
  int64_t padding = 0;
  /// The heads that were removed before the weights were saved.
  HeadsByLayer pruned;
};

/// A function that adds the outputs of one class to |spec|, in which the base model is declared; the names of the base
/// model's tensors begin with |prefix|.
template <typename Keys>
using DeclareHead = std::function<void(TransformerSpec &spec, const Keys &keys, const std::string &prefix)>;
/// The classes of a family with the keys |Keys|: BertKeys or a class derived from it.
template <typename Keys>
using EncoderHeads = std::vector<std::pair<std::string, DeclareHead<Keys>>>;
using BertHeads = EncoderHeads<BertKeys>;

/// Reads a model of |family|. |heads| are its classes, with the base model first; the tensors of the base model have
/// the prefix |basePrefix| in the other classes. |readKeys| reads the keys, |declare| declares the base model.
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

/// The defaults of keys in a family's configuration class, here those of transformers' BertConfig.
struct BertDefaults {
  int64_t vocab = 30522, hidden = 768, layers = 12, heads = 12, intermediate = 3072, positions = 512, types = 2;
  double epsilon = 1e-12, dropout = 0.1;
  const char *activation = "gelu";
};

/// Reads the keys of readBertSizes, and `position_embedding_type`: "absolute", "relative_key" or "relative_key_query".
BertKeys readBertKeys(ConfigReader &reader, const BertDefaults &defaults = {});
/// Reads the keys that most families of BERT's kind share. `position_embedding_type` is not one of these, as its values
/// differ between families.
BertKeys readBertSizes(ConfigReader &reader, const BertDefaults &defaults = {});
/// Records an error if `position_embedding_type` is not "absolute", which means a table of positions.
void rejectRelativePositions(ConfigReader &reader);
/// Reads `pad_token_id` into |keys|.padding, with the default |fallback|, for models in which position 0 has the row of
/// this id plus one. |keys|.positions must be set.
void readCountedPadding(ConfigReader &reader, BertKeys &keys, int64_t fallback);
/// Makes positions count the tokens that are not padding, from row |keys|.padding + 1 of the table of positions on.
/// Padding has row |keys|.padding; earlier rows are unused. Sets the largest length of a sequence to the number of rows
/// after these. An input of positions then has no default. The stack and the inputs must be declared.
void countPositions(TransformerSpec &spec, const BertKeys &keys);
/// Returns the only stack of |spec|.
StackSpec &bertStack(TransformerSpec &spec);
/// Declares the embeddings, with token types if the model has them, but without the projection of their sum.
void declareBertEmbeddings(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the inputs of |spec|, whose stack must exist.
void declareBertInputs(TransformerSpec &spec, const BertKeys &keys);
/// Declares the stack of a model, without layers.
StackSpec &declareBertStack(TransformerSpec &spec, const BertKeys &keys);
/// Sets the numbers of heads of |attention|, none of them removed (pruned), and its scale, `1 / sqrt(head size)`.
void setWholeAttention(AttentionSpec &attention, const BertKeys &keys);
/// Declares an attention without removed heads. Its projections of queries, keys, values and of the output are called
/// PATH.NAME, with the four |names| in this order.
AttentionSpec declareWholeAttention(TransformerSpec &spec, const BertKeys &keys, const std::string &path,
                                    const std::array<const char *, 4> &names);
/// Declares the feed-forward of |layer|, PATH.intermediate.dense and PATH.output.dense, and its norm.
void declareBertFfn(TransformerSpec &spec, const BertKeys &keys, LayerSpec &layer);
/// Declares the stack, inputs, embeddings, layers and, if there is one, the norm after them.
void declareBertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

/// Declares the last hidden state as the only output.
void declareLastState(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Returns the weight of a head with scores of all words: if |keys|.tied, the word table, which files may also have
/// under |name|; otherwise the tensor |name|.
WeightId bertDecoderTable(TransformerSpec &spec, const BertKeys &keys, const std::string &name);
/// Returns the bias of the head |path| with scores of all words: PATH.bias if |isTied|, else PATH.decoder.bias. Each
/// name is accepted in place of the other.
WeightId bertDecoderBias(TransformerSpec &spec, int64_t vocab, const std::string &path, bool isTied);
/// Declares the pooler and returns its steps: tanh of a projection of the first token.
std::vector<HeadStep> bertPooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the last hidden state and the result of the pooler as outputs.
void declareBertOutputs(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the scores of classes: the projection `classifier` of the pooler's result.
void declareBertClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares BERT's head `cls.predictions`, scores of all words for every token, and returns its steps. |normName| is
/// the name of the norm in its transform.
std::vector<HeadStep> bertPredictions(TransformerSpec &spec, const BertKeys &keys, const char *normName = "LayerNorm");
void declareBertMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the scores of classes for every token, by the projection `classifier`.
void declareTokenClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares a score for each choice: the projection `classifier` of the result of |steps|.
void declareMultipleChoice(TransformerSpec &spec, const BertKeys &keys, std::vector<HeadStep> steps);
/// Declares a score for each choice: the projection `classifier` of the pooler's result.
void declarePooledMultipleChoice(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// The parts of RoBERTa's `lm_head` that differ between families.
struct LanguageHeadParts {
  /// The name of the norm in files of transformers, and another accepted name or null.
  const char *norm = "layer_norm", *otherNorm = nullptr;
  /// True if files name the bias `lm_head.decoder.bias`, also if the matrix is tied to the word table.
  bool hasDecoderBias = false;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::Gelu;
};
/// Declares the scores of all words for every token, by RoBERTa's `lm_head`.
void declareLanguageHead(TransformerSpec &spec, const BertKeys &keys, const LanguageHeadParts &parts);
void declareRobertaMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the scores of classes by RoBERTa's `classifier`: two projections of the first token, with tanh between
/// them.
void declareRobertaClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the same scores with |activation| in place of tanh.
void declareTokenScores(TransformerSpec &spec, const BertKeys &keys, mlir::xfmr::Activation activation);
/// Returns the classes of BERT under names that begin with |prefix|; |causal| is the rest of the causal model's name.
BertHeads bertHeads(const std::string &prefix, const std::string &causal);
/// Declares a start and an end score for each token, by the projection `qa_outputs` to two features.
void declareQuestionAnswering(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_BERTBASE_H
