//===- Xlm.cpp - XLM and FlauBERT -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT's layers with other names. Vectors of languages may be added to those of words. Token types are rows of the word
// table, added only if they are an input. The vectors of hidden tokens are set to zero before every layer and after the
// last. FlauBERT may have norms before the branches, and then still has no norm after the last layer.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;
using mlir::xfmr::Activation;

namespace {

struct XlmKeys : BertKeys {
  /// The number of languages with vectors of their own, 0 without such vectors.
  int64_t languages = 0;
  bool normsBefore = false;
  /// True if the summary of a sequence is its last token; otherwise it is the first one.
  bool summarizesLast = false;
  int64_t summaryFeatures = 0;
  Activation summaryActivation = Activation::None;
};

} // namespace

/// Reads the keys that both families share, but for the padding id.
static XlmKeys readSharedKeys(ConfigReader &reader) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  XlmKeys keys;
  keys.vocab = reader.integer("vocab_size", "n_words", 30145, ids);
  keys.hidden = keys.embedding = reader.integer("emb_dim", "hidden_size", 2048, size);
  keys.layers = reader.integer("n_layers", "num_hidden_layers", 12, layers);
  keys.heads = reader.integer("n_heads", "num_attention_heads", 16, size);
  keys.intermediate = 4 * keys.hidden;
  keys.positions = reader.integer("max_position_embeddings", 512, size);
  keys.types = 0;
  keys.epsilon = reader.number("layer_norm_eps", 1e-12, 0, 1);
  keys.dropout = keys.classifierDropout = reader.number("dropout", 0.1, 0, 1);
  keys.activation = reader.flag("gelu_activation", true) ? Activation::Gelu : Activation::Relu;
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  if (keys.hidden % keys.heads != 0)
    reader.fail("emb_dim", "a multiple of 'n_heads', which is " + std::to_string(keys.heads));
  int64_t languages = reader.integer("n_langs", 1, {1, ids.max});
  keys.languages = reader.flag("use_lang_emb", true) && languages > 1 ? languages : 0;
  reader.reject("causal", "attention to earlier tokens only is not implemented for this family");
  reader.reject("asm", "an adaptive softmax is not implemented");
  if (!reader.flag("is_encoder", true))
    reader.fail("is_encoder", "true, as transformers has no decoder");
  rejectPrunedHeads(reader);
  static constexpr std::pair<const char *, bool> summaries[] = {{"first", false}, {"last", true}};
  const auto *summary = reader.choose("summary_type", reader.string("summary_type", "first"), summaries);
  keys.summarizesLast = summary && summary->second;
  if (!reader.flag("summary_use_proj", true))
    reader.fail("summary_use_proj", "true");
  keys.summaryFeatures = reader.flag("summary_proj_to_labels", true) ? keys.labels : keys.hidden;
  const std::string name = reader.architecture("");
  if (keys.summaryFeatures != keys.labels && name.find("ForMultipleChoice") != std::string::npos)
    reader.fail("summary_proj_to_labels", "true, as the head of " + name + " reads the labels");
  if (reader.present("summary_activation"))
    keys.summaryActivation = readActivation(reader, "summary_activation", "linear");
  return keys;
}

static constexpr IntegerRange paddingIds = {0, int64_t(1) << 31};

static XlmKeys readXlmKeys(ConfigReader &reader) {
  XlmKeys keys = readSharedKeys(reader);
  keys.padding = reader.integer("pad_token_id", "pad_index", 2, paddingIds);
  return keys;
}

static XlmKeys readFlaubertKeys(ConfigReader &reader) {
  XlmKeys keys = readSharedKeys(reader);
  // The default of `pad_token_id` takes precedence over `pad_index`, as in transformers.
  keys.padding = reader.integer("pad_token_id", 2, paddingIds);
  keys.normsBefore = reader.flag("pre_norm", false);
  return keys;
}

static void declareXlmLayer(TransformerSpec &spec, const XlmKeys &keys, const std::string &prefix, int64_t number) {
  auto name = [&](const std::string &list) { return prefix + list + "." + std::to_string(number); };
  LayerSpec layer;
  layer.path = name("attentions");
  layer.attention = declareWholeAttention(spec, keys, layer.path, {"q_lin", "k_lin", "v_lin", "out_lin"});
  layer.attentionNorm = spec.norm(name("layer_norm1"), keys.hidden, keys.epsilon);
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.linear(name("ffns") + ".lin1", keys.hidden, keys.intermediate);
  ffn.down = spec.linear(name("ffns") + ".lin2", keys.intermediate, keys.hidden);
  ffn.activation = keys.activation;
  layer.ffnNorm = spec.norm(name("layer_norm2"), keys.hidden, keys.epsilon);
  spec.encoder->layers.push_back(std::move(layer));
}

