//===- Mistral.cpp - Mistral --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with a window of tokens that each token attends to, in all layers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readMistralSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"mistral", "Mistral"};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.kvHeads = 8;
  defaults.intermediate = 14336;
  defaults.positions = 4096 * 32;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  std::optional<int64_t> window = readWindow(reader, 4096);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn");
    layer.attention->rotary = decoder.rotary;
    setWindow(*layer.attention, window);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
