//===- Llama.cpp - Llama --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decoder layers without biases: norms by root mean square before the branches, heads turned by their positions, heads of keys that several
// heads of queries share, a gated feed-forward. Defaults are those of transformers' LlamaConfig.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/DecoderParts.h"
#include "compiler/Import/families/Families.h"
#include "compiler/Import/PruneHeads.h"

#include <cmath>

using namespace attune;

namespace {

/// The keys that Llama reads.
struct LlamaKeys {
  int64_t vocab, hidden, layers, heads, kvHeads, headSize, intermediate, positions, labels;
  double epsilon, classifierDropout;
  std::optional<int64_t> padding;
  mlir::xfmr::Activation activation;
  bool attentionBias, ffnBias, tied;
  /// Parameters of the table of angles.
  WeightParameters rotary;
};

using DeclareHead = void (*)(TransformerSpec &spec, const LlamaKeys &keys);

} // namespace

/// Reads how frequencies follow from `rope_theta` and `rope_scaling`, or from `rope_parameters`, which newer files have in their place.
static WeightParameters readRotary(ConfigReader &reader, const Config &config, int64_t positions) {
  constexpr double most = 1e12;
  bool together = reader.present("rope_parameters");
  const char *key = together ? "rope_parameters" : "rope_scaling";
  double base = reader.number("rope_theta", 10000, 1, most);
  if (reader.present(key) && !config.find(key)->is_object())
    reader.fail(key, "an object");
  const Config object = config.object(key);
  ConfigReader scaling(object);
  WeightParameters parameters = {{"base", together ? scaling.number("rope_theta", base, 1, most) : base}};
  const char *typeKey = scaling.present("rope_type") ? "rope_type" : "type";
  std::string type = reader.present(key) ? scaling.string(typeKey, "default") : "default";
  if (type == "linear" || type == "llama3") {
    parameters.emplace_back("scaling", type);
    parameters.emplace_back("factor", scaling.number("factor", 1, 1e-6, most));
    if (!scaling.present("factor"))
      scaling.fail("factor", "a number");
  } else if (type != "default") {
    scaling.fail(typeKey, "one of default, linear, llama3");
  }
  if (type == "llama3") {
    parameters.emplace_back("low_freq_factor", scaling.number("low_freq_factor", 1, 1e-6, most));
    parameters.emplace_back("high_freq_factor", scaling.number("high_freq_factor", 4, 1e-6, most));
    int64_t original = scaling.integer("original_max_position_embeddings", positions, {1, int64_t(1) << 31});
    parameters.emplace_back("original_length", double(original));
  }
  reader.join(scaling);
  return parameters;
}

