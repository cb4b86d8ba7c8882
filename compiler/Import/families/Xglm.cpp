//===- Xglm.cpp - XGLM and BioGPT ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// mBART's decoder without cross attention and without a norm of the embeddings. XGLM has M2M100's computed positions,
// BioGPT learned ones. The first two rows of either table of positions are unused.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/DecoderParts.h"
#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;

static constexpr int64_t kUnused = 2;

static LayerSpec declareXglmLayer(TransformerSpec &spec, const DecoderKeys &keys, const CausalDecoder &decoder, const std::string &path) {
  auto projection = [&](const char *name) { return spec.linear(path + ".self_attn." + name, keys.hidden, keys.hidden); };
  LayerSpec layer;
  AttentionSpec &attention = layer.attention.emplace();
  attention.key = projection("k_proj");
  attention.value = projection("v_proj");
  attention.query = projection("q_proj");
  attention.output = projection("out_proj");
  setDecoderAttention(attention, keys);
  layer.attentionNorm = decoder.norm(spec, path + ".self_attn_layer_norm");
  layer.ffn = declarePlainFfn(spec, keys, path + ".fc1", path + ".fc2");
  layer.ffnNorm = decoder.norm(spec, path + ".final_layer_norm");
  return layer;
}

/// Declares the model that |decoder| describes. |declareTable|(spec, name, rows) declares the table of positions,
/// unused rows included.
static Result<TransformerSpec>
declareXglmModel(ConfigReader &reader, CausalDecoder &decoder, const DecoderKeys &keys,
                 llvm::function_ref<WeightId(TransformerSpec &, const std::string &, int64_t)> declareTable) {
  reader.reject("add_cross_attention", "attention to another sequence is not implemented for this family");
  decoder.normKind = &TransformerSpec::norm;
  decoder.embeddingScale = reader.flag("scale_embedding", true) ? std::sqrt(double(keys.hidden)) : 1;
  decoder.tables = [&](TransformerSpec &spec, const std::string &prefix) {
    WeightId table = declareTable(spec, prefix + "embed_positions", keys.positions + kUnused);
    spec.decoder->embeddings.positions = spec.slice(table, 0, kUnused, keys.positions + kUnused);
  };
  return decoder.declare(
      [&](TransformerSpec &spec, int64_t, const std::string &path) { return declareXglmLayer(spec, keys, decoder, path); });
}

Result<TransformerSpec> attune::readXglmSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"xglm", "XGLM", false, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 256008, defaults.hidden = 1024, defaults.layers = 24, defaults.heads = 16, defaults.intermediate = 4096;
  defaults.hiddenKey = "d_model", defaults.layersKey = "num_layers", defaults.headsKey = "attention_heads";
  defaults.intermediateKey = "ffn_dim";
  defaults.activationKey = "activation_function", defaults.activation = "gelu";
  defaults.tied = true, defaults.padding = 1;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  // No key sets the epsilon.
  keys.epsilon = 1e-5;
  CausalDecoder decoder(reader, classes, keys);
  decoder.names = {"model.", "embed_tokens", "layers", "layer_norm"};
  return declareXglmModel(reader, decoder, keys, [&](TransformerSpec &spec, const std::string &name, int64_t rows) {
    return declareSpacedSines(spec, name, rows, keys.hidden, keys.padding.value_or(-1));
  });
}

Result<TransformerSpec> attune::readBioGptSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"biogpt", "BioGpt", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 42384, defaults.hidden = 1024, defaults.layers = 24, defaults.heads = 16, defaults.intermediate = 4096;
  defaults.positions = 1024, defaults.activation = "gelu", defaults.tied = true, defaults.padding = 1;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  // transformers does not read `layer_norm_eps`.
  keys.epsilon = 1e-5;
  CausalDecoder decoder(reader, classes, keys);
  decoder.names = {"biogpt.", "embed_tokens", "layers", "layer_norm", "output_projection", "classifier"};
  return declareXglmModel(reader, decoder, keys, [&](TransformerSpec &spec, const std::string &name, int64_t rows) {
    return spec.tensor(name + ".weight", {rows, keys.hidden});
  });
}
