//===- BartBase.cpp - The stacks of BART and its descendants --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A stack of BART's variants has words, scaled if `scale_embedding` says so, plus positions; in some variants a norm of
// the sum; layers with norms before or after the branches; and in some variants a norm after the last layer. Heads are
// in BartHeads.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BartBase.h"
#include "compiler/Import/families/DecoderParts.h"

#include <cmath>

using namespace attune;

/// The epsilon of all norms, which no key sets.
static constexpr double epsilon = 1e-5;

/// Returns the factor of word vectors in the stack |role|, 1 if they are not scaled.
static double embeddingScale(const BartVariant &variant, const BartKeys &keys, StackRole role) {
  return keys.scaled && !(role == StackRole::Decoder && variant.plainTargets) ? std::sqrt(double(keys.hidden)) : 1;
}

/// Returns true if the factor of words in the stack |role| applies to an input of word vectors, too. If not,
/// declareBartBaseWords multiplies the word table by the factor.
static bool scalesVectors(const BartVariant &variant, StackRole role) { return role == StackRole::Decoder && variant.scalesGivenTargets; }

/// Returns the word table of the stack |role|: |table|, multiplied by the factor of words unless scalesVectors returns
/// true.
static WeightId declareBartBaseWords(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, StackRole role,
                                     WeightId table) {
  return scalesVectors(variant, role) ? table : spec.scale(table, embeddingScale(variant, keys, role));
}

/// Declares the stack |role| with the word table |words|, without positions and layers.
static void declareBartBaseStack(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, StackRole role,
                                 const std::string &prefix, WeightId words) {
  bool decoder = role == StackRole::Decoder;
  StackSpec &stack = decoder ? spec.decoder.emplace() : spec.encoder.emplace();
  stack.name = decoder ? "decoder" : "encoder";
  stack.placement = variant.placement;
  stack.dropout = stack.embeddings.dropout = keys.dropout;
  stack.hidden = stack.memoryHidden = keys.hidden;
  stack.maxLength = keys.positions;
  stack.cached = decoder;
  stack.countsPadding = true;
  stack.embeddings.path = prefix + stack.name + ".embed_tokens";
  stack.embeddings.words = words;
  stack.embeddings.scalesGivenVectors = scalesVectors(variant, role);
  if (stack.embeddings.scalesGivenVectors)
    stack.embeddings.scale = embeddingScale(variant, keys, role);
}

BartTables attune::declareBartStacks(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix) {
  const std::string encoderName = prefix + "encoder.embed_tokens.weight", decoderName = prefix + "decoder.embed_tokens.weight";
  BartTables tables;
  if (keys.shared && keys.tied) {
    tables.encoder = tables.decoder = spec.tensor(prefix + "shared.weight", {keys.vocab, keys.hidden}, {encoderName, decoderName});
  } else {
    // Files may have one table for both stacks, even if the configuration allows two.
    const std::vector<std::string> one = keys.shared ? std::vector{prefix + "shared.weight"} : std::vector<std::string>();
    tables.encoder = spec.tensor(encoderName, {keys.vocab, keys.hidden}, one);
    tables.decoder = spec.tensor(decoderName, {keys.decoderVocab, keys.hidden}, one);
  }
  if (keys.tied)
    spec.addAlias(tables.decoder, "lm_head.weight");
  constexpr StackRole encoder = StackRole::Encoder, decoder = StackRole::Decoder;
  WeightId sourceWords = declareBartBaseWords(spec, variant, keys, encoder, tables.encoder), targetWords = sourceWords;
  bool same = tables.encoder == tables.decoder && !scalesVectors(variant, decoder) &&
              embeddingScale(variant, keys, encoder) == embeddingScale(variant, keys, decoder);
  if (!same)
    targetWords = declareBartBaseWords(spec, variant, keys, decoder, tables.decoder);
  declareBartBaseStack(spec, variant, keys, encoder, prefix, sourceWords);
  declareBartBaseStack(spec, variant, keys, decoder, prefix, targetWords);
  declareSeq2SeqInputs(spec, keys.vocab, keys.decoderVocab);
  return tables;
}

BartTables attune::declareBartDecoder(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix) {
  constexpr StackRole decoder = StackRole::Decoder;
  BartTables tables;
  tables.decoder = spec.tensor(prefix + "decoder.embed_tokens.weight", {keys.decoderVocab, keys.hidden}, {prefix + "shared.weight"});
  if (keys.tied)
    spec.addAlias(tables.decoder, "lm_head.weight");
  declareBartBaseStack(spec, variant, keys, decoder, prefix, declareBartBaseWords(spec, variant, keys, decoder, tables.decoder));
  spec.inputs = {{"input_ids", InputRole::TokenIds, keys.decoderVocab, /*standard=*/true, decoder},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false, decoder},
                 {"attention_mask", InputRole::AttentionMask, 0, /*standard=*/true, decoder},
                 {"head_mask", InputRole::HeadMask, 0, /*standard=*/false, decoder},
                 {"cross_attn_head_mask", InputRole::CrossHeadMask, 0, /*standard=*/false, decoder}};
  size_t own = spec.inputs.size();
  declareMemoryInputs(spec);
  for (size_t i = own; i < spec.inputs.size(); ++i)
    spec.inputs[i].standard = keys.cross;
  return tables;
}

