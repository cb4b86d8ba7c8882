//===- Roberta.cpp - RoBERTa: positions and heads -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT whose positions count the tokens that are not padding, from row `pad_token_id` + 1 of the table of positions on.
// Padding has the row `pad_token_id`; earlier rows are unused. The heads with scores of words and of classes have other
// names, and the latter no pooler. XLM-RoBERTa, CamemBERT and data2vec are the same model; XLM-RoBERTa-XL has norms
// before the branches and no norm of the embeddings; RoBERTa-PreLayerNorm has norms before the branches and a norm of
// the embeddings.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

static BertKeys readCountedKeys(ConfigReader &reader, const BertDefaults &defaults) {
  BertKeys keys = readBertKeys(reader, defaults);
  readCountedPadding(reader, keys, 1);
  return keys;
}

static BertKeys readRobertaKeys(ConfigReader &reader) { return readCountedKeys(reader, {}); }

/// Reads the keys with the defaults of transformers' XLMRobertaXLConfig.
static BertKeys readPreNormKeys(ConfigReader &reader) {
  BertKeys keys = readCountedKeys(reader, {250880, 2560, 36, 32, 10240, 514, 1, 1e-5});
  keys.embeddingNorm = nullptr;
  keys.attentionNorm = "self_attn_layer_norm", keys.ffnNorm = "LayerNorm", keys.lastNorm = "encoder.LayerNorm";
  return keys;
}

/// Reads the keys with the defaults of transformers' RobertaPreLayerNormConfig.
static BertKeys readBranchNormKeys(ConfigReader &reader) {
  BertKeys keys = readCountedKeys(reader, {50265});
  keys.attentionNorm = "LayerNorm", keys.ffnNorm = "intermediate.LayerNorm", keys.lastNorm = "LayerNorm";
  return keys;
}

static void declareRobertaModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  countPositions(spec, keys);
}

/// Reads a model of |family|. The names of its classes begin with |prefix|, the names of the base model's tensors in
/// classes with a head with |basePrefix|. |read| reads its keys.
static Result<TransformerSpec> readRobertaLike(const Config &config, const char *family, const std::string &prefix,
                                               BertKeys (*read)(ConfigReader &) = readRobertaKeys, const char *basePrefix = "roberta.") {
  const BertHeads heads = {
      {prefix + "Model", declareBertOutputs},
      {prefix + "ForMaskedLM", declareRobertaMaskedLM},
      {prefix + "ForCausalLM", declareRobertaMaskedLM},
      {prefix + "ForSequenceClassification", declareRobertaClassification},
      {prefix + "ForTokenClassification", declareTokenClassification},
      {prefix + "ForQuestionAnswering", declareQuestionAnswering},
      {prefix + "ForMultipleChoice", declarePooledMultipleChoice},
  };
  return readBertLike(config, family, basePrefix, heads, read, declareRobertaModel);
}

Result<TransformerSpec> attune::readRobertaSpec(const Config &config) { return readRobertaLike(config, "roberta", "Roberta"); }

Result<TransformerSpec> attune::readXlmRobertaSpec(const Config &config) { return readRobertaLike(config, "xlm-roberta", "XLMRoberta"); }

Result<TransformerSpec> attune::readXlmRobertaXlSpec(const Config &config) {
  return readRobertaLike(config, "xlm-roberta-xl", "XLMRobertaXL", readPreNormKeys);
}

Result<TransformerSpec> attune::readCamembertSpec(const Config &config) { return readRobertaLike(config, "camembert", "Camembert"); }

Result<TransformerSpec> attune::readData2VecTextSpec(const Config &config) {
  return readRobertaLike(config, "data2vec-text", "Data2VecText", readRobertaKeys, "data2vec_text.");
}

Result<TransformerSpec> attune::readRobertaPreLayerNormSpec(const Config &config) {
  return readRobertaLike(config, "roberta-prelayernorm", "RobertaPreLayerNorm", readBranchNormKeys, "roberta_prelayernorm.");
}
