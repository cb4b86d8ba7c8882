//===- Gpt2.cpp - GPT-2 ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decoder layers with norms before the branches. Projections are stored [in, out], those of queries, keys and values joined. Token types,
// where they are given, are rows of the word table. Defaults are those of transformers' GPT2Config, whose keys have two names each.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/DecoderParts.h"
#include "compiler/Import/families/Families.h"
#include "compiler/Import/PruneHeads.h"

#include <cmath>

using namespace attune;

namespace {

/// The keys that GPT-2 reads.
struct Gpt2Keys {
  int64_t vocab, positions, hidden, layers, heads, inner, labels;
  double epsilon, dropout, classifierDropout;
  std::optional<int64_t> padding;
  mlir::xfmr::Activation activation, summaryActivation = mlir::xfmr::Activation::None;
  bool scaled, scaledByLayer, tied, cross;
  HeadsByLayer pruned;
};

using DeclareHead = void (*)(TransformerSpec &spec, const Gpt2Keys &keys);

} // namespace

/// Reads how a choice is judged by one of its tokens; only a projection to one score is implemented.
static void readSummary(ConfigReader &reader, Gpt2Keys &keys) {
  if (reader.string("summary_type", "cls_index") != "cls_index")
    reader.fail("summary_type", "\"cls_index\"");
  for (const char *key : {"summary_use_proj", "summary_proj_to_labels"})
    if (!reader.flag(key, true))
      reader.fail(key, "true");
  if (reader.present("summary_activation"))
    keys.summaryActivation = readActivation(reader, "summary_activation", "linear");
}

static Gpt2Keys readKeys(ConfigReader &reader) {
  constexpr Range size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  Gpt2Keys keys;
  keys.vocab = reader.integer("vocab_size", 50257, ids);
  keys.positions = reader.integer("max_position_embeddings", reader.integer("n_positions", 1024, size), size);
  keys.hidden = reader.integer("hidden_size", reader.integer("n_embd", 768, size), size);
  keys.layers = reader.integer("num_hidden_layers", reader.integer("n_layer", 12, layers), layers);
  keys.heads = reader.integer("num_attention_heads", reader.integer("n_head", 12, size), size);
  keys.inner = reader.present("n_inner") ? reader.integer("n_inner", 0, size) : 4 * keys.hidden;
  keys.epsilon = reader.number("layer_norm_epsilon", 1e-5, 0, 1);
  keys.dropout = reader.number("resid_pdrop", 0.1, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : 0.1;
  keys.activation = readActivation(reader, "activation_function", "gelu_new");
  keys.scaled = reader.flag("scale_attn_weights", true);
  keys.scaledByLayer = reader.flag("scale_attn_by_inverse_layer_idx", false);
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  keys.padding = reader.present("pad_token_id") ? std::optional(reader.integer("pad_token_id", 0, {-1, keys.vocab})) : std::nullopt;
  if (keys.hidden % keys.heads != 0)
    reader.fail(reader.present("hidden_size") ? "hidden_size" : "n_embd",
                "a multiple of the heads, which are " + std::to_string(keys.heads));
  keys.pruned = readPrunedHeads(reader, keys.layers, keys.heads);
  keys.cross = reader.flag("add_cross_attention", false);
  if (reader.architecture("GPT2Model") == "GPT2DoubleHeadsModel")
    readSummary(reader, keys);
  reader.reject("quantization_config", "quantised weights are not implemented");
  return keys;
}

static void declareEmbeddings(TransformerSpec &spec, const Gpt2Keys &keys, const std::string &prefix) {
  EmbeddingSpec &embeddings = spec.decoder->embeddings;
  embeddings.path = prefix + "wte";
  embeddings.words = embeddings.types = spec.tensor(prefix + "wte.weight", {keys.vocab, keys.hidden});
  if (keys.tied)
    spec.addAlias(embeddings.words, "lm_head.weight");
  embeddings.positions = spec.tensor(prefix + "wpe.weight", {keys.positions, keys.hidden});
  embeddings.typesIfGiven = true;
  declareDecoderInputs(spec, keys.vocab, keys.positions);
  spec.inputs.push_back({"token_type_ids", InputRole::TokenTypes, keys.vocab, /*standard=*/false, StackRole::Decoder, false, true});
  spec.inputs.push_back({"head_mask", InputRole::HeadMask, 0, /*standard=*/false, StackRole::Decoder});
  if (keys.cross)
    declareMemoryInputs(spec);
}

static void declareLayer(TransformerSpec &spec, const Gpt2Keys &keys, int64_t number, const std::string &path) {
  LayerSpec layer;
  layer.path = path;
  layer.attentionNorm = spec.norm(path + ".ln_1", keys.hidden, keys.epsilon);
  AttentionSpec &attention = layer.attention.emplace();
  attention.headNumbers = remainingHeads(keys.pruned, number, keys.heads);
  attention.originalHeads = keys.heads;
  attention.heads = attention.kvHeads = int64_t(attention.headNumbers.size());
  int64_t headSize = keys.hidden / keys.heads, inner = headSize * attention.heads;
  LinearSpec joined = spec.transposedLinear(path + ".attn.c_attn", keys.hidden, 3 * inner);
  // A factor of the queries, not of the scale: layers that differ in numbers only are one function.
  double factor = keys.scaledByLayer ? 1 / double(number + 1) : 1;
  attention.query = spec.scaled(spec.features(joined, 0, inner), factor);
  attention.key = spec.features(joined, inner, 2 * inner);
  attention.value = spec.features(joined, 2 * inner, 3 * inner);
  attention.output = spec.transposedLinear(path + ".attn.c_proj", inner, keys.hidden);
  attention.scale = keys.scaled ? 1 / std::sqrt(double(headSize)) : 1;
  attention.causal = true;
  attention.maskedRows = mlir::xfmr::MaskedRows::LeastMasked;
  if (keys.cross)
    declareGpt2Cross(spec, layer, keys.heads, keys.epsilon, factor);
  layer.ffnNorm = spec.norm(path + ".ln_2", keys.hidden, keys.epsilon);
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.transposedLinear(path + ".mlp.c_fc", keys.hidden, keys.inner);
  ffn.down = spec.transposedLinear(path + ".mlp.c_proj", keys.inner, keys.hidden);
  ffn.activation = keys.activation;
  spec.decoder->layers.push_back(std::move(layer));
}

static void declareLMHead(TransformerSpec &spec, const Gpt2Keys &keys) {
  WeightId words = keys.tied ? spec.decoder->embeddings.words : spec.tensor("lm_head.weight", {keys.vocab, keys.hidden});
  spec.outputs.push_back({"logits", {linearStep({words, noWeight}, "lm_head")}});
}

/// Scores of words, and of each choice by its token that an input says.
static void declareDoubleHeads(TransformerSpec &spec, const Gpt2Keys &keys) {
  const std::string path = "multiple_choice_head";
  spec.choices = true;
  spec.decoder->cached = false;
  spec.inputs.push_back({"mc_token_ids", InputRole::TokenPlace, keys.positions, /*standard=*/false, StackRole::Decoder});
  declareLMHead(spec, keys);
  LinearSpec summary = spec.linear(path + ".summary", keys.hidden, 1);
  spec.outputs.push_back(
      {"mc_logits",
       {givenTokenStep(path), linearStep(summary, path + ".summary"), activationStep(keys.summaryActivation, path + ".activation")},
       /*squeeze=*/true});
}

static void declareQuestionAnswering(TransformerSpec &spec, const Gpt2Keys &keys) {
  declareStartAndEnd(spec, spec.linear("qa_outputs", keys.hidden, 2));
}

static void declareTokenClassification(TransformerSpec &spec, const Gpt2Keys &keys) {
  HeadStep classifier = linearStep(spec.linear("classifier", keys.hidden, keys.labels), "classifier");
  spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), classifier}});
}

