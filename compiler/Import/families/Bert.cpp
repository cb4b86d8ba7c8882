//===- Bert.cpp - BERT: heads ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The classes of BERT. The base model is in BertBase.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

/// Returns the steps to two scores: whether the second segment follows the first, or not.
static std::vector<HeadStep> nextSentence(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::vector<HeadStep> steps = bertPooler(spec, keys, prefix);
  steps.push_back(linearStep(spec.linear("cls.seq_relationship", keys.hidden, 2), "cls.seq_relationship"));
  return steps;
}

static void declareNextSentence(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"logits", nextSentence(spec, keys, prefix)});
}

static void declarePreTraining(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"prediction_logits", bertPredictions(spec, keys)});
  spec.outputs.push_back({"seq_relationship_logits", nextSentence(spec, keys, prefix)});
}

Result<TransformerSpec> attune::readBertSpec(const Config &config) {
  static const BertHeads heads = {
      {"BertModel", declareBertOutputs},
      {"BertForMaskedLM", declareBertMaskedLM},
      {"BertLMHeadModel", declareBertMaskedLM},
      {"BertForSequenceClassification", declareBertClassification},
      {"BertForTokenClassification", declareTokenClassification},
      {"BertForQuestionAnswering", declareQuestionAnswering},
      {"BertForMultipleChoice", declarePooledMultipleChoice},
      {"BertForNextSentencePrediction", declareNextSentence},
      {"BertForPreTraining", declarePreTraining},
  };
  if (ConfigReader reader(config); reader.string("position_embedding_type", "absolute") == "alibi")
    return readJinaBertSpec(config);
  return readBertLike(config, "bert", "bert.", heads, readBertKeys, declareBertModel);
}
