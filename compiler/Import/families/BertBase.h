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

/// The keys of a BertConfig.
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
  /// The rotary embeddings of queries and keys, for models that express positions by them.
  std::optional<RopeSpec> rope;
  /// True if the embeddings have a table of positions.
  bool positionTable = true;
  /// The name of the norm of the embeddings, or null.
  const char *embeddingNorm = "embeddings.LayerNorm";
  /// The names of the norms of a layer; that of attention is relative to "attention" or "crossattention".
  const char *attentionNorm = "output.LayerNorm", *ffnNorm = "output.LayerNorm";
  /// The name of a norm after the last layer, or null. With it the norms of layers are before their branches.
  const char *lastNorm = nullptr;
  /// The number of features of the embedding tables. If it is not that of the layers, the projection `PREFIX +
  /// embeddingProjection` follows the embeddings.
  int64_t embedding = 0;
  const char *embeddingProjection = nullptr;
  /// The number of groups of layers that share weights, and the number of layers in each.
  int64_t groups = 0, layersOfGroup = 1;
  /// The padding id, for models whose positions depend on it or that hide padding without a mask.
  int64_t padding = 0;
  /// The heads that the saved weights lack.
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

/// Reads the keys that most families of BERT's kind have: those of readBertSizes and `position_embedding_type`.
BertKeys readBertKeys(ConfigReader &reader, const BertDefaults &defaults = {});
/// Reads these keys without `position_embedding_type`, whose values differ between families.
BertKeys readBertSizes(ConfigReader &reader, const BertDefaults &defaults = {});
/// Records an error if `position_embedding_type` is not "absolute", a table of embeddings.
void rejectRelativePositions(ConfigReader &reader);
/// Reads `pad_token_id`, with the default |fallback|, for models whose first position is this id plus one.
void readCountedPadding(ConfigReader &reader, BertKeys &keys, int64_t fallback);
/// Makes positions count the tokens that are not padding, from the row |keys.padding| + 1 of the table of positions on.
/// Padding has the row |keys.padding|; earlier rows are unused. Sets the largest length to the number of rows that
/// remain. An input of positions then has no default.
void countPositions(TransformerSpec &spec, const BertKeys &keys);
/// Returns the only stack of |spec|.
StackSpec &bertStack(TransformerSpec &spec);
/// Declares the embeddings, with token types if the model has them, but without the projection of their sum.
void declareBertEmbeddings(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the inputs of |spec|, whose stack must exist.
void declareBertInputs(TransformerSpec &spec, const BertKeys &keys);
/// Declares the stack of a model, without layers.
StackSpec &declareBertStack(TransformerSpec &spec, const BertKeys &keys);
/// Sets the parts of |attention| that are not projections. No head is removed (pruned).
void setWholeAttention(AttentionSpec &attention, const BertKeys &keys);
/// Declares an attention without removed heads. Its projections of queries, keys, values and outputs are PATH.NAME, in
/// this order of |names|.
AttentionSpec declareWholeAttention(TransformerSpec &spec, const BertKeys &keys, const std::string &path,
                                    const std::array<const char *, 4> &names);
/// Declares the feed-forward of |layer|, PATH.intermediate.dense and PATH.output.dense, and its norm.
void declareBertFfn(TransformerSpec &spec, const BertKeys &keys, LayerSpec &layer);
/// Declares the stack, inputs, embeddings, layers and, if there is one, the norm after them.
void declareBertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

/// Declares the last hidden state as the only output.
void declareLastState(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Returns the weight of a head with scores of all words: the word table, which files may also have under |name|, if it
/// is tied; otherwise the tensor |name|.
WeightId bertDecoderTable(TransformerSpec &spec, const BertKeys &keys, const std::string &name);
/// Returns the bias of the head |path| with scores of all words: PATH.bias if |isTied|, else PATH.decoder.bias. Files
/// may have either.
WeightId bertDecoderBias(TransformerSpec &spec, int64_t vocab, const std::string &path, bool isTied);
/// Declares the pooler and returns its steps: tanh of a projection of the first token.
std::vector<HeadStep> bertPooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the last hidden state and the result of the pooler as outputs.
void declareBertOutputs(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the scores of classes: `classifier` of the pooled first token.
void declareBertClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Returns the steps of BERT's `cls.predictions`, scores of all words for every token. |normName| is the name of the
/// norm in its transform.
std::vector<HeadStep> bertPredictions(TransformerSpec &spec, const BertKeys &keys, const char *normName = "LayerNorm");
void declareBertMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the scores of classes for every token, by `classifier`.
void declareTokenClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares a score for each choice, `classifier` of |steps|.
void declareMultipleChoice(TransformerSpec &spec, const BertKeys &keys, std::vector<HeadStep> steps);
/// Declares a score for each choice, `classifier` of the pooled first token.
void declarePooledMultipleChoice(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// The parts of `lm_head` that differ between families.
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
/// Declares the scores of classes by RoBERTa's `classifier`, two projections of the first token.
void declareRobertaClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);
/// Declares the same with |activation| in place of tanh.
void declareTokenScores(TransformerSpec &spec, const BertKeys &keys, mlir::xfmr::Activation activation);
/// Returns the classes of BERT under names that begin with |prefix|; |causal| is the end of the causal model's name.
BertHeads bertHeads(const std::string &prefix, const std::string &causal);
/// Declares a start and an end score for each token, by the projection `qa_outputs` to two features.
void declareQuestionAnswering(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_BERTBASE_H
