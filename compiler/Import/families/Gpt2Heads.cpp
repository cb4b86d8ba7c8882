//===- Gpt2Heads.cpp - The architectures of GPT-2 -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Gpt2Heads.h"

using namespace attune;

void attune::readGpt2Summary(ConfigReader &reader, Gpt2Keys &keys) {
  if (reader.string("summary_type", "cls_index") != "cls_index")
    reader.fail("summary_type", "\"cls_index\"");
  for (const char *key : {"summary_use_proj", "summary_proj_to_labels"})
    if (!reader.flag(key, true))
      reader.fail(key, "true");
  if (reader.present("summary_activation"))
    keys.summaryActivation = readActivation(reader, "summary_activation", "linear");
}

static void declareGpt2HeadsLMHead(TransformerSpec &spec, const Gpt2Keys &keys) {
  WeightId words = keys.tied ? spec.decoder->embeddings.words : spec.tensor("lm_head.weight", {keys.vocab, keys.hidden});
  spec.outputs.push_back({"logits", {linearStep({words, noWeight}, "lm_head")}});
}

/// Declares the scores of words, and a score of each choice from the token at the position that the input
/// `mc_token_ids` gives.
static void declareDoubleHeads(TransformerSpec &spec, const Gpt2Keys &keys) {
  const std::string path = "multiple_choice_head";
  spec.choices = true;
  spec.decoder->cached = false;
  spec.inputs.push_back({"mc_token_ids", InputRole::TargetToken, keys.positions, /*standard=*/false, StackRole::Decoder});
  declareGpt2HeadsLMHead(spec, keys);
  LinearSpec summary = spec.linear(path + ".summary", keys.hidden, 1);
  spec.outputs.push_back(
      {"mc_logits",
       {selectedTokenStep(path), linearStep(summary, path + ".summary"), activationStep(keys.summaryActivation, path + ".activation")},
       /*squeeze=*/true});
}

static void declareGpt2HeadsQuestionAnswering(TransformerSpec &spec, const Gpt2Keys &keys) {
  declareStartAndEnd(spec, spec.linear("qa_outputs", keys.hidden, 2));
}

static void declareGpt2HeadsTokenClassification(TransformerSpec &spec, const Gpt2Keys &keys) {
  HeadStep classifier = linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier");
  spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), classifier}});
}

static void declareGpt2HeadsSequenceClassification(TransformerSpec &spec, const Gpt2Keys &keys) {
  HeadStep score = linearStep(spec.classifier("score", keys.hidden, keys.labels, /*bias=*/false), "score");
  spec.outputs.push_back({"logits", {lastTokenStep(keys.padding, "score"), score}});
}

const std::vector<Gpt2Head> &attune::gpt2Heads() {
  static const std::vector<Gpt2Head> heads = {
      {"GPT2Model", [](TransformerSpec &spec, const Gpt2Keys &) { spec.outputs.push_back({"last_hidden_state", {}}); }},
      {"GPT2LMHeadModel", declareGpt2HeadsLMHead},
      {"GPT2DoubleHeadsModel", declareDoubleHeads},
      {"GPT2ForQuestionAnswering", declareGpt2HeadsQuestionAnswering},
      {"GPT2ForSequenceClassification", declareGpt2HeadsSequenceClassification},
      {"GPT2ForTokenClassification", declareGpt2HeadsTokenClassification},
  };
  return heads;
}
