//===- Mpt.cpp - MPT ----------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GPT-2 without biases, also in norms, and with ALiBi in place of positions: each score is reduced by the distance of
// the key times a slope, one for each head.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readMptSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"mpt", "Mpt", true, true, "transformer.", false, nullptr, nullptr, "MPT"};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50368, defaults.hidden = 2048, defaults.layers = 24, defaults.heads = 16, defaults.intermediate = 0;
  defaults.hiddenKey = "d_model", defaults.layersKey = "n_layers", defaults.headsKey = "n_heads", defaults.positionsKey = "max_seq_len";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5, defaults.tied = true;
  // No file has this key, so the activation is always the default.
  defaults.activationKey = "mpt_activation", defaults.activation = "gelu";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  keys.intermediate = 4 * keys.hidden;
  const Config object = config.object("attn_config");
  ConfigReader attentionReader(object);
  std::optional<double> clip;
  double scale = keys.headScale();
  if (attentionReader.present("clip_qkv"))
    clip = attentionReader.number("clip_qkv", 0, 0, 1e12);
  // A limit of 0 means that values are not clipped.
  if (clip == 0)
    clip.reset();
  if (attentionReader.present("softmax_scale"))
    scale = attentionReader.number("softmax_scale", 1, -1e12, 1e12);
  for (const char *key : {"qk_ln", "prefix_lm", "attn_uses_sequence_id"})
    attentionReader.reject(key, "transformers does not implement it");
  reader.join(attentionReader);
  reader.reject("logit_scale", "transformers does not implement it");
  if (!reader.flag("no_bias", true))
    reader.fail("no_bias", "true, as transformers has no biases");
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::normWithoutBias;
  decoder.tables = [&](TransformerSpec &spec, const std::string &prefix) {
    spec.decoder->distanceBias.emplace().slopes = spec.computed(prefix + "alibi_slopes", {keys.heads}, "alibi_slopes", {});
  };
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attentionNorm = decoder.norm(spec, path + ".norm_1");
    AttentionSpec &attention = layer.attention.emplace();
    LinearSpec joined = spec.linear(path + ".attn.Wqkv", keys.hidden, 3 * keys.hidden, /*bias=*/false);
    spec.splitByPart(attention, joined, keys.heads, keys.heads);
    attention.output = spec.linear(path + ".attn.out_proj", keys.hidden, keys.hidden, /*bias=*/false);
    setDecoderAttention(attention, keys);
    attention.scale = scale;
    attention.clip = clip;
    layer.ffnNorm = decoder.norm(spec, path + ".norm_2");
    layer.ffn = declarePlainFfn(spec, keys, path + ".ffn.up_proj", path + ".ffn.down_proj", /*bias=*/false);
    return layer;
  };
  decoder.names = {"transformer.", "wte", "blocks", "norm_f", "lm_head", "classifier"};
  decoder.hasPositions = false;
  return decoder.declare(layer);
}
