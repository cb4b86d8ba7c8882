//===- OpenAiGpt.cpp - GPT, the first -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GPT-2 with norms after the residual sums and none after the last layer. Token types, if they are an input, are rows
// of the word table.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;
using mlir::xfmr::Activation;

Result<TransformerSpec> attune::readOpenAiGptSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"openai-gpt", "OpenAIGPT", true,    false,   /*questionAnswering=*/nullptr,
                                             false,        nullptr,     nullptr, nullptr, "LMHeadModel"};
  // This family has its own list of names of activations, in which "gelu" is the approximation by tanh.
  static constexpr std::pair<const char *, Activation> activations[] = {
      {"gelu", Activation::GeluTanh}, {"relu", Activation::Relu}, {"silu", Activation::Silu}, {"swish", Activation::Silu}};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 40478, defaults.hidden = 768, defaults.layers = 12, defaults.heads = 12, defaults.intermediate = 0;
  defaults.positions = 512;
  defaults.hiddenKey = "n_embd", defaults.layersKey = "n_layer", defaults.headsKey = "n_head", defaults.positionsKey = "n_positions";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5;
  defaults.activationKey = "afn", defaults.activation = "gelu", defaults.tied = true;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  keys.intermediate = 4 * keys.hidden;
  if (const auto *activation = reader.choose("afn", reader.string("afn", "gelu"), activations))
    keys.activation = activation->second;
  CausalDecoder decoder(reader, classes, keys);
  decoder.names = {"transformer.", "tokens_embed", "h", nullptr};
  decoder.normKind = &TransformerSpec::norm;
  decoder.placement = NormPlacement::Post;
  decoder.hasFinalNorm = false;
  decoder.wordTypes = true;
  decoder.tables = [&](TransformerSpec &spec, const std::string &prefix) {
    spec.decoder->embeddings.positions = spec.tensor(prefix + "positions_embed.weight", {keys.positions, keys.hidden});
  };
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    LinearSpec joined = spec.transposedLinear(path + ".attn.c_attn", keys.hidden, 3 * keys.hidden);
    spec.splitByPart(attention, joined, keys.heads, keys.heads);
    attention.output = spec.transposedLinear(path + ".attn.c_proj", keys.hidden, keys.hidden);
    setDecoderAttention(attention, keys);
    layer.attentionNorm = decoder.norm(spec, path + ".ln_1");
    FfnSpec &ffn = layer.ffn.emplace();
    ffn.up = spec.transposedLinear(path + ".mlp.c_fc", keys.hidden, keys.intermediate);
    ffn.down = spec.transposedLinear(path + ".mlp.c_proj", keys.intermediate, keys.hidden);
    ffn.activation = keys.activation;
    layer.ffnNorm = decoder.norm(spec, path + ".ln_2");
    return layer;
  });
}
