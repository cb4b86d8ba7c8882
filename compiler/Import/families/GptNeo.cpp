//===- GptNeo.cpp - GPT-Neo ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GPT-2 with separate projections and unscaled scores. The key `attention_types` lists the kinds of layers: "global",
// or "local" for layers with a window.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// Returns the window of each layer in tokens, nullopt for a global layer. Reads `attention_layers`, a list with the
/// kind of each layer, or without it `attention_types`, a list of pairs: a list of kinds, and the number of its
/// repetitions. Without both, layers 1, 3, … have a window, and a number of layers other than 24 is an error.
static std::vector<std::optional<int64_t>> readKinds(ConfigReader &reader, const Config &config, int64_t layers) {
  int64_t window = reader.integer("window_size", 256, {1, int64_t(1) << 31});
  std::vector<std::optional<int64_t>> windows;
  bool valid = true;
  auto addKinds = [&](const Json &kinds) {
    for (const Json &kind : kinds) {
      valid &= kind == "global" || kind == "local";
      windows.push_back(kind == "local" ? std::optional(window) : std::nullopt);
    }
  };
  const std::string expected = " of " + std::to_string(layers) + " layers, as 'num_layers' says";
  if (reader.present("attention_layers")) {
    const Json &kinds = *config.find("attention_layers");
    if (kinds.is_array())
      addKinds(kinds);
    if (!valid || int64_t(windows.size()) != layers)
      reader.fail("attention_layers", "kinds 'global' and 'local'" + expected);
    windows.resize(layers);
    return windows;
  }
  const Json *types = reader.present("attention_types") ? config.find("attention_types") : nullptr;
  if (!types) {
    for (int64_t i = 0; i < layers; ++i)
      windows.push_back(i % 2 == 0 ? std::nullopt : std::optional(window));
    if (layers != 24)
      reader.fail("num_layers", "24, the layers of the default of 'attention_types'");
    return windows;
  }
  valid = types->is_array();
  for (size_t i = 0; valid && i < types->size(); ++i) {
    const Json &item = (*types)[i];
    valid = item.is_array() && item.size() == 2 && item[0].is_array() && item[1].is_number_integer() && item[1] >= 0 && item[1] <= layers;
    for (int64_t repeat = 0; valid && repeat < item[1].get<int64_t>(); ++repeat)
      addKinds(item[0]);
  }
  if (!valid || int64_t(windows.size()) != layers)
    reader.fail("attention_types", "kinds 'global' and 'local'" + expected);
  windows.resize(layers);
  return windows;
}

Result<TransformerSpec> attune::readGptNeoSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"gpt_neo", "GPTNeo", true, true, "transformer."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50257, defaults.hidden = 2048, defaults.layers = 24, defaults.heads = 16, defaults.intermediate = 0;
  defaults.layersKey = "num_layers", defaults.headsKey = "num_heads";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5;
  defaults.activationKey = "activation_function", defaults.activation = "gelu_new", defaults.tied = true;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  // In transformers the mask that is added to the scores hides later tokens, too, and the layer hides them once more.
  keys.maskedRows = mlir::xfmr::MaskedRows::LeastMaskedPast;
  auto windows = readKinds(reader, config, keys.layers);
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::norm;
  decoder.tables = [&](TransformerSpec &spec, const std::string &prefix) {
    spec.decoder->embeddings.positions = spec.tensor(prefix + "wpe.weight", {keys.positions, keys.hidden});
  };
  auto layer = [&](TransformerSpec &spec, int64_t index, const std::string &path) {
    const std::string module = path + ".attn.attention";
    LayerSpec layer;
    layer.attentionNorm = decoder.norm(spec, path + ".ln_1");
    AttentionSpec &attention = layer.attention.emplace();
    attention.key = spec.linear(module + ".k_proj", keys.hidden, keys.hidden, /*bias=*/false);
    attention.value = spec.linear(module + ".v_proj", keys.hidden, keys.hidden, /*bias=*/false);
    attention.query = spec.linear(module + ".q_proj", keys.hidden, keys.hidden, /*bias=*/false);
    attention.output = spec.linear(module + ".out_proj", keys.hidden, keys.hidden);
    setDecoderAttention(attention, keys);
    attention.scale = 1;
    setWindow(attention, windows[index]);
    layer.ffnNorm = decoder.norm(spec, path + ".ln_2");
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.c_fc", path + ".mlp.c_proj");
    return layer;
  };
  decoder.names = {"transformer.", "wte", "h", "ln_f", "lm_head", "classifier"};
  decoder.wordTypes = true;
  return decoder.declare(layer);
}
