//===- Esm.cpp - ESM, proteins as text ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT with norms before the branches, for sequences of amino acids. ESM-1b counts positions as RoBERTa does; ESM-2 has
// rotary embeddings. The word vectors of mask tokens may be replaced by zeros (TokenDropoutSpec), and hidden tokens
// begin as zeros.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;

namespace {

struct EsmKeys : BertKeys {
  std::optional<TokenDropoutSpec> tokenDropout;
};

} // namespace

static EsmKeys readEsmKeys(ConfigReader &reader, const Config &config) {
  constexpr IntegerRange size = {1, 1 << 24}, ids = {0, int64_t(1) << 31};
  static constexpr std::pair<const char *, bool> positions[] = {{"absolute", true}, {"rotary", false}};
  EsmKeys keys;
  keys.vocab = reader.integer("vocab_size", 33, {1, ids.max});
  keys.hidden = keys.embedding = reader.integer("hidden_size", 768, size);
  keys.layers = reader.integer("num_hidden_layers", 12, {0, 1 << 12});
  keys.heads = reader.integer("num_attention_heads", 12, size);
  keys.intermediate = reader.integer("intermediate_size", 3072, size);
  keys.positions = reader.integer("max_position_embeddings", 1026, size);
  keys.types = 0;
  keys.epsilon = reader.number("layer_norm_eps", 1e-12, 0, 1);
  keys.dropout = keys.classifierDropout = reader.present("hidden_dropout_prob") ? reader.number("hidden_dropout_prob", 0.1, 0, 1) : 0;
  // transformers ignores `hidden_act`.
  keys.activation = mlir::xfmr::Activation::Gelu;
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  const auto *position = reader.choose("position_embedding_type", reader.string("position_embedding_type", "absolute"), positions);
  keys.positionTable = position && position->second;
  if (keys.hidden % keys.heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(keys.heads));
  if (keys.positionTable)
    readCountedPadding(reader, keys, 1);
  else
    keys.rope = readRope(reader, config, keys.hidden / keys.heads, keys.positions);
  for (const char *key : {"rope_scaling", "rope_parameters"})
    reader.reject(key, "transformers does not read it for this family");
  bool normsEmbeddings = reader.present("emb_layer_norm_before") && reader.flag("emb_layer_norm_before", false);
  keys.embeddingNorm = normsEmbeddings ? "embeddings.layer_norm" : nullptr;
  keys.attentionNorm = keys.ffnNorm = "LayerNorm", keys.lastNorm = "encoder.emb_layer_norm_after";
  // In training, 80 % of a chosen 15 % of tokens became mask tokens; TokenDropoutSpec::kept is the share of all others.
  if (reader.present("token_dropout") && reader.flag("token_dropout", false))
    keys.tokenDropout = TokenDropoutSpec{reader.integer("mask_token_id", 32, ids), 1 - 0.15 * 0.8};
  rejectPrunedHeads(reader);
  for (const char *key : {"is_decoder", "add_cross_attention", "is_folding_model"})
    reader.reject(key, "it is not implemented for this family");
  return keys;
}

/// Makes the rotary embeddings use the frequencies in files, if files have any. Files have them once or for each layer;
/// transformers uses the frequencies of the first layer. They differ from computed ones, as published files have them
/// rounded to f16.
static void declareFrequencies(TransformerSpec &spec, const EsmKeys &keys, const std::string &prefix) {
  const std::string name = "rotary_embeddings.inv_freq";
  WeightId frequencies = spec.otherTensor(prefix + name, {keys.rope->width / 2});
  spec.addAlias(frequencies, prefix + "encoder.layer.0.attention.self." + name);
  for (const LayerSpec &layer : spec.encoder->layers)
    spec.weights[layer.attention->rotary].frequencies = frequencies;
}

static void declareEsmModel(TransformerSpec &spec, const EsmKeys &keys, const std::string &prefix) {
  declareBertModel(spec, keys, prefix);
  if (keys.positionTable)
    countPositions(spec, keys);
  else
    declareFrequencies(spec, keys, prefix);
  EmbeddingSpec &embeddings = spec.encoder->embeddings;
  embeddings.tokenDropout = keys.tokenDropout;
  embeddings.zeroesHidden = true;
  // In transformers `inputs_embeds` replaces the result of the embeddings, not the words, so there is no input of
  // vectors.
  llvm::erase_if(spec.inputs, [](const InputSpec &input) { return input.role == InputRole::TokenVectors; });
}

/// Renames the tensors of norms called LayerNorm to `gamma` and `beta`, under which transformers saves them. The names
/// `weight` and `bias`, which published files have, become aliases.
static void useSavedNames(TransformerSpec &spec) {
  for (WeightSpec &weight : spec.weights)
    for (auto [name, saved] : {std::pair("LayerNorm.weight", "LayerNorm.gamma"), std::pair("LayerNorm.bias", "LayerNorm.beta")})
      if (size_t at = weight.name.rfind(name); weight.kind == WeightSpec::Tensor && at != std::string::npos) {
        weight.aliases.push_back(weight.name);
        weight.name = weight.name.substr(0, at) + saved;
      }
}

Result<TransformerSpec> attune::readEsmSpec(const Config &config) {
  static const EncoderHeads<EsmKeys> heads = {
      {"EsmModel", declareBertOutputs},
      {"EsmForMaskedLM", declareRobertaMaskedLM},
      {"EsmForSequenceClassification", declareRobertaClassification},
      {"EsmForTokenClassification", declareTokenClassification},
  };
  Result<TransformerSpec> spec =
      readBertLike(config, "esm", "esm.", heads, [&](ConfigReader &reader) { return readEsmKeys(reader, config); }, declareEsmModel);
  if (spec)
    useSavedNames(*spec);
  return spec;
}