static LlamaKeys readKeys(ConfigReader &reader, const Config &config) {
  constexpr Range size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  LlamaKeys keys;
  keys.vocab = reader.integer("vocab_size", 32000, ids);
  keys.hidden = reader.integer("hidden_size", 4096, size);
  keys.layers = reader.integer("num_hidden_layers", 32, layers);
  keys.heads = reader.integer("num_attention_heads", 32, size);
  keys.kvHeads = reader.integerOrNull("num_key_value_heads", keys.heads, size);
  keys.intermediate = reader.integer("intermediate_size", 11008, size);
  keys.positions = reader.integer("max_position_embeddings", 2048, size);
  keys.epsilon = reader.number("rms_norm_eps", 1e-6, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : 0.1;
  keys.activation = readActivation(reader, "hidden_act", "silu");
  keys.attentionBias = reader.flag("attention_bias", false);
  keys.ffnBias = reader.flag("mlp_bias", false);
  keys.tied = reader.flag("tie_word_embeddings", false);
  keys.labels = reader.labels();
  if (reader.present("pad_token_id"))
    keys.padding = reader.integer("pad_token_id", 0, {-1, keys.vocab - 1});
  if (!reader.present("head_dim") && keys.hidden % keys.heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(keys.heads));
  keys.headSize = reader.integerOrNull("head_dim", keys.hidden / keys.heads, size);
  if (keys.headSize % 2 != 0)
    reader.fail(reader.present("head_dim") ? "head_dim" : "hidden_size", "an even head size, as rotations take pairs");
  if (keys.heads % keys.kvHeads != 0)
    reader.fail("num_key_value_heads", "a divisor of 'num_attention_heads', which is " + std::to_string(keys.heads));
  keys.rotary = readRotary(reader, config, keys.positions);
  if (reader.number("partial_rotary_factor", 1, 0, 1) != 1)
    reader.fail("partial_rotary_factor", "1: rotating a part of each head is not implemented");
  rejectPrunedHeads(reader);
  reader.reject("quantization_config", "quantised weights are not implemented");
  return keys;
}

static void declareLayer(TransformerSpec &spec, const LlamaKeys &keys, WeightId rotary, const std::string &path) {
  LayerSpec layer;
  layer.path = path;
  AttentionSpec &attention = layer.attention.emplace();
  int64_t queries = keys.heads * keys.headSize, keysAndValues = keys.kvHeads * keys.headSize;
  attention.query = spec.linear(path + ".self_attn.q_proj", keys.hidden, queries, keys.attentionBias);
  attention.key = spec.linear(path + ".self_attn.k_proj", keys.hidden, keysAndValues, keys.attentionBias);
  attention.value = spec.linear(path + ".self_attn.v_proj", keys.hidden, keysAndValues, keys.attentionBias);
  attention.output = spec.linear(path + ".self_attn.o_proj", queries, keys.hidden, keys.attentionBias);
  attention.heads = keys.heads;
  attention.kvHeads = keys.kvHeads;
  attention.scale = 1 / std::sqrt(double(keys.headSize));
  attention.causal = true;
  attention.maskedRows = mlir::xfmr::MaskedRows::LeastMasked;
  attention.rotary = rotary;
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.gate = spec.linear(path + ".mlp.gate_proj", keys.hidden, keys.intermediate, keys.ffnBias);
  ffn.up = spec.linear(path + ".mlp.up_proj", keys.hidden, keys.intermediate, keys.ffnBias);
  ffn.down = spec.linear(path + ".mlp.down_proj", keys.intermediate, keys.hidden, keys.ffnBias);
  ffn.activation = keys.activation;
  layer.attentionNorm = spec.rmsNorm(path + ".input_layernorm", keys.hidden, keys.epsilon);
  layer.ffnNorm = spec.rmsNorm(path + ".post_attention_layernorm", keys.hidden, keys.epsilon);
  spec.decoder->layers.push_back(std::move(layer));
}

static void declareModel(TransformerSpec &spec, const LlamaKeys &keys, const std::string &prefix) {
  StackSpec &stack = spec.decoder.emplace();
  stack.name = "decoder";
  stack.placement = NormPlacement::Pre;
  stack.hidden = keys.hidden;
  stack.maxLength = keys.positions;
  stack.cached = true;
  stack.embeddings.path = prefix + "embed_tokens";
  stack.embeddings.words = spec.tensor(prefix + "embed_tokens.weight", {keys.vocab, keys.hidden});
  if (keys.tied)
    spec.addAlias(stack.embeddings.words, "lm_head.weight");
  declareDecoderInputs(spec, keys.vocab, keys.positions);
  WeightId rotary = spec.computed(prefix + "rotary_emb", {keys.positions, keys.headSize}, "rotary", keys.rotary);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareLayer(spec, keys, rotary, prefix + "layers." + std::to_string(i));
  stack.finalNorm = spec.rmsNorm(prefix + "norm", keys.hidden, keys.epsilon);
}

static void declareLMHead(TransformerSpec &spec, const LlamaKeys &keys) {
  LinearSpec head;
  head.weight = keys.tied ? spec.decoder->embeddings.words : spec.tensor("lm_head.weight", {keys.vocab, keys.hidden});
  spec.outputs.push_back({"logits", {linearStep(head, "lm_head")}});
}

static void declareTokenClassification(TransformerSpec &spec, const LlamaKeys &keys) {
  LinearSpec score = spec.classifier("score", keys.hidden, keys.labels);
  spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), linearStep(score, "score")}});
}

/// Scores of the last token that is not padding.
static void declareSequenceClassification(TransformerSpec &spec, const LlamaKeys &keys) {
  LinearSpec score = spec.classifier("score", keys.hidden, keys.labels, /*bias=*/false);
  spec.outputs.push_back({"logits", {lastTokenStep(keys.padding, "score"), linearStep(score, "score")}});
}

Result<TransformerSpec> attune::readLlamaSpec(const Config &config) {
  static constexpr std::pair<const char *, DeclareHead> heads[] = {
      {"LlamaModel", [](TransformerSpec &spec, const LlamaKeys &) { spec.outputs.push_back({"last_hidden_state", {}}); }},
      {"LlamaForCausalLM", declareLMHead},
      {"LlamaForQuestionAnswering",
       [](TransformerSpec &spec, const LlamaKeys &keys) { declareStartAndEnd(spec, spec.linear("qa_outputs", keys.hidden, 2)); }},
      {"LlamaForSequenceClassification", declareSequenceClassification},
      {"LlamaForTokenClassification", declareTokenClassification},
  };
  ConfigReader reader(config);
  LlamaKeys keys = readKeys(reader, config);
  TransformerSpec spec;
  spec.family = "llama";
  spec.architecture = reader.architecture("LlamaModel");
  spec.basePrefix = spec.architecture == "LlamaForQuestionAnswering" ? "transformer." : "model.";
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  declareModel(spec, keys, head == heads ? "" : spec.basePrefix);
  head->second(spec, keys);
  return spec;
}
