//===- CausalDecoder.cpp - Decoders without encoders ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/DecoderParts.h"
#include "compiler/Import/PruneHeads.h"

#include <cmath>

using namespace attune;

double DecoderKeys::headScale() const { return 1 / std::sqrt(double(headSize)); }

DecoderKeys attune::readDecoderKeys(ConfigReader &reader, const DecoderDefaults &defaults) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  DecoderKeys keys;
  keys.vocab = reader.integer("vocab_size", defaults.vocab, ids);
  keys.hidden = reader.integer(defaults.hiddenKey, defaults.otherHiddenKey, defaults.hidden, size);
  keys.layers = reader.integer(defaults.layersKey, "num_hidden_layers", defaults.layers, layers);
  keys.heads = reader.integer(defaults.headsKey, "num_attention_heads", defaults.heads, size);
  bool readsKeyHeads = defaults.headKeys != HeadKeys::None, readsHeadSize = defaults.headKeys == HeadKeys::All;
  // Without the key the number of key heads is the family's default; null means the number of query heads.
  bool hasKeyHeads = readsKeyHeads && reader.knows("num_key_value_heads");
  keys.kvHeads = hasKeyHeads || defaults.kvHeads == 0 ? keys.heads : defaults.kvHeads;
  if (readsKeyHeads)
    keys.kvHeads = reader.integerOrNull("num_key_value_heads", keys.kvHeads, size);
  keys.intermediate =
      reader.integerOrNull(defaults.intermediateKey, defaults.intermediate == 0 ? 4 * keys.hidden : defaults.intermediate, size);
  keys.positions = reader.integer(defaults.positionsKey, "max_position_embeddings", defaults.positions, size);
  keys.epsilon = reader.number(defaults.epsilonKey, defaults.epsilon, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : 0.1;
  keys.activation = readActivation(reader, defaults.activationKey, defaults.activation);
  keys.tied = reader.flag("tie_word_embeddings", defaults.tied);
  keys.labels = reader.labels();
  keys.tokenBias = reader.flag("token_classification_bias", true);
  keys.padding = reader.knows("pad_token_id") ? std::nullopt : defaults.padding;
  if (reader.present("pad_token_id"))
    keys.padding = reader.integer("pad_token_id", 0, {-1, int64_t(1) << 31});
  bool hasHeadSize = readsHeadSize && reader.present("head_dim");
  bool derivesHeadSize = defaults.headSize == 0 || (readsHeadSize && reader.knows("head_dim"));
  if (!hasHeadSize && derivesHeadSize && keys.hidden % keys.heads != 0)
    reader.fail(defaults.hiddenKey, std::string("a multiple of '") + defaults.headsKey + "', which is " + std::to_string(keys.heads));
  keys.headSize = derivesHeadSize ? keys.hidden / keys.heads : defaults.headSize;
  if (readsHeadSize)
    keys.headSize = reader.integerOrNull("head_dim", keys.headSize, size);
  if (keys.heads % keys.kvHeads != 0)
    reader.fail("num_key_value_heads", "a divisor of 'num_attention_heads', which is " + std::to_string(keys.heads));
  keys.causal = !defaults.bidirectional || reader.flag("is_causal", true);
  if (!defaults.bidirectional)
    requireCausal(reader);
  rejectPrunedHeads(reader);
  return keys;
}

std::vector<std::optional<int64_t>> attune::readWindows(ConfigReader &reader, const Config &config, int64_t layers,
                                                        std::optional<int64_t> window, llvm::function_ref<bool(int64_t)> isSliding) {
  std::vector<std::optional<int64_t>> windows(layers);
  const Json *types = reader.present("layer_types") ? config.find("layer_types") : nullptr;
  if (types && (!types->is_array() || int64_t(types->size()) != layers)) {
    reader.fail("layer_types", "a list of " + std::to_string(layers) + " types of layers, as 'num_hidden_layers' says");
    return windows;
  }
  for (int64_t i = 0; i < layers; ++i) {
    bool sliding = window && isSliding(i);
    if (types) {
      const Json &type = (*types)[i];
      sliding = type == "sliding_attention";
      if (!sliding && type != "full_attention" && type != "attention") {
        reader.fail("layer_types", "types 'full_attention' and 'sliding_attention'");
        return windows;
      }
      if (sliding && !window) {
        reader.fail("sliding_window", "the tokens of a window, as 'layer_types' has layers of 'sliding_attention'");
        return windows;
      }
    }
    if (sliding)
      windows[i] = window;
  }
  return windows;
}