static void declareXlmModel(TransformerSpec &spec, const XlmKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  stack.placement = keys.normsBefore ? NormPlacement::Pre : NormPlacement::Post;
  stack.hiddenId = keys.padding;
  stack.zeroesHidden = true;
  EmbeddingSpec &embeddings = stack.embeddings;
  embeddings.path = prefix + "embeddings";
  embeddings.words = embeddings.types = spec.tensor(prefix + "embeddings.weight", {keys.vocab, keys.hidden});
  embeddings.positions = spec.tensor(prefix + "position_embeddings.weight", {keys.positions, keys.hidden});
  embeddings.typesIfGiven = embeddings.tasksIfGiven = embeddings.zeroesHidden = true;
  embeddings.dropout = keys.dropout;
  declareBertInputs(spec, keys);
  spec.inputs.push_back({"token_type_ids", InputRole::TokenTypes, keys.vocab, /*standard=*/false});
  spec.inputs.back().required = true;
  if (keys.languages != 0) {
    embeddings.tasks = spec.tensor(prefix + "lang_embeddings.weight", {keys.languages, keys.hidden});
    spec.inputs.push_back({"langs", InputRole::TaskTypes, keys.languages, /*standard=*/false});
    spec.inputs.back().required = true;
  }
  embeddings.norm = spec.norm(prefix + "layer_norm_emb", keys.hidden, keys.epsilon);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareXlmLayer(spec, keys, prefix, i);
}

static void declareXlmWords(TransformerSpec &spec, const XlmKeys &keys, const std::string &) {
  const std::string path = "pred_layer.proj";
  LinearSpec words;
  words.weight = bertDecoderTable(spec, keys, path + ".weight");
  words.bias = spec.tensor(path + ".bias", {keys.vocab});
  spec.outputs.push_back({"logits", {linearStep(words, path)}});
}

/// Declares the summary of a sequence, a projection of one token, and returns its steps.
static std::vector<HeadStep> summary(TransformerSpec &spec, const XlmKeys &keys) {
  const std::string path = "sequence_summary";
  LinearSpec projection = spec.classifier(path + ".summary", keys.hidden, keys.summaryFeatures);
  return {keys.summarizesLast ? lastTokenStep(std::nullopt, path) : poolStep(mlir::xfmr::PoolKind::First, path),
          linearStep(projection, path + ".summary"), activationStep(keys.summaryActivation, path + ".activation")};
}

static void declareXlmSequenceClassification(TransformerSpec &spec, const XlmKeys &keys, const std::string &) {
  spec.outputs.push_back({"logits", summary(spec, keys)});
}

static void declareXlmChoices(TransformerSpec &spec, const XlmKeys &keys, const std::string &) {
  spec.choices = true;
  std::vector<HeadStep> steps = summary(spec, keys);
  steps.push_back(linearStep(spec.linear("logits_proj", keys.labels, 1), "logits_proj"));
  spec.outputs.push_back({"logits", std::move(steps), /*squeeze=*/true});
  spec.classes = 0;
}

/// Returns the classes of a family; their names begin with |prefix|.
static EncoderHeads<XlmKeys> headsOf(const std::string &prefix) {
  return {{prefix + "Model", declareLastState},
          {prefix + "WithLMHeadModel", declareXlmWords},
          {prefix + "ForSequenceClassification", declareXlmSequenceClassification},
          {prefix + "ForTokenClassification", declareTokenClassification},
          {prefix + "ForQuestionAnsweringSimple", declareQuestionAnswering},
          {prefix + "ForMultipleChoice", declareXlmChoices}};
}

Result<TransformerSpec> attune::readXlmSpec(const Config &config) {
  static const EncoderHeads<XlmKeys> heads = headsOf("XLM");
  return readBertLike(config, "xlm", "transformer.", heads, readXlmKeys, declareXlmModel);
}

Result<TransformerSpec> attune::readFlaubertSpec(const Config &config) {
  static const EncoderHeads<XlmKeys> heads = headsOf("Flaubert");
  return readBertLike(config, "flaubert", "transformer.", heads, readFlaubertKeys, declareXlmModel);
}
