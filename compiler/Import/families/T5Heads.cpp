//===- T5Heads.cpp - The architectures of T5 ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/T5Heads.h"

#include <cmath>

using namespace attune;

static void declareT5HeadsLMHead(TransformerSpec &spec, const T5Keys &keys) {
  LinearSpec head;
  // If the files have no tensor for the head, the head is the word table, even if the configuration does not tie the
  // two.
  head.weight = keys.tied ? spec.decoder->embeddings.words
                          : spec.tensor("lm_head.weight", {keys.vocab, keys.hidden}, {spec.basePrefix + "shared.weight"});
  if (keys.scaling == T5Scaling::Always || (keys.scaling == T5Scaling::Tied && keys.tied))
    head.weight = spec.scale(head.weight, 1 / std::sqrt(double(keys.hidden)));
  declareSeq2SeqOutputs(spec, "logits", {linearStep(head, "lm_head")});
}

/// Declares the scores of classes of whole sequences.
static void declareT5HeadsSequenceClassification(TransformerSpec &spec, const T5Keys &keys) {
  declareEosClassification(spec, keys.hidden, keys.labels, keys.end, keys.classifierDropout);
}

static void declareT5HeadsQuestionAnswering(TransformerSpec &spec, const T5Keys &keys) {
  declareStartAndEnd(spec, spec.linear("qa_outputs", keys.hidden, 2));
  declareEncoderOutput(spec);
}

static void declareT5HeadsTokenClassification(TransformerSpec &spec, const T5Keys &keys) {
  HeadStep classifier = linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier");
  spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), classifier}});
}

std::vector<T5Head> attune::t5Heads(const std::string &prefix) {
  return {
      {prefix + "Model", [](TransformerSpec &spec, const T5Keys &) { declareSeq2SeqOutputs(spec, "last_hidden_state"); }},
      {prefix + "ForConditionalGeneration", declareT5HeadsLMHead},
      {prefix + "EncoderModel", [](TransformerSpec &spec, const T5Keys &) { spec.outputs.push_back({"last_hidden_state", {}}); }, "",
       false},
      {prefix + "ForQuestionAnswering", declareT5HeadsQuestionAnswering, "", true, true},
      {prefix + "ForSequenceClassification", declareT5HeadsSequenceClassification, "transformer.", true, true},
      {prefix + "ForTokenClassification", declareT5HeadsTokenClassification, "transformer.", false},
  };
}
