//===- BigBird.cpp - BigBird --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT. With the `attention_type` "block_sparse", transformers attends only to chosen blocks of keys in sequences of
// more than (5 + 2 * `num_random_blocks`) * `block_size` tokens. This is not implemented, so this number is the largest
// length of a sequence. With "original_full" all sequences have full attention.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

#include <cmath>

using namespace attune;
using mlir::xfmr::Activation;

namespace {

struct BigBirdKeys : BertKeys {
  bool rescales;
  /// The largest number of tokens of a sequence.
  int64_t length;
};

} // namespace

static BigBirdKeys readBigBirdKeys(ConfigReader &reader) {
  constexpr IntegerRange size = {1, 1 << 24};
  static constexpr std::pair<const char *, bool> kinds[] = {{"block_sparse", true}, {"original_full", false}};
  BigBirdKeys keys;
  // The defaults of transformers' BigBirdConfig.
  static_cast<BertKeys &>(keys) = readBertSizes(reader, {50358, 768, 12, 12, 3072, 4096, 2, 1e-12, 0.1, "gelu_new"});
  keys.rescales = reader.flag("rescale_embeddings", false);
  const auto *kind = reader.choose("attention_type", reader.string("attention_type", "block_sparse"), kinds);
  int64_t block = reader.integer("block_size", 64, size), random = reader.integer("num_random_blocks", 3, {0, 1 << 16});
  keys.length = kind && kind->second ? std::min(keys.positions, (5 + 2 * random) * block) : keys.positions;
  if (!reader.flag("use_bias", true))
    reader.fail("use_bias", "true");
  reader.reject("is_decoder", "attention to earlier tokens only is not implemented for this family");
  return keys;
}

static void declareBigBirdModel(TransformerSpec &spec, const BigBirdKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  StackSpec &stack = bertStack(spec);
  stack.maxLength = keys.length;
  if (keys.rescales)
    stack.embeddings.scale = std::sqrt(double(keys.hidden));
  stack.embeddings.scalesGivenVectors = true;
}

static std::vector<HeadStep> bigBirdPooler(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  const std::string path = prefix + "pooler";
  return {poolStep(mlir::xfmr::PoolKind::First, path), linearStep(spec.linear(path, keys.hidden, keys.hidden), path),
          activationStep(Activation::Tanh, path)};
}

static void declareBigBirdOutputs(TransformerSpec &spec, const BigBirdKeys &keys, const std::string &prefix) {
  spec.outputs.push_back({"last_hidden_state", {}});
  spec.outputs.push_back({"pooler_output", bigBirdPooler(spec, keys, prefix)});
}

static void declareBigBirdPreTraining(TransformerSpec &spec, const BigBirdKeys &keys, const std::string &prefix) {
  const std::string path = "cls.seq_relationship";
  spec.outputs.push_back({"prediction_logits", bertPredictions(spec, keys)});
  std::vector<HeadStep> steps = bigBirdPooler(spec, keys, prefix);
  steps.push_back(linearStep(spec.linear(path, keys.hidden, 2), path));
  spec.outputs.push_back({"seq_relationship_logits", std::move(steps)});
}

static void declareBigBirdSequenceClassification(TransformerSpec &spec, const BigBirdKeys &keys, const std::string &) {
  declareTokenScores(spec, keys, keys.activation);
}

static void declareBigBirdChoices(TransformerSpec &spec, const BigBirdKeys &keys, const std::string &prefix) {
  declareMultipleChoice(spec, keys, bigBirdPooler(spec, keys, prefix));
}

Result<TransformerSpec> attune::readBigBirdSpec(const Config &config) {
  static const EncoderHeads<BigBirdKeys> heads = {
      {"BigBirdModel", declareBigBirdOutputs},
      {"BigBirdForPreTraining", declareBigBirdPreTraining},
      {"BigBirdForMaskedLM", declareBertMaskedLM},
      {"BigBirdForSequenceClassification", declareBigBirdSequenceClassification},
      {"BigBirdForTokenClassification", declareTokenClassification},
      {"BigBirdForMultipleChoice", declareBigBirdChoices},
  };
  return readBertLike(config, "big_bird", "bert.", heads, readBigBirdKeys, declareBigBirdModel);
}