static void declarePositions(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix) {
  WeightId computed = noWeight;
  if (variant.positions == BartPositions::Sinusoidal)
    computed = spec.computed(prefix + "embed_positions", {keys.positions, keys.hidden}, "sinusoidal", {{"layout", "half"}});
  if (variant.positions == BartPositions::Counted)
    computed = declareSpacedSines(spec, prefix + "embed_positions", keys.positions + keys.padding + 1, keys.hidden, keys.padding);
  for (std::optional<StackSpec> *stack : {&spec.encoder, &spec.decoder}) {
    if (!*stack)
      continue;
    EmbeddingSpec &embeddings = (*stack)->embeddings;
    const std::string path = prefix + (*stack)->name;
    embeddings.positions = computed;
    if (variant.positions == BartPositions::Counted)
      embeddings.countedAfter = keys.padding;
    if (variant.positions == BartPositions::Learned) {
      int64_t rows = keys.positions + variant.positionOffset;
      embeddings.positions = spec.tensor(path + ".embed_positions.weight", {rows, keys.hidden});
      if (variant.positionOffset)
        embeddings.positions = spec.slice(embeddings.positions, 0, variant.positionOffset, rows);
    }
    if (variant.embeddingNorm)
      embeddings.norm = spec.norm(path + ".layernorm_embedding", keys.hidden, epsilon);
  }
  if (spec.decoder)
    spec.decoder->embeddings.normsWords = variant.decoderNormsWords;
}

/// Declares an attention, its tensors in the order of a generated file.
static AttentionSpec declareBartBaseAttention(TransformerSpec &spec, const BartVariant &variant, int64_t hidden, int64_t heads,
                                              const std::string &path, bool causal) {
  AttentionSpec attention;
  attention.key = spec.linear(path + ".k_proj", hidden, hidden);
  attention.value = spec.linear(path + ".v_proj", hidden, hidden);
  attention.query = spec.linear(path + ".q_proj", hidden, hidden);
  attention.output = spec.linear(path + ".out_proj", hidden, hidden);
  attention.heads = attention.kvHeads = attention.originalHeads = heads;
  attention.scale = 1 / std::sqrt(double(hidden / heads));
  attention.causal = causal;
  if (causal)
    attention.maskedRows = variant.maskedRows;
  return attention;
}

static LayerSpec declareBartBaseLayer(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, StackRole role,
                                      std::string path) {
  bool decoder = role == StackRole::Decoder;
  const BartKeys::Side &side = keys.side(role);
  LayerSpec layer;
  layer.path = std::move(path);
  layer.attention = declareBartBaseAttention(spec, variant, keys.hidden, side.heads, layer.path + ".self_attn", /*causal=*/decoder);
  layer.attentionNorm = spec.norm(layer.path + ".self_attn_layer_norm", keys.hidden, epsilon);
  if (decoder) {
    layer.cross = declareBartBaseAttention(spec, variant, keys.hidden, side.heads, layer.path + ".encoder_attn", /*causal=*/false);
    layer.crossNorm = spec.norm(layer.path + ".encoder_attn_layer_norm", keys.hidden, epsilon);
  }
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.linear(layer.path + ".fc1", keys.hidden, side.inner);
  ffn.down = spec.linear(layer.path + ".fc2", side.inner, keys.hidden);
  ffn.activation = keys.activation;
  layer.ffnNorm = spec.norm(layer.path + ".final_layer_norm", keys.hidden, epsilon);
  return layer;
}

void attune::declareBartLayers(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix) {
  declarePositions(spec, variant, keys, prefix);
  for (StackRole role : {StackRole::Encoder, StackRole::Decoder}) {
    std::optional<StackSpec> &stack = role == StackRole::Encoder ? spec.encoder : spec.decoder;
    if (!stack)
      continue;
    const std::string path = prefix + stack->name;
    for (int64_t i = 0; i < keys.side(role).layers; ++i)
      stack->layers.push_back(declareBartBaseLayer(spec, variant, keys, role, path + ".layers." + std::to_string(i)));
    if (variant.finalNorm)
      stack->finalNorm = spec.norm(path + ".layer_norm", keys.hidden, epsilon);
  }
}
