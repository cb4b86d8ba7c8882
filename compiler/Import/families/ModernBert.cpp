//===- ModernBert.cpp - ModernBERT --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layers with norms before the branches, gated feed-forwards and rotary embeddings. By default every third layer, from
// the first on, attends to all tokens, the others to a window on both sides, with other rotary embeddings. The norm of
// the embeddings is also that of the first attention. All heads of the model begin with a projection, an activation and
// a norm, after pooling if they pool.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"
#include "compiler/Import/families/CausalDecoder.h"

using namespace attune;
using mlir::xfmr::Activation;
using mlir::xfmr::PoolKind;

namespace {

struct ModernBertKeys : BertKeys {
  /// True for the parts that have biases: norms, projections of attention, projections of feed-forwards, the first
  /// projection of each head, and the scores of words. Projections to classes always have a bias.
  bool normBias, attentionBias, ffnBias, headBias, wordBias;
  Activation headActivation;
  PoolKind pooling;
  /// For each layer with a window, the largest distance of a visible key before and after its query; nullopt for the
  /// others.
  std::vector<std::optional<int64_t>> windows;
  /// The rotary embeddings of layers with a window; |rope| has those of the other layers.
  RopeSpec windowRope;
};

using Heads = EncoderHeads<ModernBertKeys>;

} // namespace

/// Reads which layers have windows, and the rotary embeddings of layers with and without a window.
static void readModernBertPositions(ConfigReader &reader, const Config &config, ModernBertKeys &keys) {
  int64_t window = reader.integer("local_attention", 128, {0, int64_t(1) << 31}) / 2;
  // `local_attention` counts both sides of a window; `sliding_window`, the key of other families, counts one side.
  window = reader.integerOrNull("sliding_window", window, {0, int64_t(1) << 31});
  int64_t period = reader.integerOrNull("global_attn_every_n_layers", 3, {1, 1 << 24});
  keys.windows = readWindows(reader, config, keys.layers, window, [&](int64_t index) { return index % period != 0; });
  reader.reject("rope_scaling", "'rope_parameters' has the scaling of each type of layers");
  RopeDefaults global, local;
  global.theta = 160000;
  global.thetaKey = "global_rope_theta";
  local.thetaKey = "local_rope_theta";
  keys.rope = readRope(reader, config, keys.hidden / keys.heads, keys.positions, global, "full_attention");
  keys.windowRope = readRope(reader, config, keys.hidden / keys.heads, keys.positions, local, "sliding_attention");
}

static ModernBertKeys readModernBertKeys(ConfigReader &reader, const Config &config) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  ModernBertKeys keys = {};
  keys.vocab = reader.integer("vocab_size", 50368, ids);
  keys.hidden = keys.embedding = reader.integer("hidden_size", 768, size);
  keys.layers = reader.integer("num_hidden_layers", 22, layers);
  keys.heads = reader.integer("num_attention_heads", 12, size);
  keys.intermediate = reader.integer("intermediate_size", 1152, size);
  keys.positions = reader.integer("max_position_embeddings", 8192, size);
  keys.epsilon = reader.number("norm_eps", 1e-5, 0, 1);
  keys.dropout = reader.number("attention_dropout", 0, 0, 1);
  keys.classifierDropout = reader.number("classifier_dropout", 0, 0, 1);
  keys.activation = readActivation(reader, "hidden_activation", "gelu");
  keys.headActivation = readActivation(reader, "classifier_activation", "gelu");
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  keys.normBias = reader.flag("norm_bias", false);
  keys.attentionBias = reader.flag("attention_bias", false);
  keys.ffnBias = reader.flag("mlp_bias", false);
  keys.headBias = reader.flag("classifier_bias", false);
  keys.wordBias = reader.flag("decoder_bias", true);
  static constexpr std::pair<const char *, PoolKind> poolings[] = {{"cls", PoolKind::First}, {"mean", PoolKind::Mean}};
  const auto *pooling = reader.choose("classifier_pooling", reader.string("classifier_pooling", "cls"), poolings);
  keys.pooling = pooling ? pooling->second : PoolKind::First;
  if (keys.hidden % keys.heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(keys.heads));
  readModernBertPositions(reader, config, keys);
  rejectPrunedHeads(reader);
  reader.reject("is_decoder", "the family has no decoder");
  return keys;
}

static NormSpec declareModernBertNorm(TransformerSpec &spec, const ModernBertKeys &keys, const std::string &name) {
  return keys.normBias ? spec.norm(name, keys.hidden, keys.epsilon) : spec.normWithoutBias(name, keys.hidden, keys.epsilon);
}

