//===- CodeGen.cpp - CodeGen --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GPT-J with one projection of queries, values and keys, in four groups of heads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// The rows of |projection|, `[3 * hidden, hidden]`, from |begin| of each of four groups on, a quarter of the features of each.
static LinearSpec selectPart(TransformerSpec &spec, const LinearSpec &projection, int64_t hidden, int64_t part) {
  constexpr int64_t groups = 4;
  std::vector<int64_t> rows;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t row = 0; row < hidden / groups; ++row)
      rows.push_back((3 * group + part) * (hidden / groups) + row);
  return {spec.select(projection.weight, 0, std::move(rows)), noWeight};
}

Result<TransformerSpec> attune::readCodeGenSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"codegen", "CodeGen", false, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50400, defaults.layers = 28, defaults.heads = 16, defaults.intermediate = 0;
  defaults.hiddenKey = "n_embd", defaults.layersKey = "n_layer", defaults.headsKey = "n_head";
  defaults.positionsKey = "n_positions", defaults.intermediateKey = "n_inner";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5;
  defaults.activationKey = "activation_function";
  defaults.activation = "gelu_new";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  if (keys.heads % 4 != 0)
    reader.fail("n_head", "a multiple of 4, as projections come in four groups of heads");
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
    LinearSpec joined = spec.linear(path + ".attn.qkv_proj", keys.hidden, 3 * keys.hidden, /*bias=*/false);
    attention.query = selectPart(spec, joined, keys.hidden, 0);
    attention.value = selectPart(spec, joined, keys.hidden, 1);
    attention.key = selectPart(spec, joined, keys.hidden, 2);
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
