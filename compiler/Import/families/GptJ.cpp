//===- GptJ.cpp - GPT-J -------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two branches that read the same norm of their input, rotary embeddings of neighbouring components of a part of each head, a head with
// bias. Token types, where they are given, are rows of the word table.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readGptJSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"gptj", "GPTJ", true, false, "transformer."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50400, defaults.layers = 28, defaults.heads = 16, defaults.intermediate = 0;
  defaults.hiddenKey = "n_embd", defaults.layersKey = "n_layer", defaults.headsKey = "n_head";
  defaults.positionsKey = "n_positions", defaults.intermediateKey = "n_inner";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5;
  defaults.activationKey = "activation_function";
  defaults.activation = "gelu_new";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  WeightId rotary = noWeight;
  RopeSpec rope = readGptJRope(reader, keys);
  auto tables = [&](TransformerSpec &spec, const std::string &prefix) {
    rotary = declareRope(spec, prefix + "rotary_emb", rope, keys.positions);
  };
  auto norm = [&](TransformerSpec &spec, const std::string &name, int64_t size) { return spec.norm(name, size, keys.epsilon); };
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attentionNorm = norm(spec, path + ".ln_1", keys.hidden);
    AttentionSpec &attention = layer.attention.emplace();
    attention.key = spec.linear(path + ".attn.k_proj", keys.hidden, keys.hidden, /*bias=*/false);
    attention.value = spec.linear(path + ".attn.v_proj", keys.hidden, keys.hidden, /*bias=*/false);
    attention.query = spec.linear(path + ".attn.q_proj", keys.hidden, keys.hidden, /*bias=*/false);
    attention.output = spec.linear(path + ".attn.out_proj", keys.hidden, keys.hidden, /*bias=*/false);
    setDecoderAttention(attention, keys);
    attention.rotary = rotary;
    attention.interleaved = true;
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.fc_in", path + ".mlp.fc_out");
    layer.parallel = true;
    return layer;
  };
  CausalDecoder decoder(reader, classes, keys);
  decoder.names = {"transformer.", "wte", "h", "ln_f", "lm_head", "score"};
  decoder.head.bias = true;
  decoder.wordTypes = true;
  return decoder.declare(tables, layer, norm);
}
