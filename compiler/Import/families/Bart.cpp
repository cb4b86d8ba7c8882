//===- Bart.cpp - BART ----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Encoder and decoder layers with norms after the residual sums, over normed sums of words and learned positions, whose first two rows are
// for nothing. Defaults are those of transformers' BartConfig.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Seq2Seq.h"

using namespace attune;

/// Rows of the position table before that of position 0.
static constexpr int64_t positionOffset = 2;

using DeclareHead = void (*)(TransformerSpec &spec, const BartKeys &keys, const BartTables &tables, WeightId bias);

static void declareBase(TransformerSpec &spec, const BartKeys &, const BartTables &, WeightId) {
  declareSeq2SeqOutputs(spec, "last_hidden_state");
}

/// A start and an end score per token of the decoder.
static void declareQuestionAnswering(TransformerSpec &spec, const BartKeys &keys, const BartTables &, WeightId) {
  declareStartAndEnd(spec, spec.linear("qa_outputs", keys.hidden, 2));
  declareEncoderOutput(spec);
}

/// A classifier of whole sequences.
static void declareSequenceClassification(TransformerSpec &spec, const BartKeys &keys, const BartTables &, WeightId) {
  declareEndClassification(spec, keys.hidden, keys.labels, keys.end, keys.classifierDropout);
}

static void declareStack(TransformerSpec &spec, const BartKeys &keys, StackRole role, const std::string &prefix) {
  StackSpec &stack = role == StackRole::Encoder ? *spec.encoder : *spec.decoder;
  const std::string path = prefix + stack.name;
  WeightId positions = spec.tensor(path + ".embed_positions.weight", {keys.positions + positionOffset, keys.hidden});
  stack.embeddings.positions = spec.slice(positions, 0, positionOffset, keys.positions + positionOffset);
  stack.embeddings.norm = spec.norm(path + ".layernorm_embedding", keys.hidden, 1e-5);
  declareBartLayers(spec, keys, role, prefix);
}

/// The decoder alone, with a head.
static void declareCausal(TransformerSpec &spec, const BartKeys &keys) {
  WeightId words = declareBartDecoder(spec, keys, spec.basePrefix);
  declareStack(spec, keys, StackRole::Decoder, spec.basePrefix);
  declareBartCausalLogits(spec, keys, words);
}

Result<TransformerSpec> attune::readBartSpec(const Config &config) {
  static constexpr std::pair<const char *, DeclareHead> heads[] = {
      {"BartModel", declareBase},
      {"BartForConditionalGeneration", declareBartLogits},
      {"BartForQuestionAnswering", declareQuestionAnswering},
      {"BartForSequenceClassification", declareSequenceClassification},
      {"BartForCausalLM", nullptr}, // the decoder alone
  };
  ConfigReader reader(config);
  TransformerSpec spec;
  spec.family = "bart";
  spec.architecture = reader.architecture("BartModel");
  BartKeys keys = readBartKeys(reader, 50265, 3, /*encodes=*/spec.architecture != "BartForCausalLM");
  keys.shared = true;
  spec.basePrefix = "model.";
  int64_t start = reader.integerOrNull("decoder_start_token_id", std::min<int64_t>(2, keys.decoderVocab - 1), {0, keys.decoderVocab - 1});
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  if (!head->second) {
    declareCausal(spec, keys);
    return spec;
  }
  spec.decoderStart = start;
  const std::string prefix = head == heads ? "" : spec.basePrefix;
  WeightId bias = head->second == declareBartLogits ? declareBartLogitsBias(spec, keys) : noWeight;
  BartTables tables = declareBartStacks(spec, keys, prefix);
  for (StackRole role : {StackRole::Encoder, StackRole::Decoder})
    declareStack(spec, keys, role, prefix);
  head->second(spec, keys, tables, bias);
  return spec;
}
