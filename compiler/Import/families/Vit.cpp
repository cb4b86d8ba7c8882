//===- Vit.cpp - ViT: images as sequences of patches ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Encoder layers with norms before the branches, over projected patches and a class token. Defaults are those of
// transformers' ViTConfig.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"
#include "compiler/Import/PruneHeads.h"

#include <cmath>
#include <tuple>

using namespace attune;
using mlir::xfmr::Activation;

namespace {

/// The values of ViT's keys.
struct VitKeys {
  int64_t hidden, layers, heads, intermediate, channels, labels, pooled;
  /// Height and width, in pixels.
  std::pair<int64_t, int64_t> image, patch;
  double epsilon, dropout;
  Activation activation, poolerActivation;
  bool bias;
  HeadsByLayer pruned;
};

using DeclareVitHead = void (*)(TransformerSpec &spec, const VitKeys &keys, const std::string &prefix);

} // namespace

static VitKeys readVitKeys(ConfigReader &reader) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12};
  VitKeys keys;
  keys.hidden = reader.integer("hidden_size", 768, size);
  keys.layers = reader.integer("num_hidden_layers", 12, layers);
  keys.heads = reader.integer("num_attention_heads", 12, size);
  keys.intermediate = reader.integer("intermediate_size", 3072, size);
  keys.channels = reader.integer("num_channels", 3, size);
  keys.image = reader.integerPair("image_size", 224, size);
  keys.patch = reader.integerPair("patch_size", 16, size);
  keys.labels = reader.labels();
  keys.epsilon = reader.number("layer_norm_eps", 1e-12, 0, 1);
  keys.dropout = reader.number("hidden_dropout_prob", 0, 0, 1);
  keys.activation = readActivation(reader, "hidden_act", "gelu");
  keys.bias = reader.flag("qkv_bias", true);
  if (keys.hidden % keys.heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(keys.heads));
  if (keys.patch.first > keys.image.first || keys.patch.second > keys.image.second)
    reader.fail("patch_size",
                "at most the size of the image, which is " + std::to_string(keys.image.first) + " by " + std::to_string(keys.image.second));
  keys.pooled = reader.integerOrNull("pooler_output_size", keys.hidden, size);
  keys.poolerActivation = readActivation(reader, "pooler_act", "tanh");
  keys.pruned = readPrunedHeads(reader, keys.layers, keys.heads);
  return keys;
}

static void declareVitEmbeddings(TransformerSpec &spec, const VitKeys &keys, const std::string &path) {
  EmbeddingSpec &embeddings = spec.encoder->embeddings;
  embeddings.path = path;
  embeddings.dropout = keys.dropout;
  PatchSpec &patches = embeddings.patches.emplace();
  patches.channels = keys.channels;
  std::tie(patches.height, patches.width) = keys.image;
  std::tie(patches.patchHeight, patches.patchWidth) = keys.patch;
  WeightId classToken = spec.reshape(spec.tensor(path + ".cls_token", {1, 1, keys.hidden}), {1, keys.hidden});
  patches.classTable = spec.concat(0, {classToken, spec.fill(path + ".no_token", {1, keys.hidden}, 0)});
  embeddings.positions =
      spec.reshape(spec.tensor(path + ".position_embeddings", {1, patches.tokens(), keys.hidden}), {patches.tokens(), keys.hidden});
  // A convolution whose kernels do not overlap is a projection of each patch.
  const std::string projection = path + ".patch_embeddings.projection";
  auto [height, width] = keys.patch;
  patches.projection.weight = spec.reshape(spec.tensor(projection + ".weight", {keys.hidden, keys.channels, height, width}),
                                           {keys.hidden, keys.channels * height * width});
  patches.projection.bias = spec.tensor(projection + ".bias", {keys.hidden});
  spec.inputs = {{"pixel_values", InputRole::Image}, {"head_mask", InputRole::HeadMask, 0, /*standard=*/false}};
}

static void declareVitLayer(TransformerSpec &spec, const VitKeys &keys, const std::string &path, const std::vector<int64_t> &heads) {
  LayerSpec layer;
  layer.path = path;
  AttentionSpec &attention = layer.attention.emplace();
  int64_t headSize = keys.hidden / keys.heads, inner = headSize * int64_t(heads.size());
  attention.query = spec.linear(path + ".attention.attention.query", keys.hidden, inner, keys.bias);
  attention.key = spec.linear(path + ".attention.attention.key", keys.hidden, inner, keys.bias);
  attention.value = spec.linear(path + ".attention.attention.value", keys.hidden, inner, keys.bias);
  attention.output = spec.linear(path + ".attention.output.dense", inner, keys.hidden);
  attention.heads = attention.kvHeads = int64_t(heads.size());
  attention.originalHeads = keys.heads;
  attention.headNumbers = heads;
  attention.scale = 1 / std::sqrt(double(headSize));
  FfnSpec &ffn = layer.ffn.emplace();
  ffn.up = spec.linear(path + ".intermediate.dense", keys.hidden, keys.intermediate);
  ffn.down = spec.linear(path + ".output.dense", keys.intermediate, keys.hidden);
  ffn.activation = keys.activation;
  layer.attentionNorm = spec.norm(path + ".layernorm_before", keys.hidden, keys.epsilon);
  layer.ffnNorm = spec.norm(path + ".layernorm_after", keys.hidden, keys.epsilon);
  spec.encoder->layers.push_back(std::move(layer));
}

static void declareBase(TransformerSpec &spec, const VitKeys &keys, const std::string &prefix) {
  LinearSpec dense = spec.linear(prefix + "pooler.dense", keys.hidden, keys.pooled);
  spec.outputs.push_back({"last_hidden_state", {}});
  spec.outputs.push_back({"pooler_output",
                          {poolStep(mlir::xfmr::PoolKind::First, prefix + "pooler"), linearStep(dense, prefix + "pooler.dense"),
                           activationStep(keys.poolerActivation, prefix + "pooler")}});
}

static void declareImageClassification(TransformerSpec &spec, const VitKeys &keys, const std::string &) {
  LinearSpec classifier = spec.classifier("classifier", keys.hidden, keys.labels);
  spec.outputs.push_back({"logits", {poolStep(mlir::xfmr::PoolKind::First, "classifier"), linearStep(classifier, "classifier")}});
}

Result<TransformerSpec> attune::readVitSpec(const Config &config) {
  static constexpr std::pair<const char *, DeclareVitHead> heads[] = {
      {"ViTModel", declareBase},
      {"ViTForImageClassification", declareImageClassification},
  };
  ConfigReader reader(config);
  VitKeys keys = readVitKeys(reader);
  TransformerSpec spec;
  spec.family = "vit";
  spec.architecture = reader.architecture("ViTModel");
  spec.basePrefix = "vit.";
  const auto *head = reader.choose("architectures", spec.architecture, heads);
  if (reader.status().failed())
    return reader.status();
  std::string prefix = head == heads ? "" : spec.basePrefix;

  StackSpec &stack = spec.encoder.emplace();
  stack.name = "encoder";
  stack.placement = NormPlacement::Pre;
  stack.dropout = keys.dropout;
  stack.hidden = keys.hidden;
  stack.lastStateNormed = false;
  declareVitEmbeddings(spec, keys, prefix + "embeddings");
  for (int64_t i = 0; i < keys.layers; ++i)
    declareVitLayer(spec, keys, prefix + "encoder.layer." + std::to_string(i), remainingHeads(keys.pruned, i, keys.heads));
  spec.encoder->finalNorm = spec.norm(prefix + "layernorm", keys.hidden, keys.epsilon);
  head->second(spec, keys, prefix);
  return spec;
}
