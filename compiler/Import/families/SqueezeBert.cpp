//===- SqueezeBert.cpp - SqueezeBERT ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT whose projections are in groups: a group of output features depends on one group of input features. The
// projections are computed as whole matrices with zeros outside of the groups:
//
//     a 0    a and b are the matrices of two groups, of half the rows and half the columns
//     0 b
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

namespace {

struct SqueezeBertKeys : BertKeys {
  int64_t query, key, value, result, up, down;
};

} // namespace

static SqueezeBertKeys readSqueezeBertKeys(ConfigReader &reader) {
  SqueezeBertKeys keys;
  static_cast<BertKeys &>(keys) = readBertSizes(reader);
  int64_t embedding = reader.integer("embedding_size", 768, {1, 1 << 24});
  if (embedding != keys.hidden)
    reader.fail("embedding_size", "that of 'hidden_size', which is " + std::to_string(keys.hidden));
  auto groups = [&](const char *key, int64_t fallback, int64_t in, int64_t out) {
    int64_t count = reader.integer(key, fallback, {1, 1 << 16});
    if (in % count != 0 || out % count != 0)
      reader.fail(key, "a divisor of " + std::to_string(in) + " and " + std::to_string(out) + " features");
    return count;
  };
  keys.query = groups("q_groups", 4, keys.hidden, keys.hidden);
  keys.key = groups("k_groups", 4, keys.hidden, keys.hidden);
  keys.value = groups("v_groups", 4, keys.hidden, keys.hidden);
  keys.result = groups("post_attention_groups", 1, keys.hidden, keys.hidden);
  keys.up = groups("intermediate_groups", 4, keys.hidden, keys.intermediate);
  keys.down = groups("output_groups", 4, keys.intermediate, keys.hidden);
  rejectPrunedHeads(reader);
  reader.reject("is_decoder", "transformers has no decoder of this family");
  return keys;
}

/// Declares the projection |name| in |groups| groups. Its tensor, `[out, in / groups, 1]`, is that of a convolution
/// over single tokens.
static LinearSpec declareGrouped(TransformerSpec &spec, const std::string &name, int64_t in, int64_t out, int64_t groups) {
  int64_t columns = in / groups, rows = out / groups;
  WeightId weight = spec.reshape(spec.tensor(name + ".weight", {out, columns, 1}), {out, columns});
  std::vector<WeightId> parts;
  for (int64_t group = 0; group < groups; ++group) {
    std::vector<WeightId> row;
    if (group > 0)
      row.push_back(spec.fill(name + ".before", {rows, group * columns}, 0));
    row.push_back(groups == 1 ? weight : spec.slice(weight, 0, group * rows, (group + 1) * rows));
    if (group + 1 < groups)
      row.push_back(spec.fill(name + ".after", {rows, in - (group + 1) * columns}, 0));
    parts.push_back(row.size() == 1 ? row.front() : spec.concat(1, std::move(row)));
  }
  LinearSpec linear;
  linear.weight = groups == 1 ? parts.front() : spec.concat(0, std::move(parts));
  linear.bias = spec.tensor(name + ".bias", {out});
  return linear;
}

static void declareSqueezeBertLayer(TransformerSpec &spec, const SqueezeBertKeys &keys, const std::string &path) {
  constexpr double epsilon = 1e-12; // of the norms in a layer; `layer_norm_eps` does not apply to them
  int64_t hidden = keys.hidden, inner = keys.intermediate;
  LayerSpec layer;
  layer.path = path;
  AttentionSpec &attention = layer.attention.emplace();
  attention.query = declareGrouped(spec, path + ".attention.query", hidden, hidden, keys.query);
  attention.key = declareGrouped(spec, path + ".attention.key", hidden, hidden, keys.key);
  attention.value = declareGrouped(spec, path + ".attention.value", hidden, hidden, keys.value);
  attention.output = declareGrouped(spec, path + ".post_attention.conv1d", hidden, hidden, keys.result);
  setWholeAttention(attention, keys);
  // The output `attentions` of transformers has masked scores, not probabilities.
  attention.scoreStage = mlir::xfmr::ScoreStage::Masked;
  layer.attentionNorm = spec.norm(path + ".post_attention.layernorm", hidden, epsilon);
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = declareGrouped(spec, path + ".intermediate.conv1d", hidden, inner, keys.up);
  ffn.down = declareGrouped(spec, path + ".output.conv1d", inner, hidden, keys.down);
  ffn.activation = keys.activation;
  layer.ffnNorm = spec.norm(path + ".output.layernorm", hidden, epsilon);
  spec.encoder->layers.push_back(std::move(layer));
}

static void declareSqueezeBertModel(TransformerSpec &spec, const SqueezeBertKeys &keys, const std::string &prefix) {
  declareBertStack(spec, keys);
  declareBertEmbeddings(spec, keys, prefix);
  declareBertInputs(spec, keys);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareSqueezeBertLayer(spec, keys, prefix + "encoder.layers." + std::to_string(i));
}

Result<TransformerSpec> attune::readSqueezeBertSpec(const Config &config) {
  static const EncoderHeads<SqueezeBertKeys> heads = {
      {"SqueezeBertModel", declareBertOutputs},
      {"SqueezeBertForMaskedLM", declareBertMaskedLM},
      {"SqueezeBertForSequenceClassification", declareBertClassification},
      {"SqueezeBertForTokenClassification", declareTokenClassification},
      {"SqueezeBertForQuestionAnswering", declareQuestionAnswering},
      {"SqueezeBertForMultipleChoice", declarePooledMultipleChoice},
  };
  return readBertLike(config, "squeezebert", "transformer.", heads, readSqueezeBertKeys, declareSqueezeBertModel);
}
