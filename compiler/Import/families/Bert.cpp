//===- Bert.cpp - BERT: keys, tensor names, heads -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Encoder layers with norms after the residual sums. Defaults are those of transformers' BertConfig. Tensors are declared in the order of a
// generated weight file.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;
using mlir::xfmr::Activation;

namespace {

/// The keys that BERT reads.
struct BertKeys {
  int64_t vocab, hidden, layers, heads, intermediate, positions, types, labels;
  double epsilon, dropout, classifierDropout;
  Activation activation;
  bool tied;
};

/// Adds the outputs of one architecture to a spec whose base model is declared.
using DeclareHead = void (*)(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix);

} // namespace

static BertKeys readKeys(ConfigReader &reader) {
  constexpr Range size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  BertKeys keys;
  keys.vocab = reader.integer("vocab_size", 30522, ids);
  keys.hidden = reader.integer("hidden_size", 768, size);
  keys.layers = reader.integer("num_hidden_layers", 12, layers);
  keys.heads = reader.integer("num_attention_heads", 12, size);
  keys.intermediate = reader.integer("intermediate_size", 3072, size);
  keys.positions = reader.integer("max_position_embeddings", 512, size);
  keys.types = reader.integer("type_vocab_size", 2, ids);
  keys.epsilon = reader.number("layer_norm_eps", 1e-12, 0, 1);
  keys.dropout = reader.number("hidden_dropout_prob", 0.1, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : keys.dropout;
  keys.activation = readActivation(reader, "hidden_act", "gelu");
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  if (keys.hidden % keys.heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(keys.heads));

  if (reader.string("position_embedding_type", "absolute") != "absolute")
    reader.fail("position_embedding_type", "\"absolute\"");
  reader.reject("is_decoder", "causal attention and caches are not implemented for BERT");
  reader.reject("is_encoder_decoder", "BERT is an encoder");
  reader.reject("add_cross_attention", "cross attention is not implemented for BERT");
  reader.reject("pruned_heads", "pruned heads are not implemented");
  reader.reject("quantization_config", "quantised weights are not implemented");
  return keys;
}

/// tanh of a projection of the first token.
static std::vector<HeadStep> pooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::string path = prefix + "pooler";
  return {poolStep(mlir::xfmr::PoolKind::First, path), linearStep(spec.linear(path + ".dense", keys.hidden, keys.hidden), path + ".dense"),
          activationStep(Activation::Tanh, path)};
}

static void declareBase(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"last_hidden_state", {}});
  spec.outputs.push_back({"pooler_output", pooler(spec, keys, prefix)});
}

static void declareSequenceClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::vector<HeadStep> steps = pooler(spec, keys, prefix);
  steps.push_back(dropoutStep(keys.classifierDropout, "dropout"));
  steps.push_back(linearStep(spec.linear("classifier", keys.hidden, keys.labels), "classifier"));
  spec.outputs.push_back({"logits", steps});
}

static void declareTokenClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec classifier = spec.linear("classifier", keys.hidden, keys.labels);
  spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), linearStep(classifier, "classifier")}});
}

/// One projection to two features: a start and an end score per token.
static void declareQuestionAnswering(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec both = spec.linear("qa_outputs", keys.hidden, 2), start = both, end = both;
  start.features = {0, 1};
  end.features = {1, 2};
  spec.outputs.push_back({"start_logits", {linearStep(start, "qa_outputs")}, /*squeeze=*/true});
  spec.outputs.push_back({"end_logits", {linearStep(end, "qa_outputs")}, /*squeeze=*/true});
}

static void declareMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  const std::string path = "cls.predictions";
  LinearSpec decoder;
  decoder.bias = spec.declare(path + ".bias", {keys.vocab}, path + ".decoder.bias");
  LinearSpec dense = spec.linear(path + ".transform.dense", keys.hidden, keys.hidden);
  NormSpec norm = spec.norm(path + ".transform.LayerNorm", keys.hidden, keys.epsilon);
  // A tied decoder is the word table, even where the file has a tensor of its name: so does the reference after loading.
  decoder.weight = keys.tied ? spec.embeddings.words : spec.declare(path + ".decoder.weight", {keys.vocab, keys.hidden});
  spec.outputs.push_back({"logits",
                          {linearStep(dense, path + ".transform.dense"), activationStep(keys.activation, path + ".transform"),
                           normStep(norm, path + ".transform.LayerNorm"), linearStep(decoder, path + ".decoder")}});
}

