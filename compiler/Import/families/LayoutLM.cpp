//===- LayoutLM.cpp - LayoutLM, without images --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT that adds to each token the vectors of its box on the page: those of the four sides of the box, of its height
// and of its width.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

namespace {

struct LayoutLMKeys : BertKeys {
  /// The number of coordinates on a page in each of the two directions.
  int64_t pagePositions;
};

} // namespace

static LayoutLMKeys readLayoutLMKeys(ConfigReader &reader) {
  LayoutLMKeys keys;
  static_cast<BertKeys &>(keys) = readBertSizes(reader);
  keys.pagePositions = reader.integer("max_2d_position_embeddings", 1024, {1, 1 << 24});
  rejectRelativePositions(reader);
  rejectPrunedHeads(reader);
  reader.reject("is_decoder", "the family has no decoder");
  return keys;
}

static void declareLayoutLMModel(TransformerSpec &spec, const LayoutLMKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  EmbeddingSpec &embeddings = spec.encoder->embeddings;
  auto table = [&](const char *name) {
    return spec.tensor(embeddings.path + "." + name + "_position_embeddings.weight", {keys.pagePositions, keys.hidden});
  };
  embeddings.boxes = BoxSpec{table("x"), table("y"), table("h"), table("w")};
  spec.inputs.push_back({"bbox", InputRole::Boxes, keys.pagePositions});
}

Result<TransformerSpec> attune::readLayoutLMSpec(const Config &config) {
  static const EncoderHeads<LayoutLMKeys> heads = {
      {"LayoutLMModel", declareBertOutputs},
      {"LayoutLMForMaskedLM", declareBertMaskedLM},
      {"LayoutLMForSequenceClassification", declareBertClassification},
      {"LayoutLMForTokenClassification", declareTokenClassification},
      {"LayoutLMForQuestionAnswering", declareQuestionAnswering},
  };
  return readBertLike(config, "layoutlm", "layoutlm.", heads, readLayoutLMKeys, declareLayoutLMModel);
}
