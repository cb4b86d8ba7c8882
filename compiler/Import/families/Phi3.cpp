//===- Phi3.cpp - Phi-3 -------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama with a joined projection of queries, keys and values, and one of gate and up; rotary embeddings may apply to
// the first part of each head alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readPhi3Spec(const Config &config) {
  static constexpr DecoderClasses classes = {"phi3", "Phi3", true, true, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 32064;
  defaults.hidden = 3072;
  defaults.intermediate = 8192;
  defaults.positions = 4096;
  defaults.epsilon = 1e-5;
  defaults.padding = 32000;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  std::optional<int64_t> window = readWindow(reader, std::nullopt);
  RopeDefaults ropeDefaults;
  ropeDefaults.partial = true;
  ropeDefaults.yarn = false;
  ropeDefaults.originalPositions = 4096;
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, ropeDefaults);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    int64_t queries = keys.queryFeatures(), both = keys.keyFeatures();
    attention.output = spec.linear(path + ".self_attn.o_proj", queries, keys.hidden, /*bias=*/false);
    LinearSpec joined = spec.linear(path + ".self_attn.qkv_proj", keys.hidden, queries + 2 * both, /*bias=*/false);
    spec.splitByPart(attention, joined, keys.heads, keys.kvHeads);
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    setWindow(attention, window);
    layer.ffn = declareJoinedFfn(spec, keys, path + ".mlp.gate_up_proj", path + ".mlp.down_proj");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
