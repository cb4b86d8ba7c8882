//===- RemBert.cpp - RemBERT --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT whose embeddings have fewer features than its layers. The head with scores of words has more features, and a
// word table of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

namespace {

struct RemBertKeys : BertKeys {
  /// The number of features of the head's word table.
  int64_t output;
};

} // namespace

static RemBertKeys readRemBertKeys(ConfigReader &reader) {
  constexpr IntegerRange size = {1, 1 << 24};
  RemBertKeys keys;
  // The defaults of transformers' RemBertConfig.
  static_cast<BertKeys &>(keys) = readBertSizes(reader, {250300, 1152, 32, 18, 4608, 512, 2, 1e-12, 0});
  rejectRelativePositions(reader);
  keys.classifierDropout = reader.number("classifier_dropout_prob", 0.1, 0, 1);
  keys.embedding = reader.integer("input_embedding_size", 256, size);
  keys.output = reader.integer("output_embedding_size", 1664, size);
  keys.embeddingProjection = "encoder.embedding_hidden_mapping_in";
  if (reader.present("tie_word_embeddings") && reader.flag("tie_word_embeddings", false))
    reader.fail("tie_word_embeddings", "false, as the words of the head have features of their own");
  return keys;
}

static void declareRemBertModel(TransformerSpec &spec, const RemBertKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  if (keys.embedding == keys.hidden)
    bertStack(spec).embeddings.projection = spec.linear(prefix + keys.embeddingProjection, keys.embedding, keys.hidden);
}

static void declareRemBertMaskedLM(TransformerSpec &spec, const RemBertKeys &keys, const std::string &) {
  const std::string path = "cls.predictions";
  LinearSpec dense = spec.linear(path + ".dense", keys.hidden, keys.output);
  LinearSpec words = spec.linear(path + ".decoder", keys.output, keys.vocab);
  NormSpec norm = spec.norm(path + ".LayerNorm", keys.output, keys.epsilon);
  spec.outputs.push_back({"logits",
                          {linearStep(dense, path + ".dense"), activationStep(keys.activation, path), normStep(norm, path + ".LayerNorm"),
                           linearStep(words, path + ".decoder")}});
}

Result<TransformerSpec> attune::readRemBertSpec(const Config &config) {
  static const EncoderHeads<RemBertKeys> heads = {
      {"RemBertModel", declareBertOutputs},
      {"RemBertForMaskedLM", declareRemBertMaskedLM},
      {"RemBertForCausalLM", declareRemBertMaskedLM},
      {"RemBertForSequenceClassification", declareBertClassification},
      {"RemBertForTokenClassification", declareTokenClassification},
      {"RemBertForQuestionAnswering", declareQuestionAnswering},
      {"RemBertForMultipleChoice", declarePooledMultipleChoice},
  };
  return readBertLike(config, "rembert", "rembert.", heads, readRemBertKeys, declareRemBertModel);
}
