//===- Bloom.cpp - BLOOM ------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GPT-2 with a norm of the embeddings, and with ALiBi in place of positions: each score is reduced by the distance of
// the key times a slope, one for each head. Hidden keys do not count in distances (KeyBias).
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readBloomSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"bloom", "Bloom", true, true, "transformer."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 250880, defaults.hidden = 64, defaults.layers = 2, defaults.heads = 8, defaults.intermediate = 0;
  defaults.layersKey = "n_layer", defaults.headsKey = "n_head";
  if (reader.present("n_embed"))
    defaults.otherHiddenKey = "n_embed";
  defaults.positionsKey = "seq_length";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5, defaults.tied = true;
  // No file has this key, so the activation is always the default.
  defaults.activationKey = "bloom_activation", defaults.activation = "gelu_new";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  keys.intermediate = 4 * keys.hidden;
  if (reader.flag("slow_but_exact", false) && reader.integer("pretraining_tp", 1, {0, 1 << 24}) > 1)
    reader.fail("slow_but_exact", "false: sums over 'pretraining_tp' slices, to which transformers adds no biases, are not implemented");
  CausalDecoder decoder(reader, classes, keys);
  if (reader.flag("apply_residual_connection_post_layernorm", false))
    decoder.placement = NormPlacement::PreNormedResidual;
  decoder.normKind = &TransformerSpec::norm;
  decoder.tables = [&](TransformerSpec &spec, const std::string &prefix) {
    spec.decoder->embeddings.norm = decoder.norm(spec, prefix + "word_embeddings_layernorm");
    DistanceBiasSpec &bias = spec.decoder->distanceBias.emplace();
    bias.slopes = spec.computed(prefix + "alibi_slopes", {keys.heads}, "alibi_slopes", {});
    bias.counting = DistanceBiasSpec::VisibleKeys;
  };
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    AttentionSpec &attention = layer.attention.emplace();
    spec.splitByHead(attention, spec.linear(path + ".self_attention.query_key_value", keys.hidden, 3 * keys.hidden), keys.heads);
    attention.output = spec.linear(path + ".self_attention.dense", keys.hidden, keys.hidden);
    setDecoderAttention(attention, keys);
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.dense_h_to_4h", path + ".mlp.dense_4h_to_h");
    return layer;
  };
  decoder.names = {"transformer.", "word_embeddings", "h", "ln_f", "lm_head", "classifier"};
  decoder.hasPositions = false;
  return decoder.declare(layer);
}
