//===- T5.cpp - T5 --------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Encoder and decoder without biases: RMS norms before the branches, unscaled scores with a distance bias by buckets,
// one for all layers. Version 1.1 has a gated feed-forward and a head with a matrix of its own. T5 scales the input of
// a head that is tied to the word table, mT5 that of no head, UMT5 that of every head. UMT5 has a distance bias in each
// layer. Defaults are those of the configuration classes in transformers. Heads are in T5Heads.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/DecoderParts.h"
#include "compiler/Import/families/T5Heads.h"
#include "compiler/Import/PruneHeads.h"
#include "compiler/Support/Strings.h"

using namespace attune;
using mlir::xfmr::Activation;

/// Reads `feed_forward_proj`: the name of an activation, after "gated-" if there is a gate. Newer files repeat the
/// activation in `dense_act_fn` and the gate in `is_gated_act`, which take precedence.
static void readFeedForward(ConfigReader &reader, const char *fallback, T5Keys &keys) {
  constexpr const char *key = "feed_forward_proj";
  std::string name = reader.string(key, fallback);
  keys.gated = startsWith(name, "gated-");
  // In files of version 1.1 "gated-gelu" means the tanh form.
  keys.activation = name == "gated-gelu"
                        ? Activation::GeluTanh
                        : readActivationName(reader, key, keys.gated ? name.substr(6) : name, ", with or without \"gated-\" before it");
  if (reader.present("dense_act_fn"))
    keys.activation = readActivation(reader, "dense_act_fn", "relu");
  if (reader.present("is_gated_act"))
    keys.gated = reader.flag("is_gated_act", false);
}

static T5Keys readT5Keys(ConfigReader &reader, const T5Variant &variant) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  T5Keys keys;
  keys.scaling = variant.scaling;
  keys.layerBiases = variant.layerBiases;
  keys.vocab = reader.integer("vocab_size", variant.vocab, ids);
  keys.hidden = reader.integer("d_model", "hidden_size", 512, size);
  keys.headSize = reader.integer("d_kv", "head_dim", 64, size);
  keys.inner = reader.integer("d_ff", variant.inner, size);
  keys.layers = reader.integer("num_layers", "num_hidden_layers", variant.layers, layers);
  keys.decoderLayers = reader.integerOrNull("num_decoder_layers", keys.layers, layers);
  keys.heads = reader.integer("num_heads", "num_attention_heads", variant.heads, size);
  keys.buckets = reader.integer("relative_attention_num_buckets", 32, {4, 1 << 20});
  keys.maxDistance = reader.integer("relative_attention_max_distance", 128, {1, 1 << 24});
  keys.epsilon = reader.number("layer_norm_epsilon", 1e-6, 0, 1);
  keys.dropout = reader.number("dropout_rate", 0.1, 0, 1);
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  keys.start = reader.integerOrNull("decoder_start_token_id", 0, {0, keys.vocab - 1});
  keys.end = reader.integerOrNull("eos_token_id", 1, {-1, int64_t(1) << 31});
  keys.classifierDropout = reader.number("classifier_dropout", 0, 0, 1);
  readFeedForward(reader, variant.feedForward, keys);
  if (keys.buckets % 2 != 0)
    reader.fail("relative_attention_num_buckets", "an even number");
  if (keys.maxDistance <= keys.buckets / 2)
    reader.fail("relative_attention_max_distance",
                "more than half of 'relative_attention_num_buckets', which is " + std::to_string(keys.buckets));
  requireCausal(reader);
  rejectPrunedHeads(reader);
  return keys;
}

static AttentionSpec declareT5Attention(TransformerSpec &spec, const T5Keys &keys, const std::string &path, bool causal) {
  AttentionSpec attention;
  int64_t inner = keys.heads * keys.headSize;
  attention.query = spec.linear(path + ".q", keys.hidden, inner, /*bias=*/false);
  attention.key = spec.linear(path + ".k", keys.hidden, inner, /*bias=*/false);
  attention.value = spec.linear(path + ".v", keys.hidden, inner, /*bias=*/false);
  attention.output = spec.linear(path + ".o", inner, keys.hidden, /*bias=*/false);
  attention.heads = attention.kvHeads = attention.originalHeads = keys.heads;
  attention.causal = causal;
  attention.queryKeyMaskReplacesCausal = true;
  return attention;
}

