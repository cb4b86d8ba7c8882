//===- Gpt2.cpp - GPT-2 ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decoder layers with norms before the branches. Projections are stored as [in, out]; those of queries, keys and values
// are joined. Token types, if they are an input, are rows of the word table. Defaults are those of transformers'
// GPT2Config, of whose keys four have a second name. Heads are in Gpt2Heads.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/DecoderParts.h"
#include "compiler/Import/families/Families.h"
#include "compiler/Import/families/Gpt2Heads.h"

#include <cmath>

using namespace attune;

static Gpt2Keys readGpt2Keys(ConfigReader &reader) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  Gpt2Keys keys;
  keys.vocab = reader.integer("vocab_size", 50257, ids);
  keys.positions = reader.integer("n_positions", "max_position_embeddings", 1024, size);
  keys.hidden = reader.integer("n_embd", "hidden_size", 768, size);
  keys.layers = reader.integer("n_layer", "num_hidden_layers", 12, layers);
  keys.heads = reader.integer("n_head", "num_attention_heads", 12, size);
  keys.inner = reader.present("n_inner") ? reader.integer("n_inner", 0, size) : 4 * keys.hidden;
  keys.epsilon = reader.number("layer_norm_epsilon", 1e-5, 0, 1);
  keys.dropout = reader.number("resid_pdrop", 0.1, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : 0.1;
  keys.activation = readActivation(reader, "activation_function", "gelu_new");
  keys.scaled = reader.flag("scale_attn_weights", true);
  keys.scaledByLayer = reader.flag("scale_attn_by_inverse_layer_idx", false);
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  keys.padding = reader.present("pad_token_id") ? std::optional(reader.integer("pad_token_id", 0, {-1, keys.vocab})) : std::nullopt;
  if (keys.hidden % keys.heads != 0)
    reader.fail(reader.present("hidden_size") ? "hidden_size" : "n_embd",
                "a multiple of the heads, which are " + std::to_string(keys.heads));
  keys.pruned = readPrunedHeads(reader, keys.layers, keys.heads);
  keys.cross = reader.flag("add_cross_attention", false);
  if (reader.architecture("GPT2Model") == "GPT2DoubleHeadsModel")
    readGpt2Summary(reader, keys);
  return keys;
}

static void declareGpt2Embeddings(TransformerSpec &spec, const Gpt2Keys &keys, const std::string &prefix) {
  EmbeddingSpec &embeddings = spec.decoder->embeddings;
  embeddings.path = prefix + "wte";
  embeddings.words = embeddings.types = spec.tensor(prefix + "wte.weight", {keys.vocab, keys.hidden});
  if (keys.tied)
    spec.addAlias(embeddings.words, "lm_head.weight");
  embeddings.positions = spec.tensor(prefix + "wpe.weight", {keys.positions, keys.hidden});
  embeddings.typesIfGiven = true;
  declareDecoderInputs(spec, keys.vocab, keys.positions);
  spec.inputs.push_back({"token_type_ids", InputRole::TokenTypes, keys.vocab, /*standard=*/false, StackRole::Decoder, false, true});
  spec.inputs.push_back({"head_mask", InputRole::HeadMask, 0, /*standard=*/false, StackRole::Decoder});
  if (keys.cross)
    declareMemoryInputs(spec);
}

static void declareGpt2Layer(TransformerSpec &spec, const Gpt2Keys &keys, int64_t number, const std::string &path) {
  LayerSpec layer;
  layer.path = path;
  layer.attentionNorm = spec.norm(path + ".ln_1", keys.hidden, keys.epsilon);
  AttentionSpec &attention = layer.attention.emplace();
  attention.headNumbers = remainingHeads(keys.pruned, number, keys.heads);
  attention.originalHeads = keys.heads;
  attention.heads = attention.kvHeads = int64_t(attention.headNumbers.size());
  int64_t headSize = keys.hidden / keys.heads, inner = headSize * attention.heads;
  LinearSpec joined = spec.transposedLinear(path + ".attn.c_attn", keys.hidden, 3 * inner);
  // Multiplies the queries, not the scale, so that layers that differ only in their weights share a function.
  double factor = keys.scaledByLayer ? 1 / double(number + 1) : 1;
  attention.query = spec.scaled(spec.features(joined, 0, inner), factor);
  attention.key = spec.features(joined, inner, 2 * inner);
  attention.value = spec.features(joined, 2 * inner, 3 * inner);
  attention.output = spec.transposedLinear(path + ".attn.c_proj", inner, keys.hidden);
  attention.scale = keys.scaled ? 1 / std::sqrt(double(headSize)) : 1;
  attention.causal = true;
  attention.maskedRows = mlir::xfmr::MaskedRows::LeastMasked;
  if (keys.cross)
    declareGpt2Cross(spec, layer, keys.heads, keys.epsilon, factor);
  layer.ffnNorm = spec.norm(path + ".ln_2", keys.hidden, keys.epsilon);
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.transposedLinear(path + ".mlp.c_fc", keys.hidden, keys.inner);
  ffn.down = spec.transposedLinear(path + ".mlp.c_proj", keys.inner, keys.hidden);
  ffn.activation = keys.activation;
  spec.decoder->layers.push_back(std::move(layer));
}

Result<TransformerSpec> attune::readGpt2Spec(const Config &config) {
  ConfigReader reader(config);
  Gpt2Keys keys = readGpt2Keys(reader);
  TransformerSpec spec;
  spec.family = "gpt2";
  spec.architecture = reader.architecture("GPT2Model");
  spec.basePrefix = "transformer.";
  const std::vector<Gpt2Head> &heads = gpt2Heads();
  const Gpt2Head *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  std::string prefix = head == &heads.front() ? "" : spec.basePrefix;

  StackSpec &stack = spec.decoder.emplace();
  stack.name = "decoder";
  stack.placement = NormPlacement::Pre;
  stack.dropout = stack.embeddings.dropout = keys.dropout;
  stack.hidden = stack.memoryHidden = keys.hidden;
  stack.maxLength = keys.positions;
  stack.cached = true;
  declareGpt2Embeddings(spec, keys, prefix);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareGpt2Layer(spec, keys, i, prefix + "h." + std::to_string(i));
  spec.decoder->finalNorm = spec.norm(prefix + "ln_f", keys.hidden, keys.epsilon);
  head->second(spec, keys);
  return spec;
}
