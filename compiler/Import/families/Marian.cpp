//===- Marian.cpp - Marian ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BART's layers over computed positions, sines before cosines, and no norm of embeddings. Defaults are those of transformers' MarianConfig.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Seq2Seq.h"

using namespace attune;

Result<TransformerSpec> attune::readMarianSpec(const Config &config) {
  static constexpr std::pair<const char *, bool> heads[] = {{"MarianModel", false}, {"MarianMTModel", true}};
  ConfigReader reader(config);
  BartKeys keys = readBartKeys(reader, 50265, 3);
  TransformerSpec spec;
  spec.family = "marian";
  spec.architecture = reader.architecture("MarianModel");
  spec.basePrefix = "model.";
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  const bool translates = head->second;
  const std::string prefix = translates ? spec.basePrefix : "";

  WeightId bias = translates ? declareBartLogitsBias(spec, keys) : noWeight;
  BartTables tables = declareBartStacks(spec, keys, prefix);
  WeightId positions = spec.computed(prefix + "embed_positions", {keys.positions, keys.hidden}, "sinusoidal", {{"layout", "half"}});
  spec.encoder->embeddings.positions = spec.decoder->embeddings.positions = positions;
  for (StackRole role : {StackRole::Encoder, StackRole::Decoder})
    declareBartLayers(spec, keys, role, prefix);
  if (translates)
    declareBartLogits(spec, keys, tables, bias);
  else
    declareSeq2SeqOutputs(spec, "last_hidden_state");
  return spec;
}
