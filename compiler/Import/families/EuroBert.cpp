//===- EuroBert.cpp - EuroBERT ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama whose tokens attend to later ones, too. Its classes have scores of masked words, of sequences and of tokens.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;
using mlir::xfmr::Activation;
using mlir::xfmr::PoolKind;

namespace {

/// The tokens from which scores of a sequence are computed: the first one, the mean of all visible tokens, or each
/// token, with the mean of the visible tokens' scores as the result.
enum class Pooling { First, Mean, Late };

} // namespace

/// Returns the steps to scores of a sequence: |dense|, an activation and |classifier|. Tokens are pooled after them for
/// Late, else before them.
static std::vector<HeadStep> scoreSequence(const LinearSpec &dense, const LinearSpec &classifier, Pooling pooling) {
  std::vector<HeadStep> steps = {linearStep(dense, "dense"), activationStep(Activation::Gelu, "activation"),
                                 linearStep(classifier, "classifier")};
  HeadStep pool = poolStep(pooling == Pooling::First ? PoolKind::First : PoolKind::Mean, "pooling");
  steps.insert(pooling == Pooling::Late ? steps.end() : steps.begin(), std::move(pool));
  return steps;
}

Result<TransformerSpec> attune::readEuroBertSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"eurobert", "EuroBert", true,    true,    /*questionAnswering=*/nullptr,
                                             false,      nullptr,    nullptr, nullptr, "ForMaskedLM"};
  static constexpr std::pair<const char *, Pooling> poolings[] = {
      {"bos", Pooling::First}, {"mean", Pooling::Mean}, {"late", Pooling::Late}};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 128256, defaults.hidden = 768, defaults.layers = 12, defaults.heads = 12, defaults.intermediate = 3072;
  defaults.positions = 8192, defaults.epsilon = 1e-5;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  keys.causal = false;
  bool attentionBias = reader.flag("attention_bias", false), ffnBias = reader.flag("mlp_bias", false);
  // `clf_pooling` is the name in the code that was published with the first files. transformers does not read it.
  const char *poolingKey = reader.present("clf_pooling") && !reader.present("classifier_pooling") ? "clf_pooling" : "classifier_pooling";
  const auto *pooling = reader.choose(poolingKey, reader.string(poolingKey, "late"), poolings);
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  decoder.head.bias = ffnBias;
  decoder.names.tokenClassifier = "classifier";
  decoder.scoreSequence = [&](TransformerSpec &spec) {
    LinearSpec dense = spec.linear("dense", keys.hidden, keys.hidden);
    return scoreSequence(dense, spec.classifier("classifier", keys.hidden, keys.labels), pooling->second);
  };
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attention = declareDecoderAttention(spec, keys, path + ".self_attn", {attentionBias, attentionBias});
    layer.attention->rotary = decoder.rotary;
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp", ffnBias);
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}
