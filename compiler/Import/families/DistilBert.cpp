//===- DistilBert.cpp - DistilBERT ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT's layers with other names, without token types and pooler. Defaults are those of transformers' DistilBertConfig.
// transformers scales queries before the product, not scores after it, which rounds differently but means the same.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

#include <cmath>

using namespace attune;
using mlir::xfmr::Activation;

static BertKeys readDistilBertKeys(ConfigReader &reader) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  BertKeys keys = {};
  keys.vocab = reader.integer("vocab_size", 30522, ids);
  keys.hidden = reader.integer("dim", "hidden_size", 768, size);
  keys.layers = reader.integer("n_layers", "num_hidden_layers", 6, layers);
  keys.heads = reader.integer("n_heads", "num_attention_heads", 12, size);
  keys.intermediate = reader.integer("hidden_dim", 3072, size);
  keys.positions = reader.integer("max_position_embeddings", 512, size);
  keys.epsilon = 1e-12;
  keys.dropout = reader.number("dropout", 0.1, 0, 1);
  keys.classifierDropout = reader.number("seq_classif_dropout", 0.2, 0, 1);
  keys.activation = readActivation(reader, "activation", "gelu");
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  if (keys.hidden % keys.heads != 0)
    reader.fail("dim", "a multiple of 'n_heads', which is " + std::to_string(keys.heads));
  keys.pruned = readPrunedHeads(reader, keys.layers, keys.heads);
  return keys;
}

static void declareDistilBertLayer(TransformerSpec &spec, const BertKeys &keys, const std::string &path,
                                   const std::vector<int64_t> &heads) {
  LayerSpec layer;
  layer.path = path;
  AttentionSpec &attention = layer.attention.emplace();
  int64_t headSize = keys.hidden / keys.heads, inner = headSize * int64_t(heads.size());
  attention.query = spec.linear(path + ".attention.q_lin", keys.hidden, inner);
  attention.key = spec.linear(path + ".attention.k_lin", keys.hidden, inner);
  attention.value = spec.linear(path + ".attention.v_lin", keys.hidden, inner);
  attention.output = spec.linear(path + ".attention.out_lin", inner, keys.hidden);
  attention.heads = attention.kvHeads = int64_t(heads.size());
  attention.originalHeads = keys.heads;
  attention.headNumbers = heads;
  attention.scale = 1 / std::sqrt(double(headSize));
  layer.attentionNorm = spec.norm(path + ".sa_layer_norm", keys.hidden, keys.epsilon);
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.linear(path + ".ffn.lin1", keys.hidden, keys.intermediate);
  ffn.down = spec.linear(path + ".ffn.lin2", keys.intermediate, keys.hidden);
  ffn.activation = keys.activation;
  layer.ffnNorm = spec.norm(path + ".output_layer_norm", keys.hidden, keys.epsilon);
  spec.encoder->layers.push_back(std::move(layer));
}

static void declareDistilBertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  StackSpec &stack = spec.encoder.emplace();
  stack.name = "encoder";
  stack.dropout = keys.dropout;
  stack.hidden = keys.hidden;
  stack.maxLength = keys.positions;
  EmbeddingSpec &embeddings = stack.embeddings;
  embeddings.path = prefix + "embeddings";
  embeddings.words = spec.tensor(embeddings.path + ".word_embeddings.weight", {keys.vocab, keys.hidden});
  embeddings.positions = spec.tensor(embeddings.path + ".position_embeddings.weight", {keys.positions, keys.hidden});
  embeddings.norm = spec.norm(embeddings.path + ".LayerNorm", keys.hidden, keys.epsilon);
  embeddings.dropout = keys.dropout;
  spec.inputs = {{"input_ids", InputRole::TokenIds, keys.vocab},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false},
                 {"attention_mask", InputRole::AttentionMask},
                 {"head_mask", InputRole::HeadMask, 0, /*standard=*/false}};
  for (int64_t i = 0; i < keys.layers; ++i)
    declareDistilBertLayer(spec, keys, prefix + "transformer.layer." + std::to_string(i), remainingHeads(keys.pruned, i, keys.heads));
}

static void declareDistilBertMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec transform = spec.linear("vocab_transform", keys.hidden, keys.hidden), projector;
  NormSpec norm = spec.norm("vocab_layer_norm", keys.hidden, keys.epsilon);
  projector.weight = bertDecoderTable(spec, keys, "vocab_projector.weight");
  projector.bias = spec.tensor("vocab_projector.bias", {keys.vocab});
  spec.outputs.push_back({"logits",
                          {linearStep(transform, "vocab_transform"), activationStep(keys.activation, "vocab_transform"),
                           normStep(norm, "vocab_layer_norm"), linearStep(projector, "vocab_projector")}});
}

/// Returns the steps to the ReLU of a projection of the first token.
static std::vector<HeadStep> preClassifier(TransformerSpec &spec, const BertKeys &keys) {
  const std::string path = "pre_classifier";
  return {poolStep(mlir::xfmr::PoolKind::First, path), linearStep(spec.linear(path, keys.hidden, keys.hidden), path),
          activationStep(Activation::Relu, path)};
}

static void declareDistilBertSequenceClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  std::vector<HeadStep> steps = preClassifier(spec, keys);
  steps.push_back(dropoutStep(keys.classifierDropout, "dropout"));
  steps.push_back(linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier"));
  spec.outputs.push_back({"logits", steps});
}

Result<TransformerSpec> attune::readDistilBertSpec(const Config &config) {
  static const BertHeads heads = {
      {"DistilBertModel", declareLastState},
      {"DistilBertForMaskedLM", declareDistilBertMaskedLM},
      {"DistilBertForSequenceClassification", declareDistilBertSequenceClassification},
      {"DistilBertForTokenClassification", declareTokenClassification},
      {"DistilBertForQuestionAnswering", declareQuestionAnswering},
      {"DistilBertForMultipleChoice", [](TransformerSpec &spec, const BertKeys &keys,
                                         const std::string &) { declareMultipleChoice(spec, keys, preClassifier(spec, keys)); }},
  };
  return readBertLike(config, "distilbert", "distilbert.", heads, readDistilBertKeys, declareDistilBertModel);
}
