//===- DebertaBase.cpp - Shared parts of the versions of DeBERTa ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT whose scores have terms for the distance between query i and key j ("disentangled attention"):
//
//     scale * (q_i . k_j  +  q_i . K[d(i - j)]  +  k_j . Q[d(i - j)])
//
// q_i is the query and k_j the key. All layers share one table with a vector for each distance; K and Q are its
// projections to keys and to queries. They depend on weights alone and are computed when weights are packed. d() clamps
// distances or maps them to buckets, which a selection of rows of K and Q expresses.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/DebertaBase.h"

#include <algorithm>
#include <cmath>

using namespace attune;

DebertaKeys attune::readDebertaKeys(ConfigReader &reader, const DebertaDefaults &defaults) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  DebertaKeys keys;
  keys.vocab = reader.integer("vocab_size", defaults.vocab, ids);
  keys.hidden = reader.integer("hidden_size", defaults.hidden, size);
  keys.embedding = reader.integer("embedding_size", keys.hidden, size);
  keys.layers = reader.integer("num_hidden_layers", defaults.layers, layers);
  keys.heads = reader.integer("num_attention_heads", defaults.heads, size);
  keys.intermediate = reader.integer("intermediate_size", defaults.intermediate, size);
  keys.positions = reader.integer("max_position_embeddings", 512, {1, 1 << 16});
  keys.types = reader.integer("type_vocab_size", 0, {0, ids.max});
  keys.epsilon = reader.number("layer_norm_eps", 1e-7, 0, 1);
  keys.dropout = reader.number("hidden_dropout_prob", 0.1, 0, 1);
  keys.classifierDropout = reader.present("cls_dropout") ? reader.number("cls_dropout", 0, 0, 1) : keys.dropout;
  keys.activation = readActivation(reader, "hidden_act", "gelu");
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  keys.legacy = reader.flag("legacy", true);
  keys.poolerDropout = reader.number("pooler_dropout", 0, 0, 1);
  keys.poolerActivation = readActivation(reader, "pooler_hidden_act", "gelu");
  keys.positionsAdded = reader.flag("position_biased_input", true);
  if (keys.hidden % keys.heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(keys.heads));
  if (reader.integer("pooler_hidden_size", keys.hidden, size) != keys.hidden)
    reader.fail("pooler_hidden_size", std::to_string(keys.hidden) + ", as 'hidden_size' is");

  keys.relative = reader.flag("relative_attention", false);
  for (const std::string &word : reader.words("pos_att_type")) {
    if (word != "c2p" && word != "p2c")
      reader.fail("pos_att_type", "c2p, p2c or both");
    (word == "c2p" ? keys.positionKeys : keys.positionQueries) = true;
    ++keys.terms;
  }
  int64_t distance = reader.integer("max_relative_positions", -1, {-(1 << 16), 1 << 16});
  keys.maxDistance = distance < 1 ? keys.positions : distance;
  rejectPrunedHeads(reader);
  for (const char *key : {"is_decoder", "add_cross_attention", "is_encoder_decoder"})
    reader.reject(key, "the model is an encoder");
  return keys;
}

StackSpec &attune::declareDebertaStack(TransformerSpec &spec, const DebertaKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  stack.maxLength = keys.positionsAdded ? keys.positions : 0;
  stack.masksQueries = true;
  spec.inputs = {{"input_ids", InputRole::TokenIds, keys.vocab},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false},
                 {"attention_mask", InputRole::AttentionMask},
                 {"token_type_ids", InputRole::TokenTypes, keys.types, /*standard=*/keys.types != 0},
                 {"position_ids", InputRole::Positions, keys.positions, /*standard=*/keys.positionsAdded}};
  EmbeddingSpec &embeddings = stack.embeddings;
  embeddings.path = prefix + "embeddings";
  embeddings.words = spec.tensor(embeddings.path + ".word_embeddings.weight", {keys.vocab, keys.embedding});
  if (keys.positionsAdded)
    embeddings.positions = spec.tensor(embeddings.path + ".position_embeddings.weight", {keys.positions, keys.embedding});
  if (keys.types != 0)
    embeddings.types = spec.tensor(embeddings.path + ".token_type_embeddings.weight", {keys.types, keys.embedding});
  if (keys.embedding != keys.hidden)
    embeddings.projection = spec.linear(embeddings.path + ".embed_proj", keys.embedding, keys.hidden, /*bias=*/false);
  embeddings.projectsBeforeNorm = true;
  embeddings.norm = spec.norm(embeddings.path + ".LayerNorm", keys.hidden, keys.epsilon);
  embeddings.zeroesHidden = true;
  embeddings.dropout = keys.dropout;
  return stack;
}

