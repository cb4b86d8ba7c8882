//===- BertBase.cpp - Shared parts of BERT and its variants ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layers with norms after the residual sums or, in models with a norm after the last layer, before the branches.
// Tensors are declared in the order of a generated weight file.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"
#include "compiler/Import/families/DecoderParts.h"

#include <cmath>

using namespace attune;
using mlir::xfmr::Activation;

BertKeys attune::readBertSizes(ConfigReader &reader, const BertDefaults &defaults) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  BertKeys keys;
  keys.vocab = reader.integer("vocab_size", defaults.vocab, ids);
  keys.hidden = keys.embedding = reader.integer("hidden_size", defaults.hidden, size);
  keys.layers = reader.integer("num_hidden_layers", defaults.layers, layers);
  keys.heads = reader.integer("num_attention_heads", defaults.heads, size);
  keys.intermediate = reader.integer("intermediate_size", defaults.intermediate, size);
  keys.positions = reader.integer("max_position_embeddings", defaults.positions, size);
  keys.types = reader.integer("type_vocab_size", defaults.types, {0, ids.max});
  keys.epsilon = reader.number("layer_norm_eps", defaults.epsilon, 0, 1);
  keys.dropout = reader.number("hidden_dropout_prob", defaults.dropout, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : keys.dropout;
  keys.activation = readActivation(reader, "hidden_act", defaults.activation);
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  if (keys.hidden % keys.heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(keys.heads));
  keys.pruned = readPrunedHeads(reader, keys.layers, keys.heads);

  keys.decoder = reader.flag("is_decoder", false);
  keys.cross = reader.flag("add_cross_attention", false);
  if (keys.cross && !keys.decoder)
    reader.fail("add_cross_attention", "false, as 'is_decoder' is");
  if (keys.decoder)
    requireCausal(reader);
  reader.reject("is_encoder_decoder", "the model is one stack");
  return keys;
}

BertKeys attune::readBertKeys(ConfigReader &reader, const BertDefaults &defaults) {
  BertKeys keys = readBertSizes(reader, defaults);
  static constexpr std::pair<const char *, int> types[] = {{"absolute", 0}, {"relative_key", 1}, {"relative_key_query", 2}};
  const auto *type = reader.choose("position_embedding_type", reader.string("position_embedding_type", "absolute"), types);
  keys.relative = type && type->second != 0;
  keys.relativeToKeys = type && type->second == 2;
  return keys;
}

void attune::rejectRelativePositions(ConfigReader &reader) {
  static constexpr std::pair<const char *, int> types[] = {{"absolute", 0}};
  reader.choose("position_embedding_type", reader.string("position_embedding_type", "absolute"), types);
}

void attune::readCountedPadding(ConfigReader &reader, BertKeys &keys, int64_t fallback) {
  keys.padding = reader.integer("pad_token_id", fallback, {0, keys.positions - 2});
}

void attune::countPositions(TransformerSpec &spec, const BertKeys &keys) {
  bertStack(spec).embeddings.countedAfter = keys.padding;
  bertStack(spec).maxLength = keys.positions - keys.padding - 1;
  for (InputSpec &input : spec.inputs)
    if (input.role == InputRole::Positions) {
      input.standard = false;
      input.required = true;
    }
}

StackSpec &attune::bertStack(TransformerSpec &spec) { return spec.encoder ? *spec.encoder : *spec.decoder; }

void attune::declareBertEmbeddings(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  EmbeddingSpec &embeddings = bertStack(spec).embeddings;
  embeddings.path = prefix + "embeddings";
  embeddings.words = spec.tensor(embeddings.path + ".word_embeddings.weight", {keys.vocab, keys.embedding});
  if (keys.positionTable) {
    WeightId positions = spec.tensor(embeddings.path + ".position_embeddings.weight", {keys.positions, keys.embedding});
    embeddings.positions = keys.relative ? noWeight : positions;
  }
  if (keys.types != 0)
    embeddings.types = spec.tensor(embeddings.path + ".token_type_embeddings.weight", {keys.types, keys.embedding});
  if (keys.embeddingNorm)
    embeddings.norm = spec.norm(prefix + keys.embeddingNorm, keys.embedding, keys.epsilon);
  embeddings.dropout = keys.dropout;
}

void attune::declareBertInputs(TransformerSpec &spec, const BertKeys &keys) {
  spec.inputs = {{"input_ids", InputRole::TokenIds, keys.vocab},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false},
                 {"attention_mask", InputRole::AttentionMask},
                 {"position_ids", InputRole::Positions, keys.positions, /*standard=*/!keys.relative},
                 {"head_mask", InputRole::HeadMask, 0, /*standard=*/false}};
  if (keys.types != 0)
    spec.inputs.insert(spec.inputs.begin() + 3, {"token_type_ids", InputRole::TokenTypes, keys.types});
  if (keys.cross)
    declareMemoryInputs(spec);
  for (InputSpec &input : spec.inputs)
    input.stack = spec.mainStack();
}

