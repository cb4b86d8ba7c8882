//===- Marian.cpp - Marian ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BART's layers over computed positions, sines before cosines, and no norm of embeddings. Defaults are those of transformers' MarianConfig.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Seq2Seq.h"

using namespace attune;

/// What an architecture has beside its stacks; the last is the decoder alone with a head.
enum class Kind { Base, Translation, Causal };

static void declarePositions(TransformerSpec &spec, const BartKeys &keys, const std::string &prefix) {
  WeightId positions = spec.computed(prefix + "embed_positions", {keys.positions, keys.hidden}, "sinusoidal", {{"layout", "half"}});
  for (std::optional<StackSpec> *stack : {&spec.encoder, &spec.decoder})
    if (*stack)
      (*stack)->embeddings.positions = positions;
}

Result<TransformerSpec> attune::readMarianSpec(const Config &config) {
  static constexpr std::pair<const char *, Kind> heads[] = {
      {"MarianModel", Kind::Base}, {"MarianMTModel", Kind::Translation}, {"MarianForCausalLM", Kind::Causal}};
  ConfigReader reader(config);
  TransformerSpec spec;
  spec.family = "marian";
  spec.architecture = reader.architecture("MarianModel");
  BartKeys keys = readBartKeys(reader, 50265, 3, /*encodes=*/spec.architecture != "MarianForCausalLM");
  spec.basePrefix = "model.";
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  const bool translates = head->second == Kind::Translation;
  const std::string prefix = head->second == Kind::Base ? "" : spec.basePrefix;
  if (head->second == Kind::Causal) {
    WeightId words = declareBartDecoder(spec, keys, prefix);
    declarePositions(spec, keys, prefix);
    declareBartLayers(spec, keys, StackRole::Decoder, prefix);
    declareBartCausalLogits(spec, keys, words);
    return spec;
  }

  WeightId bias = translates ? declareBartLogitsBias(spec, keys) : noWeight;
  BartTables tables = declareBartStacks(spec, keys, prefix);
  declarePositions(spec, keys, prefix);
  for (StackRole role : {StackRole::Encoder, StackRole::Decoder})
    declareBartLayers(spec, keys, role, prefix);
  if (translates)
    declareBartLogits(spec, keys, tables, bias);
  else
    declareSeq2SeqOutputs(spec, "last_hidden_state");
  return spec;
}
