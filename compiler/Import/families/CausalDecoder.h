//===- CausalDecoder.h - Decoders without encoders --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family of decoders consists of its defaults, a function that declares one layer, its names and its classes. Most
// families since Llama have Llama's names: `model.embed_tokens`, `model.layers.N.self_attn.{q,k,v,o}_proj`,
// `model.layers.N.mlp.{gate,up,down}_proj`, norms before the branches, `model.norm` and `lm_head`. The functions below
// declare parts with these names.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_CAUSALDECODER_H
#define ATTUNE_IMPORT_FAMILIES_CAUSALDECODER_H

#include "compiler/Import/families/Rope.h"

#include <functional>

namespace attune {

/// The keys of the sizes of heads that a family reads. A family that reads none ignores both, as transformers does: it
/// has as many key heads as query heads, of features / heads components.
enum class HeadKeys {
  None,
  /// `num_key_value_heads`.
  KeyHeads,
  /// `num_key_value_heads` and `head_dim`.
  All,
};

/// The defaults of keys, those of the family's configuration class in transformers, and the names of its keys.
struct DecoderDefaults {
  int64_t vocab = 32000, hidden = 4096, layers = 32, heads = 32;
  HeadKeys headKeys = HeadKeys::None;
  /// 0: as many as query heads.
  int64_t kvHeads = 0;
  /// 0: features / heads.
  int64_t headSize = 0;
  int64_t intermediate = 11008, positions = 2048;
  double epsilon = 1e-6;
  bool tied = false;
  const char *activation = "silu";
  const char *epsilonKey = "rms_norm_eps";
  const char *activationKey = "hidden_act";
  /// The family's names of the following four keys. The names below are accepted in all families, too (`attribute_map`
  /// in transformers).
  const char *hiddenKey = "hidden_size";
  const char *layersKey = "num_hidden_layers";
  const char *headsKey = "num_attention_heads";
  const char *positionsKey = "max_position_embeddings";
  /// Another name of |hiddenKey|, which takes precedence if the file has both.
  const char *otherHiddenKey = "hidden_size";
  /// If the default |intermediate| is 0, a key that is absent or null means 4 times the features.
  const char *intermediateKey = "intermediate_size";
  std::optional<int64_t> padding = {};
  /// True if the key `is_causal` may be false; then tokens attend to later ones, too.
  bool bidirectional = false;
};

/// The values of the keys of config.json that all families of this file have, and what a family sets beside them.
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

/// Reads the keys that these decoders share. If `head_dim` is null, heads have features / heads components, whatever
/// the family's default. Refuses removed heads and, unless |defaults| is bidirectional, attention to later tokens.
DecoderKeys readDecoderKeys(ConfigReader &reader, const DecoderDefaults &defaults);

/// Returns for each layer |window|, the size of its attention window, or nullopt if it has none. `layer_types` lists
/// "sliding_attention" for layers with a window, "full_attention" or "attention" for the others; a layer with a window
/// is an error if |window| is empty. Without `layer_types`, layer i has a window if |window| has a value and
/// |isSliding|(i) is true.
std::vector<std::optional<int64_t>> readWindows(ConfigReader &reader, const Config &config, int64_t layers, std::optional<int64_t> window,
                                                llvm::function_ref<bool(int64_t)> isSliding);

/// Reads `sliding_window`, the number of tokens in a window: |fallback| if the key is absent, none if it is null.
std::optional<int64_t> readWindow(ConfigReader &reader, std::optional<int64_t> fallback);

/// The biases of a layer's attention.
struct AttentionBiases {
  bool queryKeyValue = false, output = false;
};

/// Declares PATH.{q,k,v,o}_proj: attention with the scale of its head size, causal if |keys| says so.
AttentionSpec declareDecoderAttention(TransformerSpec &spec, const DecoderKeys &keys, const std::string &path, AttentionBiases biases = {});
/// Sets the parts of |attention| that are not projections, such as the scale of its head size.
void setDecoderAttention(AttentionSpec &attention, const DecoderKeys &keys);
/// Declares PATH.{gate,up,down}_proj.
FfnSpec declareGatedFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &path, bool bias = false);
/// Declares the projections |joined|, first the rows of the gate, then those of up, and |down|.
FfnSpec declareJoinedFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &joined, const std::string &down);
/// Declares the projections |up| and |down| of a feed-forward without a gate.
FfnSpec declarePlainFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &up, const std::string &down, bool bias = true);
/// Restricts |attention| to a window of |window| tokens, if it has a value: the query's own and those before it. Where
/// tokens attend to later ones, too, |window| tokens are visible on either side.
void setWindow(AttentionSpec &attention, std::optional<int64_t> window);

