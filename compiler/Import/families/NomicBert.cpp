//===- NomicBert.cpp - NomicBERT ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT with rotary embeddings and gated feed-forwards; in layers only norms have biases. Older files have the keys of
// the code that was published with them (`n_embd`, …), newer ones those of transformers. Tensors have the names of the
// older code in both, because transformers saves them under these. The names of transformers' modules are accepted,
// too.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

#include <algorithm>

using namespace attune;
using mlir::xfmr::Activation;

/// Records an error for settings of the older code that are not implemented and would change results.
static void checkOldKeys(ConfigReader &reader) {
  for (const char *key : {"prenorm", "qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias", "use_rms_norm", "causal", "parallel_block",
                          "rotary_emb_interleaved", "rotary_emb_scale_base", "scale_attn_by_inverse_layer_idx"})
    reader.reject(key, "it is not implemented for this family");
  for (const char *key : {"num_experts", "moe_every_n_layers"})
    if (reader.integerOrNull(key, 0, {0, 1 << 24}) != 0)
      reader.fail(key, "0: layers of experts are not implemented for this family");
  if (reader.number("rotary_emb_fraction", 0, 0, 1) != 1)
    reader.fail("rotary_emb_fraction", "1: rotary embeddings of whole heads");
  if (!reader.flag("scale_attn_weights", true))
    reader.fail("scale_attn_weights", "true");
}

/// Reads the keys of the older code, which take precedence over those of transformers.
static void readOldKeys(ConfigReader &reader, BertKeys &keys) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12};
  checkOldKeys(reader);
  keys.hidden = keys.embedding = reader.integer("n_embd", 768, size);
  keys.layers = reader.integer("n_layer", 12, layers);
  keys.heads = reader.integer("n_head", 12, size);
  keys.positions = reader.integer("n_positions", 1024, size);
  keys.epsilon = reader.number("layer_norm_epsilon", 1e-5, 0, 1);
  keys.dropout = reader.number("resid_pdrop", 0.1, 0, 1);
  // The older code rounds the number of inner features up to a multiple of 256, and the size of the vocabulary up to a
  // multiple of `pad_vocab_size_multiple`.
  auto roundUp = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  keys.intermediate = roundUp(reader.integerOrNull("n_inner", 8 * keys.hidden / 3, size), 256);
  keys.vocab = roundUp(keys.vocab, reader.integerOrNull("pad_vocab_size_multiple", 1, size));
  static constexpr std::pair<const char *, Activation> gates[] = {
      {"swiglu", Activation::Silu}, {"geglu", Activation::Gelu}, {"glu", Activation::Sigmoid}};
  if (const auto *gate = reader.choose("activation_function", reader.string("activation_function", "gelu_new"), gates))
    keys.activation = gate->second;
  // With `rotary_scaling_factor`, frequencies change only for sequences longer than `max_trained_positions`. The limit
  // of lengths excludes these.
  if (reader.present("rotary_scaling_factor"))
    keys.positions = std::min(keys.positions, reader.integer("max_trained_positions", 2048, size));
}

static BertKeys readNomicBertKeys(ConfigReader &reader, const Config &config) {
  BertKeys keys = readBertSizes(reader, {30528, 768, 12, 12, 3072, 2048, 2, 1e-12, 0, "silu"});
  keys.positionTable = false;
  rejectPrunedHeads(reader);
  keys.embeddingNorm = "emb_ln";
  RopeDefaults rope;
  rope.theta = 1000;
  if (reader.knows("n_embd")) {
    readOldKeys(reader, keys);
    rope.theta = 10000;
    rope.thetaKey = "rotary_emb_base";
  }
  if (keys.hidden % keys.heads != 0)
    reader.fail("n_embd", "a multiple of 'n_head', which is " + std::to_string(keys.heads));
  int64_t headSize = keys.hidden / keys.heads;
  if (reader.integerOrNull("head_dim", headSize, {1, 1 << 24}) != headSize)
    reader.fail("head_dim", std::to_string(headSize) + ", the features of a head");
  reader.reject("is_decoder", "the family has no decoder");
  keys.rope = readRope(reader, config, headSize, keys.positions, rope);
  return keys;
}

static LayerSpec declareNomicBertLayer(TransformerSpec &spec, const BertKeys &keys, const std::string &path, const std::string &newPath,
                                       WeightId rotary) {
  LayerSpec layer;
  layer.path = path;
  AttentionSpec &attention = layer.attention.emplace();
  const std::string own = newPath + ".self_attn.";
  LinearSpec joined = spec.joinedLinear(path + ".attn.Wqkv", {own + "q_proj", own + "k_proj", own + "v_proj"}, keys.hidden, 3 * keys.hidden,
                                        /*bias=*/false);
  spec.splitByPart(attention, joined, keys.heads, keys.heads);
  attention.output = spec.linear(path + ".attn.out_proj", keys.hidden, keys.hidden, /*bias=*/false);
  spec.addName(attention.output, own + "o_proj");
  setWholeAttention(attention, keys);
  attention.rotary = rotary;
  layer.attentionNorm = spec.norm(path + ".norm1", keys.hidden, keys.epsilon);
  spec.addName(layer.attentionNorm, newPath + ".post_attention_layernorm");
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.linear(path + ".mlp.fc11", keys.hidden, keys.intermediate, /*bias=*/false);
  ffn.gate = spec.linear(path + ".mlp.fc12", keys.hidden, keys.intermediate, /*bias=*/false);
  ffn.down = spec.linear(path + ".mlp.fc2", keys.intermediate, keys.hidden, /*bias=*/false);
  for (auto [part, name] : {std::pair(ffn.up, "up_proj"), std::pair(ffn.gate, "gate_proj"), std::pair(ffn.down, "down_proj")})
    spec.addName(part, newPath + ".mlp." + name);
  ffn.activation = keys.activation;
  layer.ffnNorm = spec.norm(path + ".norm2", keys.hidden, keys.epsilon);
  spec.addName(layer.ffnNorm, newPath + ".post_mlp_layernorm");
  return layer;
}

static void declareNomicBertModel(TransformerSpec &spec, const BertKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  declareBertEmbeddings(spec, keys, prefix);
  spec.addName(*stack.embeddings.norm, prefix + "embeddings.LayerNorm");
  declareBertInputs(spec, keys);
  WeightId rotary = declareRope(spec, prefix + "rotary_emb", *keys.rope, keys.positions);
  for (int64_t i = 0; i < keys.layers; ++i)
    stack.layers.push_back(
        declareNomicBertLayer(spec, keys, prefix + "encoder.layers." + std::to_string(i), prefix + "layers." + std::to_string(i), rotary));
}

static void declareNomicBertMaskedLM(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  spec.outputs.push_back({"logits", bertPredictions(spec, keys, "layer_norm")});
}

Result<TransformerSpec> attune::readNomicBertSpec(const Config &config) {
  static const BertHeads heads = {
      {"NomicBertModel", declareLastState},
      {"NomicBertForMaskedLM", declareNomicBertMaskedLM},
      {"NomicBertForSequenceClassification", declareBertClassification},
      {"NomicBertForTokenClassification", declareTokenClassification},
  };
  return readBertLike(
      config, "nomic_bert", "nomic_bert.", heads, [&](ConfigReader &reader) { return readNomicBertKeys(reader, config); },
      declareNomicBertModel);
}
