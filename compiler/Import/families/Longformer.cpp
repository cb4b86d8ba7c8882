//===- Longformer.cpp - Longformer ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// RoBERTa whose tokens attend to a window around them. Global attention of some tokens, which the classes for whole
// sequences of transformers choose by themselves, is not implemented, nor are these classes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

namespace {

struct LongformerKeys : BertKeys {
  /// For each layer, the number of tokens that a query sees on either side.
  std::vector<int64_t> sides;
};

} // namespace

/// Returns for each layer the number of tokens that a query sees on either side: half of `attention_window`, which is a
/// number, or a list with a number for each layer. Records an error if a number is odd or not positive.
static std::vector<int64_t> readSides(ConfigReader &reader, const Config &config, int64_t layers) {
  const Json *value = reader.present("attention_window") ? config.find("attention_window") : nullptr;
  Json windows = value ? *value : Json(512);
  if (!windows.is_array())
    windows = Json(std::vector<Json>(size_t(layers), windows));
  std::vector<int64_t> sides;
  for (const Json &window : windows)
    if (window.is_number_integer() && window.get<int64_t>() > 0 && window.get<int64_t>() % 2 == 0)
      sides.push_back(window.get<int64_t>() / 2);
  if (int64_t(sides.size()) != layers || windows.size() != sides.size())
    reader.fail("attention_window", "an even positive number, or a list with one for each of " + std::to_string(layers) + " layers");
  sides.resize(size_t(layers), 1);
  return sides;
}

static void declareLongformerModel(TransformerSpec &spec, const LongformerKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  countPositions(spec, keys);
  StackSpec &stack = bertStack(spec);
  stack.masksQueries = true;
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    AttentionSpec &attention = *stack.layers[i].attention;
    attention.windowLeft = attention.windowRight = keys.sides[i];
    attention.maskedRows = mlir::xfmr::MaskedRows::Zero;
  }
}

Result<TransformerSpec> attune::readLongformerSpec(const Config &config) {
  static const EncoderHeads<LongformerKeys> heads = {
      {"LongformerModel", declareBertOutputs},
      {"LongformerForMaskedLM", declareRobertaMaskedLM},
      {"LongformerForTokenClassification", declareTokenClassification},
  };
  auto readKeys = [&](ConfigReader &reader) {
    LongformerKeys keys;
    static_cast<BertKeys &>(keys) = readBertSizes(reader);
    readCountedPadding(reader, keys, 1);
    keys.sides = readSides(reader, config, keys.layers);
    reader.reject("is_decoder", "transformers has no decoder of this family");
    return keys;
  };
  return readBertLike(config, "longformer", "longformer.", heads, readKeys, declareLongformerModel);
}