void attune::declareDebertaLayer(TransformerSpec &spec, const DebertaKeys &keys, const std::string &path, AttentionSpec attention) {
  LayerSpec layer;
  layer.path = path;
  attention.heads = attention.kvHeads = attention.originalHeads = keys.heads;
  attention.scale = 1 / std::sqrt(double(keys.headSize()) * double(1 + keys.terms));
  attention.output = spec.linear(path + ".attention.output.dense", keys.hidden, keys.hidden);
  layer.attention = attention;
  layer.attentionNorm = spec.norm(path + ".attention.output.LayerNorm", keys.hidden, keys.epsilon);
  declareBertFfn(spec, keys, layer);
  spec.encoder->layers.push_back(std::move(layer));
}

/// Returns the bucket of |distance|, which has the sign of the distance; without buckets, |distance| itself. Rounds
/// every result to f32, as transformers does: exact arithmetic may give another bucket for a distance at a boundary.
static int64_t bucketOf(const DebertaKeys &keys, int64_t distance) {
  int64_t half = keys.buckets / 2, size = std::abs(distance);
  if (keys.buckets <= 0 || size <= half)
    return distance;
  float ratio = std::log(float(size) / float(half)) / std::log(float(double(keys.maxDistance - 1) / double(half)));
  int64_t bucket = int64_t(std::ceil(ratio * float(half - 1))) + half;
  return distance < 0 ? -bucket : bucket;
}

/// Returns the row of the table for |distance|: the bucket plus half the number of rows, clamped to the table.
static int64_t rowOf(const DebertaKeys &keys, int64_t distance) {
  return std::clamp<int64_t>(bucketOf(keys, distance) + keys.distanceRows() / 2, 0, keys.distanceRows() - 1);
}

int64_t attune::lastDistance(const DebertaKeys &keys) {
  constexpr int64_t most = (1 << 16) + 1;
  int64_t distance = keys.maxDistance;
  // With two or three buckets no distance reaches the ends of the table.
  if (keys.buckets / 2 != 1)
    while (distance < most && (rowOf(keys, distance) != keys.distanceRows() - 1 || rowOf(keys, -distance) != 0))
      ++distance;
  return keys.positionsAdded ? std::min(distance, keys.positions - 1) : distance;
}

WeightId attune::projectDistances(TransformerSpec &spec, const DebertaKeys &keys, WeightId table, const LinearSpec &linear) {
  std::vector<int64_t> rows;
  for (int64_t last = lastDistance(keys), distance = -last; distance <= last; ++distance)
    rows.push_back(rowOf(keys, distance));
  return spec.select(spec.project(table, linear.weight, linear.bias), 0, std::move(rows));
}

/// Declares the pooler and returns its steps: the activation of a projection of the first token.
static std::vector<HeadStep> declarePooler(TransformerSpec &spec, const DebertaKeys &keys) {
  return {poolStep(mlir::xfmr::PoolKind::First, "pooler"), dropoutStep(keys.poolerDropout, "pooler.dropout"),
          linearStep(spec.linear("pooler.dense", keys.hidden, keys.hidden), "pooler.dense"),
          activationStep(keys.poolerActivation, "pooler")};
}