static void declareSequenceClassification(TransformerSpec &spec, const Gpt2Keys &keys) {
  HeadStep score = linearStep(spec.linear("score", keys.hidden, keys.labels, /*bias=*/false), "score");
  spec.outputs.push_back({"logits", {lastTokenStep(keys.padding, "score"), score}});
}

Result<TransformerSpec> attune::readGpt2Spec(const Config &config) {
  static constexpr std::pair<const char *, DeclareHead> heads[] = {
      {"GPT2Model", [](TransformerSpec &spec, const Gpt2Keys &) { spec.outputs.push_back({"last_hidden_state", {}}); }},
      {"GPT2LMHeadModel", declareLMHead},
      {"GPT2DoubleHeadsModel", declareDoubleHeads},
      {"GPT2ForQuestionAnswering", declareQuestionAnswering},
      {"GPT2ForSequenceClassification", declareSequenceClassification},
      {"GPT2ForTokenClassification", declareTokenClassification},
  };
  ConfigReader reader(config);
  Gpt2Keys keys = readKeys(reader);
  TransformerSpec spec;
  spec.family = "gpt2";
  spec.architecture = reader.architecture("GPT2Model");
  spec.basePrefix = "transformer.";
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  std::string prefix = head == heads ? "" : spec.basePrefix;

  StackSpec &stack = spec.decoder.emplace();
  stack.name = "decoder";
  stack.placement = NormPlacement::Pre;
  stack.dropout = stack.embeddings.dropout = keys.dropout;
  stack.hidden = stack.memoryHidden = keys.hidden;
  stack.maxLength = keys.positions;
  stack.cached = true;
  declareEmbeddings(spec, keys, prefix);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareLayer(spec, keys, i, prefix + "h." + std::to_string(i));
  spec.decoder->finalNorm = spec.norm(prefix + "ln_f", keys.hidden, keys.epsilon);
  head->second(spec, keys);
  return spec;
}
