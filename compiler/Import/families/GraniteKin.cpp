//===- GraniteKin.cpp - Granite's mixtures of experts, and MiniCPM ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Granite's layers with experts in place of feed-forwards; `granitemoeshared` adds a network that all tokens use.
// MiniCPM, whose code was published with the files, has the same factors under other keys, and no experts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Experts.h"
#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;

static constexpr double kGraniteKinMost = 1e12;

namespace {

/// Factors of words, scores, results of branches, and logits.
struct Factors {
  double words, scores, branches, logits;
};

} // namespace

static Factors readFactors(ConfigReader &reader) {
  auto number = [&](const char *key) { return reader.number(key, 1, -kGraniteKinMost, kGraniteKinMost); };
  return {number("embedding_multiplier"), number("attention_multiplier"), number("residual_multiplier"),
          1 / reader.number("logits_scaling", 1, 1e-12, kGraniteKinMost)};
}

/// A function that declares the feed-forward or the experts of the layer |path|, whose results it multiplies by the
/// factor of branches.
using DeclareFfn = llvm::function_ref<void(TransformerSpec &spec, LayerSpec &layer, const std::string &path)>;

static Result<TransformerSpec> declareGranite(CausalDecoder &decoder, const DecoderKeys &keys, const Factors &factors, bool bias,
                                              DeclareFfn declareFfn) {
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {bias, bias});
    layer.attention->scale = factors.scores;
    layer.attention->output = spec.scaled(layer.attention->output, factors.branches);
    layer.attention->rotary = decoder.rotary;
    declareFfn(spec, layer, path);
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  };
  decoder.embeddingScale = factors.words;
  decoder.head.scale = factors.logits;
  return decoder.declare(layer);
}

/// Reads one of the two families with experts. |shares| is true if the family may have a network that all tokens use.
static Result<TransformerSpec> readGraniteExperts(const Config &config, const DecoderClasses &classes, bool shares) {
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults), shared = keys;
  bool attentionBias = reader.flag("attention_bias", false);
  ExpertKeys experts = readExpertKeys(reader, {8, 2});
  shared.intermediate = shares ? reader.integer("shared_intermediate_size", 0, {0, 1 << 24}) : 0;
  Factors factors = readFactors(reader);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  decoder.scalesGivenVectors = true;
  return declareGranite(decoder, keys, factors, attentionBias, [&](TransformerSpec &spec, LayerSpec &layer, const std::string &path) {
    const std::string moe = path + ".block_sparse_moe", all = path + ".shared_mlp";
    ExpertsSpec &mixture = layer.experts.emplace();
    mixture.router = spec.linear(moe + ".router.layer", keys.hidden, experts.count, /*bias=*/false);
    mixture.chosen = experts.chosen;
    mixture.normalized = true;
    mixture.networks = declareStackedExperts(spec, keys, experts.count, moe + ".input_linear.weight", moe + ".output_linear.weight");
    mixture.networks.down = spec.scaled(mixture.networks.down, factors.branches);
    if (shared.intermediate == 0)
      return;
    mixture.shared = declareJoinedFfn(spec, shared, all + ".input_linear", all + ".output_linear");
    mixture.shared->down = spec.scaled(mixture.shared->down, factors.branches);
  });
}

Result<TransformerSpec> attune::readGraniteMoeSpec(const Config &config) {
  return readGraniteExperts(config, {"granitemoe", "GraniteMoe", false, false, nullptr}, /*shares=*/false);
}

Result<TransformerSpec> attune::readGraniteMoeSharedSpec(const Config &config) {
  return readGraniteExperts(config, {"granitemoeshared", "GraniteMoeShared", false, false, nullptr}, /*shares=*/true);
}

Result<TransformerSpec> attune::readMiniCpmSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"minicpm", "MiniCPM", true, false, nullptr};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.tied = true;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool bias = reader.flag("attention_bias", false);
  reader.reject("sparse_config", "attention to chosen blocks is not implemented");
  if (reader.integer("num_experts", 0, {0, 1 << 16}) != 0)
    reader.fail("num_experts", "0: layers of experts are not implemented for this family");
  Factors factors;
  factors.words = reader.number("scale_emb", 1, -kGraniteKinMost, kGraniteKinMost);
  factors.scores = keys.headScale();
  factors.branches = reader.number("scale_depth", 1, -kGraniteKinMost, kGraniteKinMost) / std::sqrt(double(keys.layers));
  factors.logits = reader.number("dim_model_base", 1, 1e-12, kGraniteKinMost) / double(keys.hidden);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  return declareGranite(decoder, keys, factors, bias, [&](TransformerSpec &spec, LayerSpec &layer, const std::string &path) {
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.ffn->down = spec.scaled(layer.ffn->down, factors.branches);
  });
}
