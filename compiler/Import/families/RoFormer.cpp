//===- RoFormer.cpp - RoFormer ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT with rotary embeddings of pairs of neighboring components in place of a table of positions, and without pooler.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;

static BertKeys readRoFormerKeys(ConfigReader &reader) {
  // The defaults of transformers' RoFormerConfig.
  BertKeys keys = readBertSizes(reader, {50000, 768, 12, 12, 3072, 1536});
  keys.embedding = reader.integerOrNull("embedding_size", keys.hidden, {1, 1 << 24});
  keys.embeddingProjection = "embeddings_project";
  keys.positionTable = false;
  RopeSpec &rope = keys.rope.emplace();
  rope.width = keys.hidden / keys.heads;
  rope.parameters = {{"base", 10000.0}};
  if (rope.width % 2 != 0)
    reader.fail("hidden_size", "an even number of components in each head, got heads of " + std::to_string(rope.width));
  reader.reject("rotary_value", "rotary embeddings of values are not implemented");
  reader.reject("add_cross_attention", "attention to another sequence is not implemented for this family");
  return keys;
}

static void declareRoFormerModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  for (LayerSpec &layer : bertStack(spec).layers)
    layer.attention->interleaved = true;
  llvm::erase_if(spec.inputs, [](const InputSpec &input) { return input.role == InputRole::Positions; });
}

static void declareRoFormerSequenceClassification(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  declareTokenScores(spec, keys, keys.activation);
}

Result<TransformerSpec> attune::readRoFormerSpec(const Config &config) {
  static const BertHeads heads = {
      {"RoFormerModel", declareLastState},
      {"RoFormerForMaskedLM", declareBertMaskedLM},
      {"RoFormerForCausalLM", declareBertMaskedLM},
      {"RoFormerForSequenceClassification", declareRoFormerSequenceClassification},
      {"RoFormerForTokenClassification", declareTokenClassification},
      {"RoFormerForQuestionAnswering", declareQuestionAnswering},
  };
  return readBertLike(config, "roformer", "roformer.", heads, readRoFormerKeys, declareRoFormerModel);
}