static void declareClassification(TransformerSpec &spec, const DebertaKeys &keys) {
  std::vector<HeadStep> steps = declarePooler(spec, keys);
  steps.push_back(dropoutStep(keys.classifierDropout, "dropout"));
  steps.push_back(linearStep(spec.classifier("classifier", keys.hidden, keys.labels), "classifier"));
  spec.outputs.push_back({"logits", std::move(steps)});
}

/// Declares the scores of all words for every token. The head projects each token to as many features as the word table
/// has, then applies this table.
static void declareDebertaBaseMaskedLM(TransformerSpec &spec, const DebertaKeys &keys) {
  const std::string path = keys.legacy ? "cls.predictions" : "lm_predictions.lm_head", transform = keys.legacy ? path + ".transform" : path;
  int64_t features = keys.legacy ? keys.embedding : keys.hidden;
  LinearSpec dense = spec.linear(transform + ".dense", keys.hidden, features), words;
  NormSpec norm = spec.norm(transform + ".LayerNorm", features, keys.epsilon);
  words.weight = keys.legacy ? bertDecoderTable(spec, keys, path + ".decoder.weight") : spec.encoder->embeddings.words;
  bool isTied = !keys.legacy || keys.tied; // the bias is tied if the weight is
  words.bias =
      isTied ? spec.tensor(path + ".bias", {keys.vocab}, {path + ".decoder.bias"}) : spec.tensor(path + ".decoder.bias", {keys.vocab});
  spec.outputs.push_back({"logits",
                          {linearStep(dense, transform + ".dense"), activationStep(keys.activation, transform),
                           normStep(norm, transform + ".LayerNorm"), linearStep(words, path + ".decoder")}});
}

Result<TransformerSpec> attune::readDeberta(const Config &config, const char *family, const std::string &className, bool choices,
                                            DebertaKeys (*readKeys)(ConfigReader &),
                                            void (*declare)(TransformerSpec &, const DebertaKeys &, const std::string &prefix)) {
  using DeclareHead = void (*)(TransformerSpec &, const DebertaKeys &);
  std::vector<std::pair<std::string, DeclareHead>> heads = {
      {className + "Model", [](TransformerSpec &spec, const DebertaKeys &) { spec.outputs.push_back({"last_hidden_state", {}}); }},
      {className + "ForMaskedLM", declareDebertaBaseMaskedLM},
      {className + "ForSequenceClassification", declareClassification},
      {className + "ForTokenClassification",
       [](TransformerSpec &spec, const DebertaKeys &keys) { declareTokenClassification(spec, keys, ""); }},
      {className + "ForQuestionAnswering",
       [](TransformerSpec &spec, const DebertaKeys &keys) { declareQuestionAnswering(spec, keys, ""); }},
  };
  if (choices)
    heads.push_back({className + "ForMultipleChoice",
                     [](TransformerSpec &spec, const DebertaKeys &keys) { declareMultipleChoice(spec, keys, declarePooler(spec, keys)); }});
  ConfigReader reader(config);
  DebertaKeys keys = readKeys(reader);
  TransformerSpec spec;
  spec.family = family;
  spec.architecture = reader.architecture(heads.front().first.c_str());
  spec.basePrefix = "deberta.";
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (head == &heads[1] && !keys.legacy && keys.embedding != keys.hidden)
    reader.fail("embedding_size", std::to_string(keys.hidden) + ", as 'hidden_size' is, where 'legacy' is false");
  if (head == &heads[4] && keys.labels != 2)
    reader.fail(reader.present("id2label") ? "id2label" : "num_labels", "2 labels, the start and the end of an answer");
  if (reader.status().failed())
    return reader.status();
  std::string prefix = head == &heads.front() ? "" : spec.basePrefix;
  declare(spec, keys, prefix);
  head->second(spec, keys);
  return spec;
}