static LayerSpec declareModernBertLayer(TransformerSpec &spec, const ModernBertKeys &keys, const std::string &path,
                                        std::optional<int64_t> window, WeightId rotary, bool first) {
  LayerSpec layer;
  layer.path = path;
  if (!first)
    layer.attentionNorm = declareModernBertNorm(spec, keys, path + ".attn_norm");
  AttentionSpec &attention = layer.attention.emplace();
  LinearSpec joined = spec.linear(path + ".attn.Wqkv", keys.hidden, 3 * keys.hidden, keys.attentionBias);
  spec.splitByPart(attention, joined, keys.heads, keys.heads);
  attention.output = spec.linear(path + ".attn.Wo", keys.hidden, keys.hidden, keys.attentionBias);
  setWholeAttention(attention, keys);
  attention.windowLeft = attention.windowRight = window;
  attention.rotary = rotary;
  layer.ffnNorm = declareModernBertNorm(spec, keys, path + ".mlp_norm");
  FfnSpec &ffn = layer.ffn.emplace();
  LinearSpec gateAndUp = spec.linear(path + ".mlp.Wi", keys.hidden, 2 * keys.intermediate, keys.ffnBias);
  ffn.gate = spec.features(gateAndUp, 0, keys.intermediate);
  ffn.up = spec.features(gateAndUp, keys.intermediate, 2 * keys.intermediate);
  ffn.down = spec.linear(path + ".mlp.Wo", keys.intermediate, keys.hidden, keys.ffnBias);
  ffn.activation = keys.activation;
  return layer;
}

static void declareModernBertModel(TransformerSpec &spec, const ModernBertKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  stack.placement = NormPlacement::Pre;
  declareBertInputs(spec, keys);
  EmbeddingSpec &embeddings = stack.embeddings;
  embeddings.path = prefix + "embeddings";
  embeddings.words = spec.tensor(embeddings.path + ".tok_embeddings.weight", {keys.vocab, keys.hidden});
  embeddings.norm = declareModernBertNorm(spec, keys, embeddings.path + ".norm");
  WeightId rotary = declareRope(spec, prefix + "rotary_emb", *keys.rope, keys.positions);
  WeightId windowRotary = declareRope(spec, prefix + "rotary_emb_local", keys.windowRope, keys.positions);
  for (int64_t i = 0; i < keys.layers; ++i)
    stack.layers.push_back(declareModernBertLayer(spec, keys, prefix + "layers." + std::to_string(i), keys.windows[i],
                                                  keys.windows[i] ? windowRotary : rotary, /*first=*/i == 0));
  stack.finalNorm = declareModernBertNorm(spec, keys, prefix + "final_norm");
}

/// Returns |steps|, followed by the projection, the activation and the norm with which all heads begin.
static std::vector<HeadStep> beginHead(TransformerSpec &spec, const ModernBertKeys &keys, std::vector<HeadStep> steps) {
  steps.push_back(linearStep(spec.linear("head.dense", keys.hidden, keys.hidden, keys.headBias), "head.dense"));
  steps.push_back(activationStep(keys.headActivation, "head"));
  steps.push_back(normStep(declareModernBertNorm(spec, keys, "head.norm"), "head.norm"));
  return steps;
}

static void declareModernBertMaskedLM(TransformerSpec &spec, const ModernBertKeys &keys, const std::string &) {
  std::vector<HeadStep> steps = beginHead(spec, keys, {});
  LinearSpec decoder;
  decoder.weight = bertDecoderTable(spec, keys, "decoder.weight");
  if (keys.wordBias)
    decoder.bias = spec.tensor("decoder.bias", {keys.vocab});
  steps.push_back(linearStep(decoder, "decoder"));
  spec.outputs.push_back({"logits", std::move(steps)});
}

/// Declares scores of classes. |steps| come first in the head: a pooling step, or none for scores of tokens.
static void declareModernBertScores(TransformerSpec &spec, const ModernBertKeys &keys, std::vector<HeadStep> steps) {
  steps = beginHead(spec, keys, std::move(steps));
  steps.push_back(dropoutStep(keys.classifierDropout, "drop"));
  steps.push_back(linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier"));
  spec.outputs.push_back({"logits", std::move(steps)});
}

static void declareModernBertSequenceClassification(TransformerSpec &spec, const ModernBertKeys &keys, const std::string &) {
  declareModernBertScores(spec, keys, {poolStep(keys.pooling, "pooling")});
}

static void declareTokens(TransformerSpec &spec, const ModernBertKeys &keys, const std::string &) {
  declareModernBertScores(spec, keys, {});
}

static void declareAnswers(TransformerSpec &spec, const ModernBertKeys &keys, const std::string &) {
  const std::vector<HeadStep> head = beginHead(spec, keys, {});
  declareStartAndEnd(spec, spec.linear("classifier", keys.hidden, 2));
  for (OutputSpec &output : spec.outputs)
    output.steps.insert(output.steps.begin(), head.begin(), head.end());
}

static void declareModernBertChoices(TransformerSpec &spec, const ModernBertKeys &keys, const std::string &) {
  HeadStep pool = keys.pooling == PoolKind::Mean ? poolStep(keys.pooling, "pooling") : firstVisibleStep("pooling");
  declareMultipleChoice(spec, keys, beginHead(spec, keys, {pool}));
}

Result<TransformerSpec> attune::readModernBertSpec(const Config &config) {
  static const Heads heads = {
      {"ModernBertModel", declareLastState},
      {"ModernBertForMaskedLM", declareModernBertMaskedLM},
      {"ModernBertForSequenceClassification", declareModernBertSequenceClassification},
      {"ModernBertForTokenClassification", declareTokens},
      {"ModernBertForQuestionAnswering", declareAnswers},
      {"ModernBertForMultipleChoice", declareModernBertChoices},
  };
  return readBertLike(
      config, "modernbert", "model.", heads, [&](ConfigReader &reader) { return readModernBertKeys(reader, config); },
      declareModernBertModel);
}