std::optional<int64_t> attune::readWindow(ConfigReader &reader, std::optional<int64_t> fallback) {
  if (!reader.knows("sliding_window"))
    return fallback;
  constexpr IntegerRange tokens = {1, int64_t(1) << 31};
  return reader.present("sliding_window") ? std::optional(reader.integer("sliding_window", 0, tokens)) : std::nullopt;
}

AttentionSpec attune::declareDecoderAttention(TransformerSpec &spec, const DecoderKeys &keys, const std::string &path,
                                              AttentionBiases biases) {
  AttentionSpec attention;
  attention.query = spec.linear(path + ".q_proj", keys.hidden, keys.queryFeatures(), biases.queryKeyValue);
  attention.key = spec.linear(path + ".k_proj", keys.hidden, keys.keyFeatures(), biases.queryKeyValue);
  attention.value = spec.linear(path + ".v_proj", keys.hidden, keys.keyFeatures(), biases.queryKeyValue);
  attention.output = spec.linear(path + ".o_proj", keys.queryFeatures(), keys.hidden, biases.output);
  setDecoderAttention(attention, keys);
  return attention;
}

void attune::setDecoderAttention(AttentionSpec &attention, const DecoderKeys &keys) {
  attention.heads = keys.heads;
  attention.kvHeads = keys.kvHeads;
  attention.scale = keys.headScale();
  attention.causal = keys.causal;
  attention.maskedRows = keys.maskedRows;
}

FfnSpec attune::declareGatedFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &path, bool bias) {
  FfnSpec ffn;
  ffn.gate = spec.linear(path + ".gate_proj", keys.hidden, keys.intermediate, bias);
  ffn.up = spec.linear(path + ".up_proj", keys.hidden, keys.intermediate, bias);
  ffn.down = spec.linear(path + ".down_proj", keys.intermediate, keys.hidden, bias);
  ffn.activation = keys.activation;
  return ffn;
}

FfnSpec attune::declareJoinedFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &joined, const std::string &down) {
  LinearSpec gateAndUp = spec.linear(joined, keys.hidden, 2 * keys.intermediate, /*bias=*/false);
  FfnSpec ffn;
  ffn.gate = spec.features(gateAndUp, 0, keys.intermediate);
  ffn.up = spec.features(gateAndUp, keys.intermediate, 2 * keys.intermediate);
  ffn.down = spec.linear(down, keys.intermediate, keys.hidden, /*bias=*/false);
  ffn.activation = keys.activation;
  return ffn;
}

FfnSpec attune::declarePlainFfn(TransformerSpec &spec, const DecoderKeys &keys, const std::string &up, const std::string &down, bool bias) {
  FfnSpec ffn;
  ffn.up = spec.linear(up, keys.hidden, keys.intermediate, bias);
  ffn.down = spec.linear(down, keys.intermediate, keys.hidden, bias);
  ffn.activation = keys.activation;
  return ffn;
}

void attune::setWindow(AttentionSpec &attention, std::optional<int64_t> window) {
  if (!window)
    return;
  attention.windowLeft = *window - (attention.causal ? 1 : 0);
  if (!attention.causal)
    attention.windowRight = *window;
}

std::string CausalDecoder::modelClass() const { return classes.model ? classes.model : std::string(classes.prefix) + "Model"; }

std::string CausalDecoder::classifierClass() const {
  return classes.classifier ? classes.classifier : std::string(classes.prefix) + "ForSequenceClassification";
}

void CausalDecoder::declareStack(TransformerSpec &spec, const std::string &prefix) {
  StackSpec &stack = spec.decoder.emplace();
  stack.name = "decoder";
  stack.placement = placement;
  stack.hidden = keys.hidden;
  stack.maxLength = keys.positions;
  stack.cached = keys.causal;
  stack.embeddings.path = prefix + names.words;
  stack.embeddings.words = spec.tensor(stack.embeddings.path + ".weight", {keys.vocab, getWordFeatures()});
  stack.embeddings.scale = embeddingScale;
  stack.embeddings.scalesGivenVectors = scalesGivenVectors;
  if (keys.tied)
    spec.addAlias(stack.embeddings.words, std::string(names.head) + ".weight");
  declareDecoderInputs(spec, keys.vocab, keys.positions);
  if (!hasPositions)
    spec.inputs.pop_back();
  if (countsMask) {
    stack.embeddings.countsMask = true;
    // Hidden tokens have the row before that of position 0.
    stack.embeddings.countedAfter = 0;
    spec.inputs.back().standard = false;
    spec.inputs.back().required = true;
  }
  if (!wordTypes)
    return;
  stack.embeddings.types = stack.embeddings.words;
  stack.embeddings.typesIfGiven = true;
  spec.inputs.push_back({"token_type_ids", InputRole::TokenTypes, keys.vocab, /*standard=*/false, StackRole::Decoder, false, true});
}

