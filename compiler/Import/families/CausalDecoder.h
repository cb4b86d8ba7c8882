//===- CausalDecoder.h - Decoders without encoders --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family of decoders consists of its defaults, a function that declares one layer, its names and its classes. Most
// families since Llama have Llama's names: `model.embed_tokens`, `model.layers.N.self_attn.{q,k,v,o}_proj`,
// `model.layers.N.mlp.{gate,up,down}_proj`, `model.layers.N.{input,post_attention}_layernorm` for the norms before the
// branches, `model.norm` and `lm_head`. The functions below declare parts with these names.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_CAUSALDECODER_H
#define ATTUNE_IMPORT_FAMILIES_CAUSALDECODER_H

#include "compiler/Import/families/Rope.h"

#include <functional>

namespace attune {

/// The keys for the number of key heads and the size of heads that a family reads. Without its key, a number is the
/// default in DecoderDefaults; a key that the family does not read is ignored, as in transformers.
enum class HeadKeys {
  None,
  /// `num_key_value_heads`.
  KeyHeads,
  /// `num_key_value_heads` and `head_dim`.
  All,
};

/// The defaults of a family's keys, as in its configuration class in transformers, and the names of the keys.
struct DecoderDefaults {
  int64_t vocab = 32000, hidden = 4096, layers = 32, heads = 32;
  HeadKeys headKeys = HeadKeys::None;
  /// The number of key heads if the key is absent; 0: as many as query heads.
  int64_t kvHeads = 0;
  /// The number of components of a head if the key is absent; 0: `hidden_size` / heads.
  int64_t headSize = 0;
  int64_t intermediate = 11008, positions = 2048;
  double epsilon = 1e-6;
  bool tied = false;
  const char *activation = "silu";
  const char *epsilonKey = "rms_norm_eps";
  const char *activationKey = "hidden_act";
  /// The family's names of the following four keys. The names that are the defaults here are accepted in all families,
  /// too (`attribute_map` in transformers), and take precedence if the file has both.
  const char *hiddenKey = "hidden_size";
  const char *layersKey = "num_hidden_layers";
  const char *headsKey = "num_attention_heads";
  const char *positionsKey = "max_position_embeddings";
  /// Another name of |hiddenKey|, which takes precedence if the file has both.
  const char *otherHiddenKey = "hidden_size";
  /// If the default |intermediate| is 0, a key that is absent or null means 4 times `hidden_size`.
  const char *intermediateKey = "intermediate_size";
  std::optional<int64_t> padding = {};
  /// True if the key `is_causal` may be false; then tokens attend to later ones, too.
  bool bidirectional = false;
};

/// The values of the keys that readDecoderKeys reads, and |maskedRows|. A family may replace any of them afterwards.
struct DecoderKeys {
  int64_t vocab, hidden, layers, heads, kvHeads, headSize, intermediate, positions, labels;
  double epsilon, classifierDropout;
  std::optional<int64_t> padding;
  mlir::xfmr::Activation activation;
  bool tied, causal;
  /// True if the projection "score" of a classifier of tokens has a bias.
  bool tokenBias = true;
  /// The probabilities of a query without a visible key; by default those of transformers 5.
  mlir::xfmr::MaskedRows maskedRows = mlir::xfmr::MaskedRows::Uniform;

  int64_t queryFeatures() const { return heads * headSize; }
  int64_t keyFeatures() const { return kvHeads * headSize; }
  double headScale() const;
};

/// Reads the keys that decoders share. If `head_dim` is null, a head has `hidden_size` / heads components, whatever the
/// family's default. Records an error for `pruned_heads` and, unless |defaults|.bidirectional is true, for attention to
/// later tokens.
DecoderKeys readDecoderKeys(ConfigReader &reader, const DecoderDefaults &defaults);

/// Returns for each layer |window|, the number of tokens of its attention window, or nullopt if the layer has no
/// window. `layer_types` lists "sliding_attention" for layers with a window, "full_attention" or "attention" for the
/// others; if it lists a layer with a window and |window| is empty, an error is recorded. Without `layer_types`, layer
/// i, counted from 0, has a window if |window| has a value and |isSliding|(i) is true.
std::vector<std::optional<int64_t>> readWindows(ConfigReader &reader, const Config &config, int64_t layers, std::optional<int64_t> window,
                                                llvm::function_ref<bool(int64_t)> isSliding);

/// Returns `sliding_window`, the number of tokens in a window, |fallback| if the key is absent, or nullopt if it is
/// null.
std::optional<int64_t> readWindow(ConfigReader &reader, std::optional<int64_t> fallback);

/// True for the projections of a layer's attention that have biases: those of queries, keys and values, and that of the
/// output.
struct AttentionBiases {
  bool queryKeyValue = false, output = false;
};

/// Declares the attention with the projections PATH.{q,k,v,o}_proj, and sets its other parts with setDecoderAttention.
AttentionSpec declareDecoderAttention(TransformerSpec &spec, const DecoderKeys &keys, const std::string &path, AttentionBiases biases = {});
/// Sets the numbers of heads in |attention|, the scale `1 / sqrt(head size)`, the causal flag and the probabilities of
/// a query without a visible key, all from |keys|.
void setDecoderAttention(AttentionSpec &attention, const DecoderKeys &keys);
/// Declares PATH.{gate,up,down}_proj.
FfnSpec declareGatedFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &path, bool bias = false);
/// Declares a gated feed-forward whose gate and up projections are one tensor, |joined|: first the rows of the gate,
/// then those of up. The down projection is |down|.
FfnSpec declareJoinedFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &joined, const std::string &down);
/// Declares the projections |up| and |down| of a feed-forward without a gate.
FfnSpec declarePlainFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &up, const std::string &down, bool bias = true);
/// Restricts |attention| to a window, unless |window| is empty. If |attention| is causal, its window has |window|
/// tokens, the last of which is the query's own; otherwise |window| tokens before the query's own and as many after it.
void setWindow(AttentionSpec &attention, std::optional<int64_t> window);

