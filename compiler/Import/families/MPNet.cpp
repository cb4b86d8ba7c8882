//===- MPNet.cpp - MPNet ------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT without token types, with positions counted as RoBERTa counts them, and a distance bias that all layers share.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;
using mlir::xfmr::Activation;

/// The number of buckets of distances, half of them for each side, and the distance from which all keys are in the last
/// bucket of their side. They are the defaults of transformers, which it uses whatever the configuration says.
static constexpr int64_t kBuckets = 32, kMaxDistance = 128;

namespace {
struct MPNetKeys : BertKeys {
  /// The number of rows of the table of distance biases. Rows after the first kBuckets are never read.
  int64_t tableRows;
};
} // namespace

static MPNetKeys readMPNetKeys(ConfigReader &reader) {
  MPNetKeys keys{readBertSizes(reader, {30527}), reader.integer("relative_attention_num_buckets", kBuckets, {kBuckets, 1 << 20})};
  keys.types = 0;
  // transformers ignores `pad_token_id`.
  keys.padding = 1;
  rejectRelativePositions(reader);
  rejectPrunedHeads(reader);
  reader.reject("is_decoder", "the family has no decoder");
  return keys;
}

static void declareMPNetLayer(TransformerSpec &spec, const BertKeys &keys, const std::string &path) {
  LayerSpec layer;
  layer.path = path;
  layer.attention = declareWholeAttention(spec, keys, path + ".attention.attn", {"q", "k", "v", "o"});
  layer.attentionNorm = spec.norm(path + ".attention.LayerNorm", keys.hidden, keys.epsilon);
  declareBertFfn(spec, keys, layer);
  spec.encoder->layers.push_back(std::move(layer));
}

static void declareMPNetModel(TransformerSpec &spec, const MPNetKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  declareBertEmbeddings(spec, keys, prefix);
  declareBertInputs(spec, keys);
  countPositions(spec, keys);
  for (int64_t i = 0; i < keys.layers; ++i)
    declareMPNetLayer(spec, keys, prefix + "encoder.layer." + std::to_string(i));
  DistanceBiasSpec &bias = stack.distanceBias.emplace();
  bias.table = spec.tensor(prefix + "encoder.relative_attention_bias.weight", {keys.tableRows, keys.heads});
  if (keys.tableRows > kBuckets)
    bias.table = spec.slice(bias.table, 0, 0, kBuckets);
  bias.bidirectional = true;
  bias.maxDistance = kMaxDistance;
}

Result<TransformerSpec> attune::readMPNetSpec(const Config &config) {
  static const EncoderHeads<MPNetKeys> heads = {
      {"MPNetModel", declareBertOutputs},
      {"MPNetForMaskedLM", declareRobertaMaskedLM},
      {"MPNetForSequenceClassification", declareRobertaClassification},
      {"MPNetForTokenClassification", declareTokenClassification},
      {"MPNetForQuestionAnswering", declareQuestionAnswering},
      {"MPNetForMultipleChoice", declarePooledMultipleChoice},
  };
  return readBertLike(config, "mpnet", "mpnet.", heads, readMPNetKeys, declareMPNetModel);
}
