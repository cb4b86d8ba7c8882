//===- Bert.cpp - BERT: heads ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The classes of BERT. The base model is in BertBase.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

/// Returns the steps to two scores: that the second segment follows the first, and that it does not.
static std::vector<HeadStep> nextSentence(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::vector<HeadStep> steps = bertPooler(spec, keys, prefix);
  steps.push_back(linearStep(spec.linear("cls.seq_relationship", keys.hidden, 2), "cls.seq_relationship"));
  return steps;
}

static void declareNextSentence(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"logits", nextSentence(spec, keys, prefix)});
}

static void declareBertPreTraining(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"prediction_logits", bertPredictions(spec, keys)});
  spec.outputs.push_back({"seq_relationship_logits", nextSentence(spec, keys, prefix)});
}

BertHeads attune::bertHeads(const std::string &prefix, const std::string &causal) {
  return {
      {prefix + "Model", declareBertOutputs},
      {prefix + "ForMaskedLM", declareBertMaskedLM},
      {prefix + causal, declareBertMaskedLM},
      {prefix + "ForSequenceClassification", declareBertClassification},
      {prefix + "ForTokenClassification", declareTokenClassification},
      {prefix + "ForQuestionAnswering", declareQuestionAnswering},
      {prefix + "ForMultipleChoice", declarePooledMultipleChoice},
      {prefix + "ForNextSentencePrediction", declareNextSentence},
      {prefix + "ForPreTraining", declareBertPreTraining},
  };
}

Result<TransformerSpec> attune::readBertSpec(const Config &config) {
  static const BertHeads heads = bertHeads("Bert", "LMHeadModel");
  if (ConfigReader reader(config); reader.string("position_embedding_type", "absolute") == "alibi")
    return readJinaBertSpec(config);
  return readBertLike(config, "bert", "bert.", heads, [](ConfigReader &reader) { return readBertKeys(reader); }, declareBertModel);
}