void CausalDecoder::declareHead(TransformerSpec &spec) {
  const std::string prefix = classes.prefix;
  const std::string kind = spec.architecture == modelClass()        ? "Model"
                           : spec.architecture == classifierClass() ? "ForSequenceClassification"
                                                                    : spec.architecture.substr(prefix.size());
  if (kind == "Model") {
    spec.outputs.push_back({"last_hidden_state", {}});
  } else if (kind == classes.causal) {
    LinearSpec words;
    const std::string name = names.head;
    words.weight = keys.tied ? spec.decoder->embeddings.words : spec.tensor(name + ".weight", {keys.vocab, getWordFeatures()});
    if (head.unitRows)
      words.weight = spec.unitRows(words.weight);
    if (head.bias)
      words.bias = spec.tensor(name + ".bias", {keys.vocab});
    OutputSpec logits{"logits", {linearStep(words, name)}};
    if (head.scale != 1)
      logits.steps.push_back(scaleStep(head.scale, name + ".scale"));
    if (head.softcap)
      logits.steps.push_back(softcapStep(*head.softcap, name + ".softcap"));
    spec.outputs.push_back(std::move(logits));
  } else if (kind == "ForSequenceClassification" && scoreSequence) {
    spec.outputs.push_back({"logits", scoreSequence(spec)});
  } else if (kind == "ForSequenceClassification") {
    LinearSpec score = spec.classifier("score", getWordFeatures(), keys.labels, /*bias=*/false);
    HeadStep last = classes.countsVisible ? lastTokenStep(keys.padding, "score") : lastVisibleStep(keys.padding, "score");
    spec.outputs.push_back({"logits", {last, linearStep(score, "score")}});
  } else if (kind == "ForTokenClassification") {
    bool bias = keys.tokenBias || llvm::StringRef(names.tokenClassifier) != "score";
    LinearSpec score = spec.classifier(names.tokenClassifier, getWordFeatures(), keys.labels, bias);
    spec.outputs.push_back({"logits", {dropoutStep(keys.classifierDropout, "dropout"), linearStep(score, names.tokenClassifier)}});
  } else {
    declareStartAndEnd(spec, spec.linear("qa_outputs", getWordFeatures(), 2));
  }
}

Result<TransformerSpec> CausalDecoder::declare(const DeclareDecoderLayer &layer) {
  const std::string prefix = classes.prefix;
  std::vector<std::pair<std::string, bool>> known = {{modelClass(), true}, {prefix + classes.causal, true}};
  if (classes.sequence || classes.classifier)
    known.emplace_back(classifierClass(), true);
  if (classes.token)
    known.emplace_back(prefix + "ForTokenClassification", true);
  if (classes.questionAnswering)
    known.emplace_back(prefix + "ForQuestionAnswering", true);
  TransformerSpec spec;
  spec.family = classes.family;
  spec.architecture = reader.architecture(modelClass().c_str());
  if (llvm::StringRef rest = spec.architecture; classes.olderPrefix && rest.consume_front(classes.olderPrefix))
    spec.architecture = prefix + rest.str();
  reader.choose("architectures", spec.architecture, known);
  if (reader.status().failed())
    return reader.status();
  bool answers = spec.architecture == prefix + "ForQuestionAnswering";
  spec.basePrefix = answers ? classes.questionAnswering : names.base;
  const std::string base = spec.architecture == modelClass() ? "" : spec.basePrefix;
  declareStack(spec, base);
  if (rope)
    rotary = declareRope(spec, base + "rotary_emb", *rope, keys.positions);
  if (slidingRope)
    slidingRotary = declareRope(spec, base + "rotary_emb_local", *slidingRope, keys.positions);
  if (tables)
    tables(spec, base);
  for (int64_t i = 0; i < keys.layers; ++i) {
    const std::string path = base + names.layers + "." + std::to_string(i);
    LayerSpec declared = layer(spec, i, path);
    declared.path = path;
    spec.decoder->layers.push_back(std::move(declared));
  }
  if (hasFinalNorm)
    spec.decoder->finalNorm = norm(spec, base + names.norm);
  declareHead(spec);
  return spec;
}
