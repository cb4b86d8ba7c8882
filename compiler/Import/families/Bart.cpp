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
  LinearSpec both = spec.linear("qa_outputs", keys.hidden, 2);
  spec.outputs.push_back({"start_logits", {linearStep(spec.features(both, 0, 1), "qa_outputs")}, /*squeeze=*/true});
  declareSeq2SeqOutputs(spec, "end_logits", {linearStep(spec.features(both, 1, 2), "qa_outputs")});
  spec.outputs[1].squeeze = true;
}

/// Two projections of the decoder's state where the last end of the ids stands.
static void declareSequenceClassification(TransformerSpec &spec, const BartKeys &keys, const BartTables &, WeightId) {
  const std::string path = "classification_head";
  LinearSpec dense = spec.linear(path + ".dense", keys.hidden, keys.hidden),
             output = spec.linear(path + ".out_proj", keys.hidden, keys.labels);
  declareSeq2SeqOutputs(spec, "logits",
                        {lastEndStep(keys.end, path), dropoutStep(keys.classifierDropout, path + ".dropout"),
                         linearStep(dense, path + ".dense"), activationStep(mlir::xfmr::Activation::Tanh, path),
                         linearStep(output, path + ".out_proj")});
}

static void declareStack(TransformerSpec &spec, const BartKeys &keys, StackRole role, const std::string &prefix) {
  StackSpec &stack = role == StackRole::Encoder ? *spec.encoder : *spec.decoder;
  const std::string path = prefix + stack.name;
  WeightId positions = spec.tensor(path + ".embed_positions.weight", {keys.positions + positionOffset, keys.hidden});
  stack.embeddings.positions = spec.slice(positions, 0, positionOffset, keys.positions + positionOffset);
  stack.embeddings.norm = spec.norm(path + ".layernorm_embedding", keys.hidden, 1e-5);
  declareBartLayers(spec, keys, role, prefix);
}

Result<TransformerSpec> attune::readBartSpec(const Config &config) {
  static constexpr std::pair<const char *, DeclareHead> heads[] = {
      {"BartModel", declareBase},
      {"BartForConditionalGeneration", declareBartLogits},
      {"BartForQuestionAnswering", declareQuestionAnswering},
      {"BartForSequenceClassification", declareSequenceClassification},
  };
  ConfigReader reader(config);
  BartKeys keys = readBartKeys(reader, 50265, 3);
  keys.shared = true;
  TransformerSpec spec;
  spec.family = "bart";
  spec.architecture = reader.architecture("BartModel");
  spec.basePrefix = "model.";
  spec.decoderStart =
      reader.integerOrNull("decoder_start_token_id", std::min<int64_t>(2, keys.decoderVocab - 1), {0, keys.decoderVocab - 1});
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  const std::string prefix = head == heads ? "" : spec.basePrefix;
  WeightId bias = head->second == declareBartLogits ? declareBartLogitsBias(spec, keys) : noWeight;
  BartTables tables = declareBartStacks(spec, keys, prefix);
  for (StackRole role : {StackRole::Encoder, StackRole::Decoder})
    declareStack(spec, keys, role, prefix);
  head->second(spec, keys, tables, bias);
  return spec;
}
