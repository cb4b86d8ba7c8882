//===- Mixtral.cpp - Mixtral --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Mistral with experts in every layer; the shares of a token's experts add up to 1. A window, if there is one, applies
// to all layers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Experts.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readMixtralSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"mixtral", "Mixtral"};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.kvHeads = 8;
  defaults.intermediate = 14336;
  defaults.positions = 4096 * 32;
  defaults.epsilon = 1e-5;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  ExpertKeys experts = readExpertKeys(reader, {8, 2});
  std::optional<int64_t> window = readWindow(reader, std::nullopt);
  RopeDefaults rope;
  rope.theta = 1e6;
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, rope);
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn");
    layer.attention->rotary = decoder.rotary;
    setWindow(*layer.attention, window);
    ExpertsSpec &mixture = layer.experts.emplace();
    const std::string moe = path + ".block_sparse_moe", inMemory = path + ".mlp";
    mixture.router = spec.linear(moe + ".gate", keys.hidden, experts.count, /*bias=*/false);
    spec.addAlias(mixture.router.weight, inMemory + ".gate.weight");
    mixture.chosen = experts.chosen;
    mixture.normalized = true;
    mixture.networks =
        declareExperts(spec, keys, experts.count, keys.intermediate, {moe + ".experts", inMemory + ".experts", "w1", "w3", "w2"});
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  return decoder.declare(layer);
}
