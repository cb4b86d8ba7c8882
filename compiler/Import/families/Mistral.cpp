//===- Mistral.cpp - Mistral and Ministral --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama that may have an attention window: in all layers or, in Ministral, in those that `layer_types` lists as
// "sliding_attention".
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// Reads a model of Mistral or, if |listsTypes|, of Ministral, whose files may have `layer_types`.
static Result<TransformerSpec> readMistral(const Config &config, const DecoderClasses &classes, bool listsTypes) {
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.kvHeads = 8;
  defaults.intermediate = 14336;
  defaults.positions = 4096 * 32;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  std::optional<int64_t> window = readWindow(reader, 4096);
  std::vector<std::optional<int64_t>> windows(keys.layers, window);
  if (listsTypes)
    windows = readWindows(reader, config, keys.layers, window, [](int64_t) { return true; });
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn");
    layer.attention->rotary = decoder.rotary;
    setWindow(*layer.attention, windows[index]);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}

Result<TransformerSpec> attune::readMistralSpec(const Config &config) {
  return readMistral(config, {"mistral", "Mistral"}, /*listsTypes=*/false);
}

Result<TransformerSpec> attune::readMinistralSpec(const Config &config) {
  return readMistral(config, {"ministral", "Ministral", true, true, "transformer."}, /*listsTypes=*/true);
}
