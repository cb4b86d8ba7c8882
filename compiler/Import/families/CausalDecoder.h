//===- CausalDecoder.h - Decoders without encoders --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family of decoders is its defaults, a function that declares one layer, its names and its classes. Most since Llama have Llama's names:
// `model.embed_tokens`, `model.layers.N.self_attn.{q,k,v,o}_proj`, `model.layers.N.mlp.{gate,up,down}_proj`, norms before the branches,
// `model.norm` and `lm_head`; parts for these are below.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_CAUSALDECODER_H
#define ATTUNE_IMPORT_FAMILIES_CAUSALDECODER_H

#include "compiler/Import/families/Rope.h"

#include <functional>

namespace attune {

/// The values of keys that the file lacks, those of the family's configuration class in transformers.
struct DecoderDefaults {
  int64_t vocab = 32000, hidden = 4096, layers = 32, heads = 32;
  /// 0: as many as heads of queries.
  int64_t kvHeads = 0;
  /// 0: features / heads.
  int64_t headSize = 0;
  int64_t intermediate = 11008, positions = 2048;
  double epsilon = 1e-6;
  bool tied = false;
  const char *activation = "silu";
  const char *epsilonKey = "rms_norm_eps";
  const char *activationKey = "hidden_act";
  /// The keys of the family; the names above are understood, too (`attribute_map` in transformers).
  const char *hiddenKey = "hidden_size";
  const char *layersKey = "num_hidden_layers";
  const char *headsKey = "num_attention_heads";
  const char *positionsKey = "max_position_embeddings";
  /// Null means 4 times the features where |intermediate| is 0.
  const char *intermediateKey = "intermediate_size";
  std::optional<int64_t> padding = {};
};

/// The keys that these decoders share.
struct DecoderKeys {
  int64_t vocab, hidden, layers, heads, kvHeads, headSize, intermediate, positions, labels;
  double epsilon, classifierDropout;
  std::optional<int64_t> padding;
  mlir::xfmr::Activation activation;
  bool tied;
  /// The attention of a query that sees no key: to all keys alike, as transformers 5 computes it.
  mlir::xfmr::MaskedRows maskedRows = mlir::xfmr::MaskedRows::Uniform;

  int64_t queryFeatures() const { return heads * headSize; }
  int64_t keyFeatures() const { return kvHeads * headSize; }
  double headScale() const;
};

/// Reads them and refuses what is not implemented for any of these decoders.
DecoderKeys readDecoderKeys(ConfigReader &reader, const DecoderDefaults &defaults);

/// Which layers attend to a window of tokens before theirs: reads `layer_types`, a list of "full_attention" and "sliding_attention", or,
/// where the file lacks it, asks |isSliding| for each layer. The result has the size of the window of each layer, none where there is none;
/// a window of W tokens has the query's own and the W - 1 before it.
std::vector<std::optional<int64_t>> readWindows(ConfigReader &reader, const Config &config, int64_t layers, std::optional<int64_t> window,
                                                llvm::function_ref<bool(int64_t)> isSliding);

/// Reads `sliding_window`: the tokens of a window, |fallback| where the key is absent, none where it is null.
std::optional<int64_t> readWindow(ConfigReader &reader, std::optional<int64_t> fallback);

/// The biases of a layer's attention.
struct AttentionBiases {
  bool queryKeyValue = false, output = false;
};

/// Declares PATH.{q,k,v,o}_proj: causal attention with the scale of its head size.
AttentionSpec declareDecoderAttention(TransformerSpec &spec, const DecoderKeys &keys, const std::string &path, AttentionBiases biases = {});
/// Sets what causal attention with the scale of its head size has beside projections.
void setDecoderAttention(AttentionSpec &attention, const DecoderKeys &keys);
/// Declares PATH.{gate,up,down}_proj.
FfnSpec declareGatedFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &path, bool bias = false);
/// Declares the projections |up| and |down| of a feed-forward without gate.
FfnSpec declarePlainFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &up, const std::string &down, bool bias = true);
/// Restricts |attention| to a window of that many tokens, the query's own and those before it, if there is one.
void setWindow(AttentionSpec &attention, std::optional<int64_t> window);

/// Declares a layer called |path|, the number |index| of its stack.
using DeclareDecoderLayer = std::function<LayerSpec(TransformerSpec &spec, int64_t index, const std::string &path)>;
/// Declares the tables of positions and the like of a model whose tensors have the prefix |prefix|.
using DeclareTables = std::function<void(TransformerSpec &spec, const std::string &prefix)>;

/// The names of a family's modules.
struct DecoderNames {
  const char *base = "model.";
  const char *words = "embed_tokens";
  const char *layers = "layers";
  const char *norm = "norm";
  const char *head = "lm_head";
  const char *tokenClassifier = "score";
};

/// From the last hidden state to words.
struct LanguageHead {
  bool bias = false;
  double scale = 1;
  std::optional<double> softcap;
};

/// The classes of a family: PREFIXModel, PREFIXForCausalLM and those it has of the others.
struct DecoderClasses {
  const char *family;
  const char *prefix;
  bool sequence = true, token = true;
  /// The prefix of tensors of PREFIXForQuestionAnswering, null if there is no such class.
  const char *questionAnswering = "model.";
  /// Scores of sequences are those of the token number c - 1, c being how many ids are not padding, and not of the last such token. Both
  /// agree where padding is on the right.
  bool countsVisible = false;
  /// The names of PREFIXModel and PREFIXForSequenceClassification where they are others.
  const char *model = nullptr, *classifier = nullptr;
  /// Another spelling of the prefix, in older files.
  const char *olderPrefix = nullptr;
};

/// A decoder of a family, put together: words, tables of positions, layers, last norm and head.
class CausalDecoder {
public:
  CausalDecoder(ConfigReader &reader, const DecoderClasses &classes, const DecoderKeys &keys)
      : reader(reader), classes(classes), keys(keys) {}

  DecoderNames names;
  /// The kind of the model's norms.
  NormSpec (TransformerSpec::*normKind)(const std::string &name, int64_t size, double epsilon) = &TransformerSpec::rmsNorm;
  /// The factor of embeddings, and whether it applies to given vectors (`inputs_embeds`), too.
  double embeddingScale = 1;
  bool scalesGivenVectors = false;
  LanguageHead head;
  /// The inputs have token types, which are looked up in the word table and added where they are given.
  bool wordTypes = false;
  /// The features of words where projections lie between them and the layers, which `tables` declares; 0: those of the layers.
  int64_t wordFeatures = 0;
  /// Where the layers' norms are, and whether there is one after the last layer.
  NormPlacement placement = NormPlacement::Pre;
  bool hasFinalNorm = true;
  /// Positions are counted over the tokens that the mask shows, unless they are given.
  bool countsMask = false;
  /// Positions are no input, as nothing depends on them but distances.
  bool hasPositions = true;
  /// The rotary embeddings whose table is |rotary|.
  std::optional<RopeSpec> rope;
  /// The rotary embeddings of layers with a window where they are others.
  std::optional<RopeSpec> slidingRope;
  /// Declares further tables, after the word table.
  DeclareTables tables;

  /// The tables of |rope| and |slidingRope|, for layers that have rotary embeddings.
  WeightId rotary = noWeight, slidingRotary = noWeight;

  /// Declares a norm called |name| of |size| features, those of the model by default.
  NormSpec norm(TransformerSpec &spec, const std::string &name, std::optional<int64_t> size = std::nullopt) const {
    return (spec.*normKind)(name, size.value_or(keys.hidden), keys.epsilon);
  }
  /// Declares the model around the layers that |layer| declares.
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
