//===- MPNet.cpp - MPNet ------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT without token types, with positions counted as RoBERTa counts them, and a distance bias that all layers share.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;
using mlir::xfmr::Activation;

static BertKeys readKeys(ConfigReader &reader) {
  BertKeys keys = readBertKeys(reader);
  keys.types = 0;
  // The reference ignores `pad_token_id`.
  keys.padding = 1;
  return keys;
}

static void declareLayer(TransformerSpec &spec, const BertKeys &keys, const std::string &path) {
  LayerSpec layer;
  layer.path = path;
  layer.attention = declareWholeAttention(spec, keys, path + ".attention.attn", {"q", "k", "v", "o"});
  layer.attentionNorm = spec.norm(path + ".attention.LayerNorm", keys.hidden, keys.epsilon);
  declareBertFfn(spec, keys, layer);
  spec.encoder->layers.push_back(std::move(layer));
}

static void declareModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  declareBertEmbeddings(spec, keys, prefix);
  declareBertInputs(spec, keys);
  countPositions(spec, keys);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareLayer(spec, keys, prefix + "encoder.layer." + std::to_string(i));
  // The reference does not read `relative_attention_num_buckets` to compute buckets.
  DistanceBiasSpec &bias = stack.distanceBias.emplace();
  bias.table = spec.tensor(prefix + "encoder.relative_attention_bias.weight", {32, keys.heads});
  bias.bidirectional = true;
  bias.maxDistance = 128;
}

Result<TransformerSpec> attune::readMPNetSpec(const Config &config) {
  static const BertHeads heads = {
      {"MPNetModel", declareBertOutputs},
      {"MPNetForMaskedLM", declareRobertaMaskedLM},
      {"MPNetForSequenceClassification", declareRobertaClassification},
      {"MPNetForTokenClassification", declareTokenClassification},
      {"MPNetForQuestionAnswering", declareQuestionAnswering},
      {"MPNetForMultipleChoice", declarePooledMultipleChoice},
  };
  return readBertLike(config, "mpnet", "mpnet.", heads, readKeys, declareModel);
}
