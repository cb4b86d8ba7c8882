//===- Gemma.cpp - Gemma ------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with RMS norms that multiply by 1 + weight, and embeddings multiplied by the square root of their number of
// features.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;

Result<TransformerSpec> attune::readGemmaSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"gemma", "Gemma", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 256000;
  defaults.hidden = 3072;
  defaults.layers = 28;
  defaults.heads = 16;
  defaults.kvHeads = 16;
  defaults.headSize = 256;
  defaults.intermediate = 24576;
  defaults.positions = 8192;
  defaults.activation = "gelu_pytorch_tanh";
  defaults.tied = true;
  defaults.padding = 0;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  // In the first files "gelu" means the tanh form.
  if (reader.present("hidden_act") && reader.string("hidden_act") == "gelu")
    keys.activation = mlir::xfmr::Activation::GeluTanh;
  bool bias = reader.flag("attention_bias", false);
  // With this key transformers attends to later tokens only in one of its implementations of attention, and only
  // without padding.
  reader.reject("use_bidirectional_attention", "attention to later tokens is not implemented for this family");
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::shiftedRmsNorm;
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias});
    layer.attention->rotary = decoder.rotary;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  decoder.embeddingScale = std::sqrt(double(keys.hidden));
  return decoder.declare(layer);
}
