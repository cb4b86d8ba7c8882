//===- T5Heads.cpp - The architectures of T5 ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/T5Heads.h"

#include <cmath>

using namespace attune;

static void declareLMHead(TransformerSpec &spec, const T5Keys &keys) {
  LinearSpec head;
  WeightId words = spec.decoder->embeddings.words;
  head.weight =
      keys.tied ? spec.scale(words, 1 / std::sqrt(double(keys.hidden))) : spec.tensor("lm_head.weight", {keys.vocab, keys.hidden});
  declareSeq2SeqOutputs(spec, "logits", {linearStep(head, "lm_head")});
}

/// A classifier of whole sequences.
static void declareSequenceClassification(TransformerSpec &spec, const T5Keys &keys) {
  declareEndClassification(spec, keys.hidden, keys.labels, keys.end, keys.classifierDropout);
}

static void declareQuestionAnswering(TransformerSpec &spec, const T5Keys &keys) {
  declareStartAndEnd(spec, spec.linear("qa_outputs", keys.hidden, 2));
  declareEncoderOutput(spec);
}

static void declareTokenClassification(TransformerSpec &spec, const T5Keys &keys) {
  HeadStep classifier = linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier");
  spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), classifier}});
}

const std::vector<T5Head> &attune::t5Heads() {
  static const std::vector<T5Head> heads = {
      {"T5Model", [](TransformerSpec &spec, const T5Keys &) { declareSeq2SeqOutputs(spec, "last_hidden_state"); }},
      {"T5ForConditionalGeneration", declareLMHead},
      {"T5EncoderModel", [](TransformerSpec &spec, const T5Keys &) { spec.outputs.push_back({"last_hidden_state", {}}); }, "", false},
      {"T5ForQuestionAnswering", declareQuestionAnswering, "", true, true},
      {"T5ForSequenceClassification", declareSequenceClassification, "transformer.", true, true},
      {"T5ForTokenClassification", declareTokenClassification, "transformer.", false},
  };
  return heads;
}
