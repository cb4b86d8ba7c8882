//===- Falcon.cpp - Falcon ----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Three layouts: parallel branches with one norm and one key head (7B), parallel branches with two norms and groups of
// heads (the new architecture: 40B, 180B, 11B), and branches in sequence with as many key heads as query heads and
// ALiBi (RW), which reduces each score by the distance of the key times a slope, one for each head.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

namespace {

/// The values of the configuration's keys: those of all decoders, and the switches of the layout.
struct FalconKeys {
  DecoderKeys decoder;
  bool newArchitecture, multiQuery, parallel, alibi, bias;
  /// True if each of the two branches has its own norm of the layer's input.
  bool twoNorms;
};

} // namespace

static FalconKeys readFalconKeys(ConfigReader &reader) {
  DecoderDefaults defaults;
  defaults.vocab = 65024, defaults.hidden = 4544, defaults.heads = 71, defaults.intermediate = 0;
  if (reader.present("n_embed"))
    defaults.otherHiddenKey = "n_embed";
  defaults.intermediateKey = "ffn_hidden_size";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5, defaults.tied = true;
  defaults.activationKey = "activation", defaults.activation = "gelu";
  FalconKeys keys;
  keys.decoder = readDecoderKeys(reader, defaults);
  keys.newArchitecture = reader.flag("new_decoder_architecture", false);
  keys.multiQuery = reader.flag("multi_query", true);
  keys.parallel = reader.flag("parallel_attn", true) || keys.newArchitecture;
  keys.alibi = reader.flag("alibi", false);
  keys.bias = reader.flag("bias", false);
  if (keys.newArchitecture)
    keys.decoder.kvHeads = reader.integerOrNull("num_kv_heads", keys.decoder.heads, {1, 1 << 24});
  else
    keys.decoder.kvHeads = keys.multiQuery ? 1 : keys.decoder.heads;
  if (keys.decoder.heads % keys.decoder.kvHeads != 0)
    reader.fail("num_kv_heads", "a divisor of 'num_attention_heads', which is " + std::to_string(keys.decoder.heads));
  keys.twoNorms = keys.newArchitecture && reader.integerOrNull("num_ln_in_parallel_attn", 2, {1, 2}) == 2;
  return keys;
}

/// Splits the joined projection of queries, keys and values of a layer.
static void splitProjection(TransformerSpec &spec, const FalconKeys &keys, const LinearSpec &joined, AttentionSpec &attention) {
  const DecoderKeys &decoder = keys.decoder;
  if (keys.newArchitecture)
    spec.splitByGroup(attention, joined, decoder.heads, decoder.kvHeads);
  else if (keys.multiQuery)
    spec.splitByPart(attention, joined, decoder.heads, decoder.kvHeads);
  else
    spec.splitByHead(attention, joined, decoder.heads);
}

Result<TransformerSpec> attune::readFalconSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"falcon", "Falcon", true, true, "transformer."};
  ConfigReader reader(config);
  FalconKeys keys = readFalconKeys(reader);
  const DecoderKeys &decoder = keys.decoder;
  CausalDecoder causal(reader, classes, decoder);
  causal.normKind = &TransformerSpec::norm;
  if (!keys.alibi)
    causal.rope = readRope(reader, config, decoder.headSize, decoder.positions);
  else
    // transformers scales scores after it adds the bias, so |factor| scales the bias, too.
    causal.tables = [&](TransformerSpec &spec, const std::string &prefix) {
      DistanceBiasSpec &bias = spec.decoder->distanceBias.emplace();
      bias.slopes = spec.computed(prefix + "alibi_slopes", {decoder.heads}, "alibi_slopes", {{"rounding", std::string("bf16")}});
      bias.counting = DistanceBiasSpec::RoundedVisibleKeys, bias.factor = decoder.headScale();
    };
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    int64_t features = decoder.queryFeatures() + 2 * decoder.keyFeatures();
    splitProjection(spec, keys, spec.linear(path + ".self_attention.query_key_value", decoder.hidden, features, keys.bias), attention);
    attention.output = spec.linear(path + ".self_attention.dense", decoder.hidden, decoder.hidden, keys.bias);
    setDecoderAttention(attention, decoder);
    attention.rotary = causal.rotary;
    layer.ffn = declarePlainFfn(spec, decoder, path + ".mlp.dense_h_to_4h", path + ".mlp.dense_4h_to_h", keys.bias);
    layer.parallel = keys.parallel;
    layer.attentionNorm = causal.norm(spec, path + (keys.twoNorms ? ".ln_attn" : ".input_layernorm"));
    if (keys.twoNorms)
      layer.ffnNorm = causal.norm(spec, path + ".ln_mlp");
    else if (!keys.parallel)
      layer.ffnNorm = causal.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  causal.names = {"transformer.", "word_embeddings", "h", "ln_f", "lm_head", "classifier"};
  causal.hasPositions = !keys.alibi;
  return causal.declare(layer);
}
