//===- Bert.cpp - BERT: heads ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The base model is in BertBase.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

static void declareSequenceClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::vector<HeadStep> steps = bertPooler(spec, keys, prefix);
  steps.push_back(dropoutStep(keys.classifierDropout, "dropout"));
  steps.push_back(linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier"));
  spec.outputs.push_back({"logits", steps});
}

/// Whether the second of two segments follows the first.
static std::vector<HeadStep> nextSentence(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::vector<HeadStep> steps = bertPooler(spec, keys, prefix);
  steps.push_back(linearStep(spec.linear("cls.seq_relationship", keys.hidden, 2), "cls.seq_relationship"));
  return steps;
}

static void declareNextSentence(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"logits", nextSentence(spec, keys, prefix)});
}

/// Scores of all words for every token.
static std::vector<HeadStep> predictions(TransformerSpec &spec, const BertKeys &keys) {
  const std::string path = "cls.predictions";
  LinearSpec decoder;
  decoder.bias = spec.tensor(path + ".bias", {keys.vocab}, {path + ".decoder.bias"});
  LinearSpec dense = spec.linear(path + ".transform.dense", keys.hidden, keys.hidden);
  NormSpec norm = spec.norm(path + ".transform.LayerNorm", keys.hidden, keys.epsilon);
  decoder.weight = bertDecoderTable(spec, keys, path + ".decoder.weight");
  return {linearStep(dense, path + ".transform.dense"), activationStep(keys.activation, path + ".transform"),
          normStep(norm, path + ".transform.LayerNorm"), linearStep(decoder, path + ".decoder")};
}

static void declareMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  spec.outputs.push_back({"logits", predictions(spec, keys)});
}

static void declarePreTraining(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"prediction_logits", predictions(spec, keys)});
  spec.outputs.push_back({"seq_relationship_logits", nextSentence(spec, keys, prefix)});
}

Result<TransformerSpec> attune::readBertSpec(const Config &config) {
  static const BertHeads heads = {
      {"BertModel", declareBertOutputs},
      {"BertForMaskedLM", declareMaskedLM},
      {"BertLMHeadModel", declareMaskedLM},
      {"BertForSequenceClassification", declareSequenceClassification},
      {"BertForTokenClassification", declareTokenClassification},
      {"BertForQuestionAnswering", declareQuestionAnswering},
      {"BertForMultipleChoice", declarePooledMultipleChoice},
      {"BertForNextSentencePrediction", declareNextSentence},
      {"BertForPreTraining", declarePreTraining},
  };
  return readBertLike(config, "bert", "bert.", heads, readBertKeys, declareBertModel);
}