/// A function that declares layer |index|, counted from 0. The names of its tensors begin with |path|.
using DeclareDecoderLayer = std::function<LayerSpec(TransformerSpec &spec, int64_t index, const std::string &path)>;
/// A function that declares tables of a model, such as the embeddings of positions. Their names begin with |prefix|.
using DeclareTables = std::function<void(TransformerSpec &spec, const std::string &prefix)>;

/// The names of a family's modules. |base| precedes |words|, |layers| and |norm| in classes other than the base model;
/// |head| and |tokenClassifier| are whole names.
struct DecoderNames {
  const char *base = "model.";
  const char *words = "embed_tokens";
  const char *layers = "layers";
  const char *norm = "norm";
  const char *head = "lm_head";
  const char *tokenClassifier = "score";
};

/// The head from the last hidden state to scores of words, the tokens of the vocabulary. Scores are multiplied by
/// |scale|, then limited by |softcap|.
struct LanguageHead {
  bool bias = false;
  double scale = 1;
  std::optional<double> softcap;
  /// True if each row of the matrix is divided by its Euclidean length.
  bool unitRows = false;
};

/// The classes of a family: PREFIXModel, PREFIXForCausalLM, PREFIXForSequenceClassification if |sequence|,
/// PREFIXForTokenClassification if |token|, and PREFIXForQuestionAnswering if |questionAnswering| is not null.
struct DecoderClasses {
  const char *family;
  const char *prefix;
  bool sequence = true, token = true;
  /// The prefix of the base model's tensors in PREFIXForQuestionAnswering; null if there is no such class.
  const char *questionAnswering = "model.";
  /// True if the scores of a sequence are those of token c - 1, where c is the number of its ids that are not padding;
  /// otherwise they are those of the last token whose id is not padding. Both agree if padding is on the right.
  bool countsVisible = false;
  /// The names of PREFIXModel and PREFIXForSequenceClassification in a family that has others, or null. With
  /// |classifier| the latter class exists even if |sequence| is false.
  const char *model = nullptr, *classifier = nullptr;
  /// Another spelling of the prefix in older files, or null.
  const char *olderPrefix = nullptr;
  /// The end of the name of the class that scores words, after the prefix.
  const char *causal = "ForCausalLM";
};

/// The description of a decoder. A family sets the fields, and `declare` declares the word table, tables of positions,
/// layers, last norm and head.
class CausalDecoder {
public:
  CausalDecoder(ConfigReader &reader, const DecoderClasses &classes, const DecoderKeys &keys)
      : reader(reader), classes(classes), keys(keys) {}

  DecoderNames names;
  /// The member function that declares the model's kind of norm.
  NormSpec (TransformerSpec::*normKind)(const std::string &name, int64_t size, double epsilon) = &TransformerSpec::rmsNorm;
  /// |embeddingScale| multiplies word vectors and, with |scalesGivenVectors|, also those of the input `inputs_embeds`.
  double embeddingScale = 1;
  bool scalesGivenVectors = false;
  LanguageHead head;
  /// True if there is an input of token types, which are looked up in the word table and added.
  bool wordTypes = false;
  /// The number of features of words, if |tables| declares projections between them and the layers; 0 for as many as
  /// the layers have.
  int64_t wordFeatures = 0;
  /// The placement of the layers' norms; |hasFinalNorm| is true if there is a norm after the last layer.
  NormPlacement placement = NormPlacement::Pre;
  bool hasFinalNorm = true;
  /// True if positions that are not given as an input are counted over the tokens that the mask shows. Row 0 of the
  /// table of positions is then that of hidden tokens, and position 0 has row 1.
  bool countsMask = false;
  /// False if positions are no input, since the model depends only on distances.
  bool hasPositions = true;
  /// The rotary embeddings whose table is |rotary|; empty if the model has none.
  std::optional<RopeSpec> rope;
  /// The rotary embeddings of layers with a window, if they differ from those of the other layers; their table is
  /// |slidingRotary|.
  std::optional<RopeSpec> slidingRope;
  /// Declares further tables, after the word table.
  DeclareTables tables;
  /// Declares the head of sequence classification; if empty, the head is a projection of the last token.
  std::function<std::vector<HeadStep>(TransformerSpec &spec)> scoreSequence;

  /// The tables of |rope| and |slidingRope|, which `declare` sets before it declares layers; noWeight for one that is
  /// empty.
  WeightId rotary = noWeight, slidingRotary = noWeight;

  /// Declares the norm |name| of |size| features, by default as many as the model has.
  NormSpec norm(TransformerSpec &spec, const std::string &name, std::optional<int64_t> size = std::nullopt) const {
    return (spec.*normKind)(name, size.value_or(keys.hidden), keys.epsilon);
  }
  /// Declares the model with the layers that |layer| declares. Fails with the first error that the reader has recorded
  /// before layers are declared, or if the class is unknown.
  Result<TransformerSpec> declare(const DeclareDecoderLayer &layer);

private:
  std::string modelClass() const;
  std::string classifierClass() const;
  void declareStack(TransformerSpec &spec, const std::string &prefix);
  void declareHead(TransformerSpec &spec);
  int64_t getWordFeatures() const { return wordFeatures == 0 ? keys.hidden : wordFeatures; }

  ConfigReader &reader;
  const DecoderClasses &classes;
  const DecoderKeys &keys;
};

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_CAUSALDECODER_H
