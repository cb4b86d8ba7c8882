//===- Roberta.cpp - RoBERTa: positions and heads -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT whose positions are counted after the padding id, over tokens that are not padding; the first `pad_token_id` + 1 rows of the
// position table are for nothing else. Heads have other names and no pooler below them. XLM-RoBERTa and CamemBERT are the same model.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;
using mlir::xfmr::Activation;

static BertKeys readKeys(ConfigReader &reader) {
  BertKeys keys = readBertKeys(reader);
  readCountedPadding(reader, keys, 1);
  return keys;
}

static void declareModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  countPositions(spec, keys);
}

void attune::declareRobertaMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  const std::string path = "lm_head";
  LinearSpec decoder;
  decoder.bias = spec.tensor(path + ".bias", {keys.vocab}, {path + ".decoder.bias"});
  LinearSpec dense = spec.linear(path + ".dense", keys.hidden, keys.hidden);
  NormSpec norm = spec.norm(path + ".layer_norm", keys.hidden, keys.epsilon);
  decoder.weight = bertDecoderTable(spec, keys, path + ".decoder.weight");
  spec.outputs.push_back({"logits",
                          {linearStep(dense, path + ".dense"), activationStep(Activation::Gelu, path), normStep(norm, path + ".layer_norm"),
                           linearStep(decoder, path + ".decoder")}});
}

void attune::declareRobertaClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec dense = spec.linear("classifier.dense", keys.hidden, keys.hidden);
  LinearSpec output = spec.classifier("classifier.out_proj", keys.hidden, keys.labels);
  spec.outputs.push_back(
      {"logits",
       {poolStep(mlir::xfmr::PoolKind::First, "classifier"), dropoutStep(keys.classifierDropout, "classifier.dropout"),
        linearStep(dense, "classifier.dense"), activationStep(Activation::Tanh, "classifier"), linearStep(output, "classifier.out_proj")}});
}

/// Reads a model of |family|, whose classes begin with |prefix|.
static Result<TransformerSpec> readRobertaLike(const Config &config, const char *family, const std::string &prefix) {
  const BertHeads heads = {
      {prefix + "Model", declareBertOutputs},
      {prefix + "ForMaskedLM", declareRobertaMaskedLM},
      {prefix + "ForCausalLM", declareRobertaMaskedLM},
      {prefix + "ForSequenceClassification", declareRobertaClassification},
      {prefix + "ForTokenClassification", declareTokenClassification},
      {prefix + "ForQuestionAnswering", declareQuestionAnswering},
      {prefix + "ForMultipleChoice", declarePooledMultipleChoice},
  };
  return readBertLike(config, family, "roberta.", heads, readKeys, declareModel);
}

Result<TransformerSpec> attune::readRobertaSpec(const Config &config) { return readRobertaLike(config, "roberta", "Roberta"); }

Result<TransformerSpec> attune::readXlmRobertaSpec(const Config &config) { return readRobertaLike(config, "xlm-roberta", "XLMRoberta"); }

Result<TransformerSpec> attune::readCamembertSpec(const Config &config) { return readRobertaLike(config, "camembert", "Camembert"); }
