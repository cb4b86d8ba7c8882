//===- GptBigCode.cpp - GPT-BigCode -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GPT-2 whose projections are stored as [out, in], with one key and value head, or as many as query heads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readGptBigCodeSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"gpt_bigcode", "GPTBigCode", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50257, defaults.hidden = 768, defaults.layers = 12, defaults.heads = 12, defaults.positions = 1024;
  defaults.intermediate = 0, defaults.tied = true;
  defaults.hiddenKey = "n_embd", defaults.layersKey = "n_layer", defaults.headsKey = "n_head";
  defaults.positionsKey = "n_positions", defaults.intermediateKey = "n_inner";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5;
  defaults.activationKey = "activation_function";
  defaults.activation = "gelu_pytorch_tanh";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool multiQuery = reader.flag("multi_query", true), scaled = reader.flag("scale_attn_weights", true);
  keys.kvHeads = multiQuery ? 1 : keys.heads;
  reader.reject("add_cross_attention", "attention to another sequence is not implemented for this family");
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::norm;
  decoder.tables = [&](TransformerSpec &spec, const std::string &prefix) {
    spec.decoder->embeddings.positions = spec.tensor(prefix + "wpe.weight", {keys.positions, keys.hidden});
  };
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attentionNorm = decoder.norm(spec, path + ".ln_1");
    AttentionSpec &attention = layer.attention.emplace();
    int64_t queries = keys.queryFeatures(), both = keys.keyFeatures();
    LinearSpec joined = spec.linear(path + ".attn.c_attn", keys.hidden, queries + 2 * both);
    if (multiQuery)
      spec.splitByPart(attention, joined, keys.heads, keys.kvHeads);
    else
      spec.splitByHead(attention, joined, keys.heads);
    attention.output = spec.linear(path + ".attn.c_proj", keys.hidden, keys.hidden);
    setDecoderAttention(attention, keys);
    if (!scaled)
      attention.scale = 1;
    layer.ffnNorm = decoder.norm(spec, path + ".ln_2");
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.c_fc", path + ".mlp.c_proj");
    return layer;
  };
  decoder.names = {"transformer.", "wte", "h", "ln_f", "lm_head", "classifier"};
  decoder.wordTypes = true;
  return decoder.declare(layer);
}
