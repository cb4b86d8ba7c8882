//===- Llama.cpp - Llama --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decoder layers, by default without biases: RMS norms before the branches, rotary embeddings, key heads that several
// query heads may share, a gated feed-forward. Other families vary this layout, see CausalDecoder.h.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readLlamaSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"llama", "Llama", true,   true, "transformer.", /*countsVisible=*/true,
                                             nullptr, nullptr, "LLaMA"};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.bidirectional = true;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  // Queries without a visible key are computed as transformers 4 does.
  keys.maskedRows = mlir::xfmr::MaskedRows::LeastMasked;
  bool attentionBias = reader.flag("attention_bias", false), ffnBias = reader.flag("mlp_bias", false);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {attentionBias, attentionBias});
    layer.attention->rotary = decoder.rotary;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp", ffnBias);
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