static void declareEmbeddings(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  EmbeddingSpec &embeddings = spec.embeddings;
  embeddings.path = prefix + "embeddings";
  embeddings.words = spec.declare(embeddings.path + ".word_embeddings.weight", {keys.vocab, keys.hidden});
  embeddings.positions = spec.declare(embeddings.path + ".position_embeddings.weight", {keys.positions, keys.hidden});
  embeddings.types = spec.declare(embeddings.path + ".token_type_embeddings.weight", {keys.types, keys.hidden});
  embeddings.norm = spec.norm(embeddings.path + ".LayerNorm", keys.hidden, keys.epsilon);
  embeddings.dropout = keys.dropout;
  spec.inputs = {{"input_ids", InputRole::TokenIds, keys.vocab},         {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false},
                 {"attention_mask", InputRole::AttentionMask},           {"token_type_ids", InputRole::TokenTypes, keys.types},
                 {"position_ids", InputRole::Positions, keys.positions}, {"head_mask", InputRole::HeadMask, 0, /*standard=*/false}};
}

static void declareLayer(TransformerSpec &spec, const BertKeys &keys, const std::string &path) {
  LayerSpec layer;
  layer.path = path;
  layer.attention.query = spec.linear(path + ".attention.self.query", keys.hidden, keys.hidden);
  layer.attention.key = spec.linear(path + ".attention.self.key", keys.hidden, keys.hidden);
  layer.attention.value = spec.linear(path + ".attention.self.value", keys.hidden, keys.hidden);
  layer.attention.output = spec.linear(path + ".attention.output.dense", keys.hidden, keys.hidden);
  layer.attention.heads = layer.attention.kvHeads = keys.heads;
  layer.attention.scale = 1 / std::sqrt(double(keys.hidden / keys.heads));
  layer.attentionNorm = spec.norm(path + ".attention.output.LayerNorm", keys.hidden, keys.epsilon);
  layer.ffn.up = spec.linear(path + ".intermediate.dense", keys.hidden, keys.intermediate);
  layer.ffn.down = spec.linear(path + ".output.dense", keys.intermediate, keys.hidden);
  layer.ffn.activation = keys.activation;
  layer.ffnNorm = spec.norm(path + ".output.LayerNorm", keys.hidden, keys.epsilon);
  spec.encoder.layers.push_back(std::move(layer));
}

Result<TransformerSpec> attune::readBertSpec(const Config &config) {
  static constexpr std::pair<const char *, DeclareHead> heads[] = {
      {"BertModel", declareBase},
      {"BertForMaskedLM", declareMaskedLM},
      {"BertForSequenceClassification", declareSequenceClassification},
      {"BertForTokenClassification", declareTokenClassification},
      {"BertForQuestionAnswering", declareQuestionAnswering},
  };
  ConfigReader reader(config);
  BertKeys keys = readKeys(reader);
  TransformerSpec spec;
  spec.family = "bert";
  spec.architecture = reader.architecture("BertModel");
  spec.basePrefix = "bert.";
  spec.hidden = keys.hidden;
  spec.maxLength = keys.positions;
  spec.encoder.name = "encoder";
  spec.encoder.dropout = keys.dropout;

  DeclareHead declareHead = nullptr;
  std::string known;
  for (const auto &[name, declare] : heads) {
    if (spec.architecture == name)
      declareHead = declare;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  if (!declareHead)
    reader.fail("architectures", "one of " + known);
  if (reader.status().failed())
    return reader.status();

  std::string prefix = spec.architecture == "BertModel" ? "" : spec.basePrefix;
  declareEmbeddings(spec, keys, prefix);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareLayer(spec, keys, prefix + "encoder.layer." + std::to_string(i));
  declareHead(spec, keys, prefix);
  return spec;
}