/// Declares layer |number| of |stack|, counted from 0. The names of the stack's tensors begin with |stackPath|.
static void declareT5Layer(TransformerSpec &spec, const T5Keys &keys, StackSpec &stack, const std::string &stackPath, bool decoder,
                           int64_t number) {
  LayerSpec layer;
  layer.path = stackPath + ".block." + std::to_string(number);
  int64_t branch = 0;
  auto next = [&] { return layer.path + ".layer." + std::to_string(branch++); };
  std::string path = next();
  layer.attention = declareT5Attention(spec, keys, path + ".SelfAttention", /*causal=*/decoder);
  if (number == 0 || keys.layerBiases) {
    WeightId table = spec.tensor(path + ".SelfAttention.relative_attention_bias.weight", {keys.buckets, keys.heads});
    (keys.layerBiases ? layer.distanceBias : stack.distanceBias) = {table, /*bidirectional=*/!decoder, keys.maxDistance};
  }
  layer.attentionNorm = spec.rmsNorm(path + ".layer_norm", keys.hidden, keys.epsilon);
  if (decoder) {
    path = next();
    layer.cross = declareT5Attention(spec, keys, path + ".EncDecAttention", /*causal=*/false);
    layer.crossNorm = spec.rmsNorm(path + ".layer_norm", keys.hidden, keys.epsilon);
  }
  path = next();
  const std::string up = path + ".DenseReluDense.wi";
  FfnSpec &ffn = layer.ffn.emplace();
  if (keys.gated)
    ffn.gate = spec.linear(up + "_0", keys.hidden, keys.inner, /*bias=*/false);
  ffn.up = spec.linear(keys.gated ? up + "_1" : up, keys.hidden, keys.inner, /*bias=*/false);
  ffn.down = spec.linear(path + ".DenseReluDense.wo", keys.inner, keys.hidden, /*bias=*/false);
  ffn.activation = keys.activation;
  layer.ffnNorm = spec.rmsNorm(path + ".layer_norm", keys.hidden, keys.epsilon);
  stack.layers.push_back(std::move(layer));
}

static void declareT5Stack(TransformerSpec &spec, const T5Keys &keys, StackRole role, const std::string &prefix, WeightId words) {
  bool decoder = role == StackRole::Decoder;
  StackSpec &stack = decoder ? spec.decoder.emplace() : spec.encoder.emplace();
  stack.name = decoder ? "decoder" : "encoder";
  stack.placement = NormPlacement::Pre;
  stack.dropout = stack.embeddings.dropout = keys.dropout;
  stack.hidden = stack.memoryHidden = keys.hidden;
  stack.cached = decoder;
  const std::string path = prefix + stack.name;
  stack.embeddings.path = path + ".embed_tokens";
  stack.embeddings.words = words;
  for (int64_t i = 0; i < (decoder ? keys.decoderLayers : keys.layers); ++i)
    declareT5Layer(spec, keys, stack, path, decoder, i);
  stack.finalNorm = spec.rmsNorm(path + ".final_layer_norm", keys.hidden, keys.epsilon);
}

/// Declares the inputs of an encoder alone.
static void declareEncoderInputs(TransformerSpec &spec, const T5Keys &keys) {
  spec.inputs = {{"input_ids", InputRole::TokenIds, keys.vocab},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false},
                 {"attention_mask", InputRole::AttentionMask},
                 {"head_mask", InputRole::HeadMask, 0, /*standard=*/false}};
}

/// Reads a model of the family |variant|.
static Result<TransformerSpec> readT5Like(const Config &config, const T5Variant &variant) {
  ConfigReader reader(config);
  T5Keys keys = readT5Keys(reader, variant);
  const std::vector<T5Head> heads = t5Heads(variant.prefix);
  TransformerSpec spec;
  spec.family = variant.family;
  spec.architecture = reader.architecture(heads.front().first.c_str());
  const T5Head *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  const std::string prefix = spec.basePrefix = head->prefix;
  WeightId words = spec.tensor(prefix + "shared.weight", {keys.vocab, keys.hidden},
                               {prefix + "encoder.embed_tokens.weight", prefix + "decoder.embed_tokens.weight"});
  if (keys.tied)
    spec.addAlias(words, "lm_head.weight");
  declareT5Stack(spec, keys, StackRole::Encoder, prefix, words);
  if (head->decodes) {
    declareT5Stack(spec, keys, StackRole::Decoder, prefix, words);
    declareSeq2SeqInputs(spec, keys.vocab, keys.vocab);
    spec.sharesHeadMask = keys.layers == keys.decoderLayers;
    if (head->shifts)
      spec.shiftedIds = ShiftedIdsSpec{keys.start, std::nullopt};
  } else {
    declareEncoderInputs(spec, keys);
  }
  head->declare(spec, keys);
  return spec;
}

Result<TransformerSpec> attune::readT5Spec(const Config &config) { return readT5Like(config, T5Variant("t5", "T5")); }

Result<TransformerSpec> attune::readMT5Spec(const Config &config) {
  T5Variant mt5("mt5", "MT5");
  mt5.scaling = T5Scaling::Never;
  mt5.vocab = 250112;
  mt5.inner = 1024;
  mt5.layers = 8;
  mt5.heads = 6;
  mt5.feedForward = "gated-gelu";
  return readT5Like(config, mt5);
}

Result<TransformerSpec> attune::readUMT5Spec(const Config &config) {
  T5Variant umt5("umt5", "UMT5");
  umt5.scaling = T5Scaling::Always;
  umt5.layerBiases = true;
  umt5.vocab = 250112;
  umt5.inner = 1024;
  umt5.layers = 8;
  umt5.heads = 6;
  umt5.feedForward = "gated-gelu";
  return readT5Like(config, umt5);
}
