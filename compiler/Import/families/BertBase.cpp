//===- BertBase.cpp - What BERT and its descendants share -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Encoder layers with norms after the residual sums. Tensors are declared in the order of a generated weight file.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

#include <cmath>

using namespace attune;
using mlir::xfmr::Activation;

BertKeys attune::readBertKeys(ConfigReader &reader) {
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
  keys.pruned = readPrunedHeads(reader, keys.layers, keys.heads);

  if (reader.string("position_embedding_type", "absolute") != "absolute")
    reader.fail("position_embedding_type", "\"absolute\"");
  reader.reject("is_decoder", "causal attention and caches are not implemented");
  reader.reject("is_encoder_decoder", "the model is an encoder");
  reader.reject("add_cross_attention", "cross attention is not implemented");
  reader.reject("quantization_config", "quantised weights are not implemented");
  return keys;
}

static void declareEmbeddings(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  EmbeddingSpec &embeddings = spec.encoder->embeddings;
  embeddings.path = prefix + "embeddings";
  embeddings.words = spec.tensor(embeddings.path + ".word_embeddings.weight", {keys.vocab, keys.hidden});
  embeddings.positions = spec.tensor(embeddings.path + ".position_embeddings.weight", {keys.positions, keys.hidden});
  embeddings.types = spec.tensor(embeddings.path + ".token_type_embeddings.weight", {keys.types, keys.hidden});
  embeddings.norm = spec.norm(embeddings.path + ".LayerNorm", keys.hidden, keys.epsilon);
  embeddings.dropout = keys.dropout;
  spec.inputs = {{"input_ids", InputRole::TokenIds, keys.vocab},         {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false},
                 {"attention_mask", InputRole::AttentionMask},           {"token_type_ids", InputRole::TokenTypes, keys.types},
                 {"position_ids", InputRole::Positions, keys.positions}, {"head_mask", InputRole::HeadMask, 0, /*standard=*/false}};
}

static void declareLayer(TransformerSpec &spec, const BertKeys &keys, const std::string &path, const std::vector<int64_t> &heads) {
  LayerSpec layer;
  layer.path = path;
  AttentionSpec &attention = layer.attention.emplace();
  int64_t headSize = keys.hidden / keys.heads, inner = headSize * int64_t(heads.size());
  attention.query = spec.linear(path + ".attention.self.query", keys.hidden, inner);
  attention.key = spec.linear(path + ".attention.self.key", keys.hidden, inner);
  attention.value = spec.linear(path + ".attention.self.value", keys.hidden, inner);
  attention.output = spec.linear(path + ".attention.output.dense", inner, keys.hidden);
  attention.heads = attention.kvHeads = int64_t(heads.size());
  attention.originalHeads = keys.heads;
  attention.headNumbers = heads;
  attention.scale = 1 / std::sqrt(double(headSize));
  layer.attentionNorm = spec.norm(path + ".attention.output.LayerNorm", keys.hidden, keys.epsilon);
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.linear(path + ".intermediate.dense", keys.hidden, keys.intermediate);
  ffn.down = spec.linear(path + ".output.dense", keys.intermediate, keys.hidden);
  ffn.activation = keys.activation;
  layer.ffnNorm = spec.norm(path + ".output.LayerNorm", keys.hidden, keys.epsilon);
  spec.encoder->layers.push_back(std::move(layer));
}

void attune::declareBertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  StackSpec &stack = spec.encoder.emplace();
  stack.name = "encoder";
  stack.dropout = keys.dropout;
  stack.hidden = keys.hidden;
  stack.maxLength = keys.positions;
  declareEmbeddings(spec, keys, prefix);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareLayer(spec, keys, prefix + "encoder.layer." + std::to_string(i), remainingHeads(keys.pruned, i, keys.heads));
}

std::vector<HeadStep> attune::bertPooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::string path = prefix + "pooler";
  return {poolStep(mlir::xfmr::PoolKind::First, path), linearStep(spec.linear(path + ".dense", keys.hidden, keys.hidden), path + ".dense"),
          activationStep(Activation::Tanh, path)};
}

void attune::declareBertOutputs(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"last_hidden_state", {}});
  spec.outputs.push_back({"pooler_output", bertPooler(spec, keys, prefix)});
}

void attune::declareTokenClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec classifier = spec.linear("classifier", keys.hidden, keys.labels);
  spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), linearStep(classifier, "classifier")}});
}

void attune::declareQuestionAnswering(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec both = spec.linear("qa_outputs", keys.hidden, 2);
  spec.outputs.push_back({"start_logits", {linearStep(spec.features(both, 0, 1), "qa_outputs")}, /*squeeze=*/true});
  spec.outputs.push_back({"end_logits", {linearStep(spec.features(both, 1, 2), "qa_outputs")}, /*squeeze=*/true});
}

Result<TransformerSpec> attune::readBertLike(const Config &config, const char *family, const char *basePrefix, const BertHeads &heads,
                                             BertKeys (*readKeys)(ConfigReader &), DeclareBertHead declare) {
  ConfigReader reader(config);
  BertKeys keys = readKeys(reader);
  TransformerSpec spec;
  spec.family = family;
  spec.architecture = reader.architecture(heads.front().first);
  spec.basePrefix = basePrefix;
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  std::string prefix = head == &heads.front() ? "" : basePrefix;
  declare(spec, keys, prefix);
  head->second(spec, keys, prefix);
  return spec;
}
