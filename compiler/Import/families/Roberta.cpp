//===- Roberta.cpp - RoBERTa: positions and heads -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT whose positions are counted after the padding id, over tokens that are not padding; the first `pad_token_id` + 1 rows of the
// position table are for nothing else. Heads have other names and no pooler below them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;
using mlir::xfmr::Activation;

static BertKeys readKeys(ConfigReader &reader) {
  BertKeys keys = readBertKeys(reader);
  keys.padding = reader.integer("pad_token_id", 1, {0, keys.positions - 2});
  return keys;
}

static void declareModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  bertStack(spec).embeddings.countedAfter = keys.padding;
  bertStack(spec).maxLength = keys.positions - keys.padding - 1;
  for (InputSpec &input : spec.inputs)
    if (input.role == InputRole::Positions) {
      input.standard = false;
      input.required = true;
    }
}

static void declareMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
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

/// Two projections of the first token.
static void declareSequenceClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec dense = spec.linear("classifier.dense", keys.hidden, keys.hidden);
  LinearSpec output = spec.classifier("classifier.out_proj", keys.hidden, keys.labels);
  spec.outputs.push_back(
      {"logits",
       {poolStep(mlir::xfmr::PoolKind::First, "classifier"), dropoutStep(keys.classifierDropout, "classifier.dropout"),
        linearStep(dense, "classifier.dense"), activationStep(Activation::Tanh, "classifier"), linearStep(output, "classifier.out_proj")}});
}

Result<TransformerSpec> attune::readRobertaSpec(const Config &config) {
  static const BertHeads heads = {
      {"RobertaModel", declareBertOutputs},
      {"RobertaForMaskedLM", declareMaskedLM},
      {"RobertaForCausalLM", declareMaskedLM},
      {"RobertaForSequenceClassification", declareSequenceClassification},
      {"RobertaForTokenClassification", declareTokenClassification},
      {"RobertaForQuestionAnswering", declareQuestionAnswering},
      {"RobertaForMultipleChoice", [](TransformerSpec &spec, const BertKeys &keys,
                                      const std::string &prefix) { declareMultipleChoice(spec, keys, bertPooler(spec, keys, prefix)); }},
  };
  return readBertLike(config, "roberta", "roberta.", heads, readKeys, declareModel);
}
