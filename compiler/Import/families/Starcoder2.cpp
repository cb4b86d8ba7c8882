//===- Starcoder2.cpp - StarCoder2 --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with layer norms, biases, and a feed-forward without a gate; all layers may have a window.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readStarcoder2Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"starcoder2", "Starcoder2", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 49152;
  defaults.hidden = 3072;
  defaults.layers = 30;
  defaults.heads = 24;
  defaults.kvHeads = 2;
  defaults.intermediate = 12288;
  defaults.positions = 4096;
  defaults.epsilon = 1e-5;
  defaults.epsilonKey = "norm_epsilon";
  defaults.activation = "gelu_pytorch_tanh";
  defaults.tied = true;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("use_bias", true);
  std::optional<int64_t> window = readWindow(reader, std::nullopt);
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::norm;
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias});
    layer.attention->rotary = decoder.rotary;
    setWindow(*layer.attention, window);
    FfnSpec &ffn = layer.ffn.emplace();
    ffn.up = spec.linear(path + ".mlp.c_fc", keys.hidden, keys.intermediate, bias);
    ffn.down = spec.linear(path + ".mlp.c_proj", keys.intermediate, keys.hidden, bias);
    ffn.activation = keys.activation;
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
