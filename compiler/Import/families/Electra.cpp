//===- Electra.cpp - ELECTRA --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT without a pooler, with embeddings that may have fewer features than the layers. The discriminator scores for
// each token whether it was replaced; the generator scores words.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;
using mlir::xfmr::Activation;

static BertKeys readElectraKeys(ConfigReader &reader) {
  // The defaults of transformers' ElectraConfig.
  BertKeys keys = readBertKeys(reader, {30522, 256, 12, 4, 1024});
  keys.embedding = reader.integer("embedding_size", 128, {1, 1 << 24});
  keys.embeddingProjection = "embeddings_project";
  return keys;
}

/// Declares a score for each token: whether it was replaced.
static void declareElectraPreTraining(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  const std::string path = "discriminator_predictions";
  LinearSpec dense = spec.linear(path + ".dense", keys.hidden, keys.hidden);
  LinearSpec score = spec.linear(path + ".dense_prediction", keys.hidden, 1);
  spec.outputs.push_back({"logits",
                          {linearStep(dense, path + ".dense"), activationStep(keys.activation, path), linearStep(score, path + ".score")},
                          /*squeeze=*/true});
}

/// Declares the scores of all words for every token.
static void declareElectraMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  const std::string path = "generator_predictions";
  NormSpec norm = spec.norm(path + ".LayerNorm", keys.embedding, keys.epsilon);
  LinearSpec dense = spec.linear(path + ".dense", keys.hidden, keys.embedding), words;
  words.weight = bertDecoderTable(spec, keys, "generator_lm_head.weight");
  words.bias = spec.tensor("generator_lm_head.bias", {keys.vocab});
  spec.outputs.push_back({"logits",
                          {linearStep(dense, path + ".dense"), activationStep(Activation::Gelu, path), normStep(norm, path + ".LayerNorm"),
                           linearStep(words, "generator_lm_head")}});
}

/// Declares the scores of classes: two projections of the first token, with GELU between them.
static void declareElectraSequenceClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec dense = spec.linear("classifier.dense", keys.hidden, keys.hidden);
  LinearSpec output = spec.classifier("classifier.out_proj", keys.hidden, keys.labels);
  spec.outputs.push_back({"logits",
                          {poolStep(mlir::xfmr::PoolKind::First, "classifier"), linearStep(dense, "classifier.dense"),
                           activationStep(Activation::Gelu, "classifier"), linearStep(output, "classifier.out_proj")}});
}

/// Declares a score for each choice: a projection of a summary, which is GELU of a projection of the choice's first
/// token.
static void declareElectraChoices(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  const std::string path = "sequence_summary";
  LinearSpec summary = spec.linear(path + ".summary", keys.hidden, keys.hidden);
  declareMultipleChoice(spec, keys,
                        {poolStep(mlir::xfmr::PoolKind::First, path), linearStep(summary, path + ".summary"),
                         activationStep(Activation::Gelu, path + ".activation")});
}

Result<TransformerSpec> attune::readElectraSpec(const Config &config) {
  static const BertHeads heads = {
      {"ElectraModel", declareLastState},
      {"ElectraForPreTraining", declareElectraPreTraining},
      {"ElectraForMaskedLM", declareElectraMaskedLM},
      {"ElectraForCausalLM", declareElectraMaskedLM},
      {"ElectraForSequenceClassification", declareElectraSequenceClassification},
      {"ElectraForTokenClassification", declareTokenClassification},
      {"ElectraForQuestionAnswering", declareQuestionAnswering},
      {"ElectraForMultipleChoice", declareElectraChoices},
  };
  ConfigReader reader(config);
  if (reader.architecture("ElectraModel") == "ElectraForMultipleChoice") {
    for (auto [key, expected] : {std::pair("summary_type", "first"), std::pair("summary_activation", "gelu")})
      if (reader.present(key) && reader.string(key) != expected)
        reader.fail(key, std::string("\"") + expected + "\"");
    if (!reader.flag("summary_use_proj", true))
      reader.fail("summary_use_proj", "true");
    if (reader.status().failed())
      return reader.status();
  }
  return readBertLike(config, "electra", "electra.", heads, readElectraKeys, declareBertModel);
}