/// Declares the attention |path| with the remaining heads |heads|. |own| is true for self-attention; cross attention
/// has no relative positions and no causal mask.
static AttentionSpec declareBertBaseAttention(TransformerSpec &spec, const BertKeys &keys, const std::string &path,
                                              const std::vector<int64_t> &heads, bool own) {
  AttentionSpec attention;
  int64_t headSize = keys.hidden / keys.heads, inner = headSize * int64_t(heads.size());
  attention.query = spec.linear(path + ".self.query", keys.hidden, inner);
  attention.key = spec.linear(path + ".self.key", keys.hidden, inner);
  attention.value = spec.linear(path + ".self.value", keys.hidden, inner);
  if (own && keys.relative) {
    attention.relativeKey = spec.tensor(path + ".self.distance_embedding.weight", {2 * keys.positions - 1, headSize});
    attention.relativeQuery = keys.relativeToKeys ? attention.relativeKey : noWeight;
  }
  attention.output = spec.linear(path + ".output.dense", inner, keys.hidden);
  attention.heads = attention.kvHeads = int64_t(heads.size());
  attention.originalHeads = keys.heads;
  attention.headNumbers = heads;
  attention.scale = 1 / std::sqrt(double(headSize));
  attention.causal = own && keys.decoder;
  attention.queryKeyMaskReplacesCausal = true;
  return attention;
}

void attune::setWholeAttention(AttentionSpec &attention, const BertKeys &keys) {
  attention.heads = attention.kvHeads = attention.originalHeads = keys.heads;
  attention.scale = 1 / std::sqrt(double(keys.hidden / keys.heads));
}

AttentionSpec attune::declareWholeAttention(TransformerSpec &spec, const BertKeys &keys, const std::string &path,
                                            const std::array<const char *, 4> &names) {
  auto projection = [&](const char *name) { return spec.linear(path + "." + name, keys.hidden, keys.hidden); };
  AttentionSpec attention;
  attention.query = projection(names[0]);
  attention.key = projection(names[1]);
  attention.value = projection(names[2]);
  attention.output = projection(names[3]);
  setWholeAttention(attention, keys);
  return attention;
}

void attune::declareBertFfn(TransformerSpec &spec, const BertKeys &keys, LayerSpec &layer) {
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.linear(layer.path + ".intermediate.dense", keys.hidden, keys.intermediate);
  ffn.down = spec.linear(layer.path + ".output.dense", keys.intermediate, keys.hidden);
  ffn.activation = keys.activation;
  layer.ffnNorm = spec.norm(layer.path + "." + keys.ffnNorm, keys.hidden, keys.epsilon);
}

static void declareBertBaseLayer(TransformerSpec &spec, const BertKeys &keys, const std::string &path, int64_t number, WeightId rotary) {
  LayerSpec layer;
  layer.path = path;
  layer.attention =
      declareBertBaseAttention(spec, keys, path + ".attention", remainingHeads(keys.pruned, number, keys.heads), /*own=*/true);
  layer.attention->rotary = rotary;
  layer.attentionNorm = spec.norm(path + ".attention." + keys.attentionNorm, keys.hidden, keys.epsilon);
  if (keys.cross) {
    layer.cross = declareBertBaseAttention(spec, keys, path + ".crossattention", remainingHeads({}, number, keys.heads), /*own=*/false);
    layer.crossNorm = spec.norm(path + ".crossattention." + keys.attentionNorm, keys.hidden, keys.epsilon);
  }
  declareBertFfn(spec, keys, layer);
  bertStack(spec).layers.push_back(std::move(layer));
}

StackSpec &attune::declareBertStack(TransformerSpec &spec, const BertKeys &keys) {
  StackSpec &stack = keys.decoder ? spec.decoder.emplace() : spec.encoder.emplace();
  stack.name = keys.decoder ? "decoder" : "encoder";
  stack.placement = keys.lastNorm ? NormPlacement::Pre : NormPlacement::Post;
  stack.dropout = keys.dropout;
  stack.hidden = stack.memoryHidden = keys.hidden;
  stack.maxLength = keys.positions;
  stack.cached = keys.decoder;
  stack.crossSharesHeadMask = true;
  stack.countsPadding = true;
  return stack;
}

void attune::declareBertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  declareBertEmbeddings(spec, keys, prefix);
  declareBertInputs(spec, keys);
  if (keys.embedding != keys.hidden)
    stack.embeddings.projection = spec.linear(prefix + keys.embeddingProjection, keys.embedding, keys.hidden);
  WeightId rotary = keys.rope ? declareRope(spec, prefix + "rotary_emb", *keys.rope, keys.positions) : noWeight;
  for (int64_t i = 0; i < keys.layers; ++i)
    declareBertBaseLayer(spec, keys, prefix + "encoder.layer." + std::to_string(i), i, rotary);
  if (keys.lastNorm)
    stack.finalNorm = spec.norm(prefix + keys.lastNorm, keys.hidden, keys.epsilon);
}
