//===- Baichuan.cpp - Baichuan and Baichuan 2 -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with one projection for queries, keys and values. Models with 7 billion parameters, whose configuration has
// `max_position_embeddings`, have rotary embeddings; the others have ALiBi. Baichuan 2, which has a larger vocabulary,
// scores words by the rows of its head divided by their Euclidean lengths. transformers does not have the family: its
// code was published with the files.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// The size of Baichuan 2's vocabulary.
static constexpr int64_t kLargeVocabulary = 125696;

Result<TransformerSpec> attune::readBaichuanSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"baichuan", "Baichuan", false, false, nullptr, false, nullptr, nullptr, "BaiChuan"};
  ConfigReader reader(config);
  bool isRotary = reader.present("max_position_embeddings");
  DecoderDefaults defaults;
  defaults.vocab = kLargeVocabulary, defaults.positions = 4096;
  if (!isRotary)
    defaults.positionsKey = "model_max_length";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  CausalDecoder decoder(reader, classes, keys);
  decoder.hasPositions = isRotary;
  if (isRotary)
    decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  else
    decoder.tables = [&](TransformerSpec &spec, const std::string &prefix) {
      DistanceBiasSpec &bias = spec.decoder->distanceBias.emplace();
      bias.slopes = spec.computed(prefix + "alibi_slopes", {keys.heads}, "alibi_slopes", {});
    };
  decoder.head.unitRows = keys.vocab == kLargeVocabulary;
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    const std::string module = path + ".self_attn";
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    LinearSpec joined = spec.linear(module + ".W_pack", keys.hidden, 3 * keys.queryFeatures(), /*bias=*/false);
    spec.splitByPart(attention, joined, keys.heads, keys.heads);
    attention.output = spec.linear(module + ".o_proj", keys.queryFeatures(), keys.hidden, /*bias=*/false);
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}
