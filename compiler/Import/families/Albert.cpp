//===- Albert.cpp - ALBERT ----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT whose layers share weights. Files have G groups (`num_hidden_groups`) of `inner_group_num` layers each. For each
// i from 0 to L - 1, where L is `num_hidden_layers`, the model applies all layers of group floor(i / (L / G)).
// Embeddings have `embedding_size` features, usually fewer than the layers have, and a projection to the features of
// the layers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;
using mlir::xfmr::Activation;

static BertKeys readAlbertKeys(ConfigReader &reader) {
  constexpr IntegerRange size = {1, 1 << 24};
  // The defaults of transformers' AlbertConfig.
  BertKeys keys = readBertSizes(reader, {30000, 4096, 12, 64, 16384, 512, 2, 1e-12, 0, "gelu_new"});
  keys.embedding = reader.integer("embedding_size", 128, size);
  keys.classifierDropout = reader.number("classifier_dropout_prob", 0.1, 0, 1);
  keys.groups = reader.integer("num_hidden_groups", 1, size);
  keys.layersOfGroup = reader.integer("inner_group_num", 1, size);
  rejectRelativePositions(reader);
  rejectPrunedHeads(reader);
  reader.reject("is_decoder", "the family has no decoder");
  return keys;
}

static LayerSpec declareAlbertLayer(TransformerSpec &spec, const BertKeys &keys, const std::string &path) {
  LayerSpec layer;
  layer.path = path;
  layer.ffnNorm = spec.norm(path + ".full_layer_layer_norm", keys.hidden, keys.epsilon);
  layer.attention = declareWholeAttention(spec, keys, path + ".attention", {"query", "key", "value", "dense"});
  layer.attentionNorm = spec.norm(path + ".attention.LayerNorm", keys.hidden, keys.epsilon);
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.linear(path + ".ffn", keys.hidden, keys.intermediate);
  ffn.down = spec.linear(path + ".ffn_output", keys.intermediate, keys.hidden);
  ffn.activation = keys.activation;
  return layer;
}

static void declareAlbertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  declareBertEmbeddings(spec, keys, prefix);
  declareBertInputs(spec, keys);
  stack.embeddings.projection = spec.linear(prefix + "encoder.embedding_hidden_mapping_in", keys.embedding, keys.hidden);
  std::vector<LayerSpec> declared;
  for (int64_t group = 0; group < keys.groups; ++group)
    for (int64_t inner = 0; inner < keys.layersOfGroup; ++inner)
      declared.push_back(declareAlbertLayer(
          spec, keys, prefix + "encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers." + std::to_string(inner)));
  for (int64_t i = 0; i < keys.layers; ++i) {
    // As in transformers, both quotients are rounded to doubles: with 14 groups and 18 layers, i = 9 has group 6,
    // although 9 / (18 / 14) is 7.
    auto group = int64_t(double(i) / (double(keys.layers) / double(keys.groups)));
    auto first = declared.begin() + group * keys.layersOfGroup;
    stack.layers.insert(stack.layers.end(), first, first + keys.layersOfGroup);
  }
}

/// Declares the pooler and returns its steps: tanh of a projection of the first token.
static std::vector<HeadStep> albertPooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  const std::string path = prefix + "pooler";
  return {poolStep(mlir::xfmr::PoolKind::First, path), linearStep(spec.linear(path, keys.hidden, keys.hidden), path),
          activationStep(Activation::Tanh, path)};
}

static void declareAlbertOutputs(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"last_hidden_state", {}});
  spec.outputs.push_back({"pooler_output", albertPooler(spec, keys, prefix)});
}

/// Declares the head with scores of all words for every token, and returns its steps.
static std::vector<HeadStep> predictions(TransformerSpec &spec, const BertKeys &keys) {
  const std::string path = "predictions";
  LinearSpec words;
  words.bias = bertDecoderBias(spec, keys.vocab, path, keys.tied);
  NormSpec norm = spec.norm(path + ".LayerNorm", keys.embedding, keys.epsilon);
  LinearSpec dense = spec.linear(path + ".dense", keys.hidden, keys.embedding);
  words.weight = bertDecoderTable(spec, keys, path + ".decoder.weight");
  return {linearStep(dense, path + ".dense"), activationStep(keys.activation, path), normStep(norm, path + ".LayerNorm"),
          linearStep(words, path + ".decoder")};
}

static void declareAlbertMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  spec.outputs.push_back({"logits", predictions(spec, keys)});
}

static void declareAlbertPreTraining(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"prediction_logits", predictions(spec, keys)});
  const std::string path = "sop_classifier";
  std::vector<HeadStep> steps = albertPooler(spec, keys, prefix);
  steps.push_back(dropoutStep(keys.classifierDropout, path + ".dropout"));
  steps.push_back(linearStep(spec.linear(path + ".classifier", keys.hidden, keys.labels), path + ".classifier"));
  spec.outputs.push_back({"sop_logits", steps});
}

static void declareAlbertSequenceClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::vector<HeadStep> steps = albertPooler(spec, keys, prefix);
  steps.push_back(dropoutStep(keys.classifierDropout, "dropout"));
  steps.push_back(linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier"));
  spec.outputs.push_back({"logits", steps});
}

Result<TransformerSpec> attune::readAlbertSpec(const Config &config) {
  static const BertHeads heads = {
      {"AlbertModel", declareAlbertOutputs},
      {"AlbertForPreTraining", declareAlbertPreTraining},
      {"AlbertForMaskedLM", declareAlbertMaskedLM},
      {"AlbertForSequenceClassification", declareAlbertSequenceClassification},
      {"AlbertForTokenClassification", declareTokenClassification},
      {"AlbertForQuestionAnswering", declareQuestionAnswering},
      {"AlbertForMultipleChoice", [](TransformerSpec &spec, const BertKeys &keys,
                                     const std::string &prefix) { declareMultipleChoice(spec, keys, albertPooler(spec, keys, prefix)); }},
  };
  return readBertLike(config, "albert", "albert.", heads, readAlbertKeys, declareAlbertModel);
}