/// A function that declares the layer |path|, number |index| of its stack.
using DeclareDecoderLayer = std::function<LayerSpec(TransformerSpec &spec, int64_t index, const std::string &path)>;
/// A function that declares tables of a model, such as the embeddings of positions. Their names begin with |prefix|.
using DeclareTables = std::function<void(TransformerSpec &spec, const std::string &prefix)>;

/// The names of the modules of a family.
struct DecoderNames {
  const char *base = "model.";
  const char *words = "embed_tokens";
  const char *layers = "layers";
  const char *norm = "norm";
  const char *head = "lm_head";
  const char *tokenClassifier = "score";
};

/// The head from the last hidden state to scores of words.
struct LanguageHead {
  bool bias = false;
  double scale = 1;
  std::optional<double> softcap;
  /// True if each row of the matrix is divided by its Euclidean length.
  bool unitRows = false;
};

/// The classes of a family: PREFIXModel, PREFIXForCausalLM and those of the others that exist.
struct DecoderClasses {
  const char *family;
  const char *prefix;
  bool sequence = true, token = true;
  /// The prefix of the base model's tensors in PREFIXForQuestionAnswering; null if there is no such class.
  const char *questionAnswering = "model.";
  /// True if the scores of a sequence are those of token c - 1, where c is the number of its ids that are not padding;
  /// otherwise they are those of the last token whose id is not padding. Both agree if padding is on the right.
  bool countsVisible = false;
  /// The names of PREFIXModel and PREFIXForSequenceClassification if they differ.
  const char *model = nullptr, *classifier = nullptr;
  /// Another spelling of the prefix in older files, or null.
  const char *olderPrefix = nullptr;
  /// The end of the name of the class that scores words, after the prefix.
  const char *causal = "ForCausalLM";
};

/// Declares a decoder of a family: words, tables of positions, layers, last norm and head.
class CausalDecoder {
public:
  CausalDecoder(ConfigReader &reader, const DecoderClasses &classes, const DecoderKeys &keys)
      : reader(reader), classes(classes), keys(keys) {}

  DecoderNames names;
  /// The member that declares norms of the kind of the model.
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
  /// The placement of the layers' norms, and whether there is a norm after the last layer.
  NormPlacement placement = NormPlacement::Pre;
  bool hasFinalNorm = true;
  /// True if positions that are not given as an input are counted over the tokens that the mask shows. Row 0 of the
  /// table of positions is then that of hidden tokens, and position 0 has row 1.
  bool countsMask = false;
  /// False if positions are no input, since the model depends only on distances.
  bool hasPositions = true;
  /// The rotary embeddings whose table is |rotary|; empty if the model has none.
  std::optional<RopeSpec> rope;
  /// The rotary embeddings of layers with a window, if they differ; their table is |slidingRotary|.
  std::optional<RopeSpec> slidingRope;
  /// Declares further tables, after the word table.
  DeclareTables tables;
  /// Declares the head of sequence classification, where it is more than a projection of the last token.
  std::function<std::vector<HeadStep>(TransformerSpec &spec)> scoreSequence;

  /// The tables of |rope| and |slidingRope|, set before layers are declared; noWeight without these.
  WeightId rotary = noWeight, slidingRotary = noWeight;

  /// Declares the norm |name| of |size| features, by default as many as the model has.
  NormSpec norm(TransformerSpec &spec, const std::string &name, std::optional<int64_t> size = std::nullopt) const {
    return (spec.*normKind)(name, size.value_or(keys.hidden), keys.epsilon);
  }
  /// Declares the model with the layers that |layer| declares.
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
