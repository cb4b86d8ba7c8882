//===- InternLM2.cpp - InternLM2 ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama under names of its own, with a joined projection of queries, keys and values. For each key head the projection
// has the rows of the query heads that share the key head, then those of the key head, then those of its value head.
// transformers does not have the family: its code was published with the files.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readInternLM2Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"internlm2", "InternLM2", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 103168, defaults.padding = 0;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("bias", true);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    auto linear = [&](const std::string &name, int64_t in, int64_t out) { return spec.linear(name, in, out, /*bias=*/false); };
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    LinearSpec joined = spec.linear(path + ".attention.wqkv", keys.hidden, keys.queryFeatures() + 2 * keys.keyFeatures(), bias);
    spec.splitByGroup(attention, joined, keys.heads, keys.kvHeads);
    attention.output = spec.linear(path + ".attention.wo", keys.queryFeatures(), keys.hidden, bias);
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    FfnSpec &ffn = layer.ffn.emplace();
    ffn.gate = linear(path + ".feed_forward.w1", keys.hidden, keys.intermediate);
    ffn.up = linear(path + ".feed_forward.w3", keys.hidden, keys.intermediate);
    ffn.down = linear(path + ".feed_forward.w2", keys.intermediate, keys.hidden);
    ffn.activation = keys.activation;
    layer.attentionNorm = decoder.norm(spec, path + ".attention_norm");
    layer.ffnNorm = decoder.norm(spec, path + ".ffn_norm");
    return layer;
  };
  decoder.names = {"model.", "tok_embeddings", "layers", "norm", "output"};
  return decoder.declare(layer);
}
