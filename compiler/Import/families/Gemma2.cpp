//===- Gemma2.cpp - Gemma 2 and Gemma 3 ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Gemma with norms of the results of the branches, too; softcaps of scores and logits; a scale of scores that does not
// follow from the head size (`query_pre_attn_scalar`); and windows in every other layer. Gemma 3 has windows in most
// layers, with other rotary embeddings there, and a norm of each head of queries and keys.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;

namespace {

/// The values of the keys that Gemma 2 and Gemma 3 share.
struct Gemma2Keys {
  DecoderKeys decoder;
  bool bias;
  double scale;
  std::optional<double> scoreCap, logitCap;
  std::optional<int64_t> window;
};

} // namespace

/// Reads the keys. |scoreCap| and |logitCap| are the defaults of `attn_logit_softcapping` and
/// `final_logit_softcapping`.
static Gemma2Keys readGemma2Keys(ConfigReader &reader, const Config &config, const DecoderDefaults &defaults,
                                 std::optional<double> scoreCap, std::optional<double> logitCap) {
  Gemma2Keys keys;
  keys.decoder = readDecoderKeys(reader, defaults);
  keys.bias = reader.flag("attention_bias", false);
  keys.scale = 1 / std::sqrt(reader.number("query_pre_attn_scalar", 256, 1e-6, 1e12));
  auto cap = [&](const char *key, std::optional<double> fallback) {
    if (!config.find(key))
      return fallback;
    return reader.present(key) ? std::optional(reader.number(key, 1, 1e-6, 1e12)) : std::nullopt;
  };
  keys.scoreCap = cap("attn_logit_softcapping", scoreCap);
  keys.logitCap = cap("final_logit_softcapping", logitCap);
  keys.window = readWindow(reader, 4096);
  return keys;
}

/// Declares a layer with a window of |window| tokens, or without a window if |window| is empty, and with the table of
/// rotary embeddings |rotary|. If |normsHeads|, each head of queries and keys has a norm.
static LayerSpec declareGemma2Layer(TransformerSpec &spec, const Gemma2Keys &keys, const CausalDecoder &decoder, const std::string &path,
                                    std::optional<int64_t> window, WeightId rotary, bool normsHeads) {
  LayerSpec layer;
  AttentionSpec &attention =
      layer.attention.emplace(declareDecoderAttention(spec, keys.decoder, path + ".self_attn", {keys.bias, keys.bias}));
  if (normsHeads) {
    attention.queryNorm.norm = decoder.norm(spec, path + ".self_attn.q_norm", keys.decoder.headSize);
    attention.keyNorm.norm = decoder.norm(spec, path + ".self_attn.k_norm", keys.decoder.headSize);
  }
  attention.scale = keys.scale;
  attention.softcap = keys.scoreCap;
  attention.rotary = rotary;
  setWindow(attention, window);
  layer.ffn = declareGatedFfn(spec, keys.decoder, path + ".mlp");
  layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
  layer.attentionResultNorm = decoder.norm(spec, path + ".post_attention_layernorm");
  layer.ffnNorm = decoder.norm(spec, path + ".pre_feedforward_layernorm");
  layer.ffnResultNorm = decoder.norm(spec, path + ".post_feedforward_layernorm");
  return layer;
}

/// Returns the defaults of keys that both families share.
static DecoderDefaults getDefaults() {
  DecoderDefaults defaults;
  defaults.hidden = 2304, defaults.layers = 26, defaults.heads = 8, defaults.kvHeads = 4, defaults.headSize = 256;
  defaults.headKeys = HeadKeys::All;
  defaults.intermediate = 9216;
  defaults.activationKey = "hidden_activation", defaults.activation = "gelu_pytorch_tanh";
  defaults.tied = true, defaults.padding = 0;
  return defaults;
}

/// Sets the parts of |decoder| around its layers: kind of norm, scale of embeddings, softcap of logits.
static void setAround(CausalDecoder &decoder, const Gemma2Keys &keys) {
  decoder.normKind = &TransformerSpec::shiftedRmsNorm;
  decoder.embeddingScale = std::sqrt(double(keys.decoder.hidden));
  decoder.head.softcap = keys.logitCap;
}

Result<TransformerSpec> attune::readGemma2Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"gemma2", "Gemma2", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults = getDefaults();
  defaults.vocab = 256000, defaults.positions = 8192;
  Gemma2Keys keys = readGemma2Keys(reader, config, defaults, 50, 30);
  reader.reject("use_bidirectional_attention", "attention to later tokens is not implemented for this family");
  auto windows = readWindows(reader, config, keys.decoder.layers, keys.window, [](int64_t index) { return index % 2 == 0; });
  CausalDecoder decoder(reader, classes, keys.decoder);
  setAround(decoder, keys);
  decoder.rope = readRope(reader, config, keys.decoder.headSize, keys.decoder.positions);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    return declareGemma2Layer(spec, keys, decoder, path, windows[index], decoder.rotary, /*normsHeads=*/false);
  });
}

Result<TransformerSpec> attune::readGemma3Spec(const Config &config) {
  static constexpr DecoderClasses classes = {
      "gemma3_text", "Gemma3", false, false, nullptr, false, "Gemma3TextModel", "Gemma3TextForSequenceClassification"};
  ConfigReader reader(config);
  DecoderDefaults defaults = getDefaults();
  defaults.vocab = 262208, defaults.positions = 131072;
  Gemma2Keys keys = readGemma2Keys(reader, config, defaults, std::nullopt, std::nullopt);
  // transformers has `attn_logit_softcapping` in the configuration but does not apply it.
  keys.scoreCap = std::nullopt;
  // An embedding model attends to later tokens, too: half of a window is before the query and half after it. setWindow
  // subtracts the query's own token, which is added here.
  bool bidirectional = reader.present("use_bidirectional_attention") && reader.flag("use_bidirectional_attention", false);
  if (bidirectional && keys.window)
    keys.window = *keys.window / 2 + 1;
  constexpr IntegerRange pattern = {1, int64_t(1) << 31};
  int64_t period = reader.integerOrNull("sliding_window_pattern", 6, pattern);
  auto windows = readWindows(reader, config, keys.decoder.layers, keys.window, [&](int64_t index) { return (index + 1) % period != 0; });
  RopeDefaults global, local;
  global.theta = 1e6;
  local.thetaKey = "rope_local_base_freq";
  CausalDecoder decoder(reader, classes, keys.decoder);
  setAround(decoder, keys);
  decoder.rope = readRope(reader, config, keys.decoder.headSize, keys.decoder.positions, global, "full_attention");
  decoder.slidingRope = readRope(reader, config, keys.decoder.headSize, keys.decoder.positions, local, "sliding_attention");
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    WeightId rotary = windows[index] ? decoder.slidingRotary : decoder.rotary;
    LayerSpec layer = declareGemma2Layer(spec, keys, decoder, path, windows[index], rotary, /*normsHeads=*/true);
    if (bidirectional) {
      layer.attention->causal = false;
      layer.attention->windowRight = layer.attention->windowLeft;
    }
    return layer;
  });
}
