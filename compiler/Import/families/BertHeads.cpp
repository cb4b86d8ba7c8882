//===- BertHeads.cpp - Heads of BERT and its descendants ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;
using mlir::xfmr::Activation;

WeightId attune::bertDecoderTable(TransformerSpec &spec, const BertKeys &keys, const std::string &name) {
  if (!keys.tied)
    return spec.tensor(name, {keys.vocab, keys.embedding});
  // A tied decoder is the word table, even if the file has a tensor for it, as in transformers after loading.
  WeightId words = bertStack(spec).embeddings.words;
  spec.addAlias(words, name);
  return words;
}

WeightId attune::bertDecoderBias(TransformerSpec &spec, int64_t vocab, const std::string &path, bool isTied) {
  const std::string shared = path + ".bias", own = path + ".decoder.bias";
  return spec.tensor(isTied ? shared : own, {vocab}, {isTied ? own : shared});
}

std::vector<HeadStep> attune::bertPooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::string path = prefix + "pooler";
  return {poolStep(mlir::xfmr::PoolKind::First, path), linearStep(spec.linear(path + ".dense", keys.hidden, keys.hidden), path + ".dense"),
          activationStep(Activation::Tanh, path)};
}

void attune::declareLastState(TransformerSpec &spec, const BertKeys &, const std::string &) {
  spec.outputs.push_back({"last_hidden_state", {}});
}

void attune::declareBertOutputs(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"last_hidden_state", {}});
  spec.outputs.push_back({"pooler_output", bertPooler(spec, keys, prefix)});
}

void attune::declareTokenClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec classifier = spec.classifier("classifier", keys.hidden, keys.labels);
  spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), linearStep(classifier, "classifier")}});
}

void attune::declareMultipleChoice(TransformerSpec &spec, const BertKeys &keys, std::vector<HeadStep> steps) {
  spec.choices = true;
  steps.push_back(dropoutStep(keys.classifierDropout, "dropout"));
  steps.push_back(linearStep(spec.linear("classifier", keys.hidden, 1), "classifier"));
  spec.outputs.push_back({"logits", std::move(steps), /*squeeze=*/true});
}

void attune::declarePooledMultipleChoice(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  declareMultipleChoice(spec, keys, bertPooler(spec, keys, prefix));
}

void attune::declareQuestionAnswering(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  declareStartAndEnd(spec, spec.linear("qa_outputs", keys.hidden, 2));
}

void attune::declareBertClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  std::vector<HeadStep> steps = bertPooler(spec, keys, prefix);
  steps.push_back(dropoutStep(keys.classifierDropout, "dropout"));
  steps.push_back(linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier"));
  spec.outputs.push_back({"logits", steps});
}

std::vector<HeadStep> attune::bertPredictions(TransformerSpec &spec, const BertKeys &keys, const char *normName) {
  const std::string path = "cls.predictions";
  LinearSpec decoder;
  decoder.bias = bertDecoderBias(spec, keys.vocab, path, keys.tied);
  LinearSpec dense = spec.linear(path + ".transform.dense", keys.hidden, keys.embedding);
  NormSpec norm = spec.norm(path + ".transform." + normName, keys.embedding, keys.epsilon);
  decoder.weight = bertDecoderTable(spec, keys, path + ".decoder.weight");
  return {linearStep(dense, path + ".transform.dense"), activationStep(keys.activation, path + ".transform"),
          normStep(norm, path + ".transform." + normName), linearStep(decoder, path + ".decoder")};
}

void attune::declareBertMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  spec.outputs.push_back({"logits", bertPredictions(spec, keys)});
}

void attune::declareLanguageHead(TransformerSpec &spec, const BertKeys &keys, const LanguageHeadParts &parts) {
  const std::string path = "lm_head", normPath = path + "." + parts.norm;
  LinearSpec decoder;
  decoder.bias = bertDecoderBias(spec, keys.vocab, path, keys.tied && !parts.hasDecoderBias);
  LinearSpec dense = spec.linear(path + ".dense", keys.hidden, keys.hidden);
  NormSpec norm = spec.norm(normPath, keys.hidden, keys.epsilon);
  if (parts.otherNorm)
    spec.addName(norm, path + "." + parts.otherNorm);
  decoder.weight = bertDecoderTable(spec, keys, path + ".decoder.weight");
  spec.outputs.push_back({"logits",
                          {linearStep(dense, path + ".dense"), activationStep(parts.activation, path), normStep(norm, normPath),
                           linearStep(decoder, path + ".decoder")}});
}

void attune::declareRobertaMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  declareLanguageHead(spec, keys, {});
}

void attune::declareRobertaClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  declareTokenScores(spec, keys, Activation::Tanh);
}

void attune::declareTokenScores(TransformerSpec &spec, const BertKeys &keys, Activation activation) {
  LinearSpec dense = spec.linear("classifier.dense", keys.hidden, keys.hidden);
  LinearSpec output = spec.classifier("classifier.out_proj", keys.hidden, keys.labels);
  spec.outputs.push_back(
      {"logits",
       {poolStep(mlir::xfmr::PoolKind::First, "classifier"), dropoutStep(keys.classifierDropout, "classifier.dropout"),
        linearStep(dense, "classifier.dense"), activationStep(activation, "classifier"), linearStep(output, "classifier.out_proj")}});
}
