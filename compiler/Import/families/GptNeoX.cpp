//===- GptNeoX.cpp - GPT-NeoX -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Parallel branches with a norm each (or branches in sequence if `use_parallel_residual` is false); one projection of
// queries, keys and values, packed head by head; rotary embeddings of the first part of each head.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readGptNeoXSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"gpt_neox", "GPTNeoX", true, true, "gpt_neox."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50432, defaults.hidden = 6144, defaults.layers = 44, defaults.heads = 64, defaults.intermediate = 24576;
  defaults.epsilonKey = "layer_norm_eps", defaults.epsilon = 1e-5, defaults.activation = "gelu";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", true), parallel = reader.flag("use_parallel_residual", true);
  RopeDefaults ropeDefaults;
  ropeDefaults.partial = true, ropeDefaults.partialFactor = 0.25;
  ropeDefaults.thetaKey = "rotary_emb_base", ropeDefaults.partialKey = "rotary_pct";
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = &TransformerSpec::norm;
  // `head_dim` changes the number of rotated components, not the size of heads.
  int64_t rotatedSize = reader.integerOrNull("head_dim", keys.headSize, {1, 1 << 24});
  decoder.rope = readRope(reader, config, rotatedSize, keys.positions, ropeDefaults);
  if (decoder.rope->width > keys.headSize)
    reader.fail("head_dim", "at most " + std::to_string(keys.headSize) + " rotated components, the features of a head");
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    AttentionSpec &attention = layer.attention.emplace();
    spec.splitByHead(attention, spec.linear(path + ".attention.query_key_value", keys.hidden, 3 * keys.hidden, bias), keys.heads);
    attention.output = spec.linear(path + ".attention.dense", keys.hidden, keys.hidden, bias);
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.dense_h_to_4h", path + ".mlp.dense_4h_to_h");
    layer.parallel = parallel;
    return layer;
  };
  decoder.names = {"gpt_neox.", "embed_in", "layers", "final_layer_norm", "embed_out", "classifier"};
  return decoder.declare(layer);
}
