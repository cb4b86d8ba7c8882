//===- Exaone.cpp - EXAONE 3 and 4 --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// EXAONE 3 (`exaone`, code that was published with the files) is Llama under GPT-2's names. EXAONE 4 has norms of
// queries and keys, and norms of the outputs of attention and of the feed-forward network before residuals are added.
// In models with sliding windows only the layers with a window have rotary embeddings.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readExaoneSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"exaone", "Exaone", true, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 102400, defaults.hidden = 2048, defaults.intermediate = 0;
  defaults.layersKey = "num_layers";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5;
  defaults.activationKey = "activation_function", defaults.tied = true;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    const std::string module = path + ".attn.attention";
    auto linear = [&](const std::string &name, int64_t in, int64_t out) { return spec.linear(name, in, out, /*bias=*/false); };
    LayerSpec layer;
    layer.attentionNorm = decoder.norm(spec, path + ".ln_1");
    AttentionSpec &attention = layer.attention.emplace();
    attention.query = linear(module + ".q_proj", keys.hidden, keys.queryFeatures());
    attention.key = linear(module + ".k_proj", keys.hidden, keys.keyFeatures());
    attention.value = linear(module + ".v_proj", keys.hidden, keys.keyFeatures());
    attention.output = linear(module + ".out_proj", keys.queryFeatures(), keys.hidden);
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    layer.ffnNorm = decoder.norm(spec, path + ".ln_2");
    FfnSpec &ffn = layer.ffn.emplace();
    ffn.gate = linear(path + ".mlp.c_fc_0", keys.hidden, keys.intermediate);
    ffn.up = linear(path + ".mlp.c_fc_1", keys.hidden, keys.intermediate);
    ffn.down = linear(path + ".mlp.c_proj", keys.intermediate, keys.hidden);
    ffn.activation = keys.activation;
    return layer;
  };
  decoder.names = {"transformer.", "wte", "h", "ln_f"};
  return decoder.declare(layer);
}

/// Reads `sliding_window_pattern`, a number N, by default 4: every N-th layer has no window (0: all layers have one).
/// It may also be a string with a letter for each layer of the period ("LLLG"); then `layer_types`, which lists the
/// kind of each layer, must be there, and the caller does not use the result.
static int64_t readPeriod(ConfigReader &reader, const Config &config) {
  const Json *pattern = reader.present("sliding_window_pattern") ? config.find("sliding_window_pattern") : nullptr;
  if (pattern && pattern->is_string() && reader.present("layer_types"))
    return 1;
  return reader.integerOrNull("sliding_window_pattern", 4, {0, 1 << 16});
}

Result<TransformerSpec> attune::readExaone4Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"exaone4", "Exaone4", true, true, "transformer."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 102400, defaults.kvHeads = 32, defaults.intermediate = 16384, defaults.epsilon = 1e-5;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  std::optional<int64_t> window = readWindow(reader, 4096);
  int64_t period = readPeriod(reader, config);
  auto windows = readWindows(reader, config, keys.layers, window, [&](int64_t index) { return period == 0 || (index + 1) % period != 0; });
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn"));
    attention.queryNorm.norm = decoder.norm(spec, path + ".self_attn.q_norm", keys.headSize);
    attention.keyNorm.norm = decoder.norm(spec, path + ".self_attn.k_norm", keys.headSize);
    attention.rotary = !window || windows[index] ? decoder.rotary : noWeight;
    setWindow(attention, windows[index]);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionResultNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    layer.ffnResultNorm = decoder.norm(spec, path + ".post_feedforward_layernorm");
    return layer;
  });
}
