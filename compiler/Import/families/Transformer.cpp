//===- Transformer.cpp - Encoder and decoder over feature vectors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The model of "Attention Is All You Need" without embeddings of words. `position_encoding` and `cross_attention` each
// choose between the form of the paper and that of a published code listing, the default. Each head projects to
// dim_model / num_heads features, rounded down, so the joined heads may be narrower than the model.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;

namespace {

/// The values of the family's keys.
struct Keys {
  int64_t hidden, heads, encoderLayers, decoderLayers, inner;
  double epsilon, dropout;
  mlir::xfmr::Activation activation;
  bool causal;
  /// True if positions, or cross attention, have the form of the published listing instead of that of the paper.
  bool listedPositions, listedCross;
};

} // namespace

/// The number of rows of the paper's table of positions, and with it the largest length of a sequence.
static constexpr int64_t maxPositions = 4096;

static bool readTransformerVariant(ConfigReader &reader, const char *key, const char *paper) {
  std::string value = reader.string(key, "listing");
  if (value != "listing" && value != paper)
    reader.fail(key, std::string("\"") + paper + "\" or \"listing\"");
  return value == "listing";
}

static Keys readTransformerKeys(ConfigReader &reader) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12};
  Keys keys;
  keys.hidden = reader.integer("dim_model", 512, size);
  keys.heads = reader.integer("num_heads", 6, {1, keys.hidden});
  keys.encoderLayers = reader.integer("num_encoder_layers", 6, layers);
  keys.decoderLayers = reader.integer("num_decoder_layers", 6, layers);
  keys.inner = reader.integer("dim_feedforward", 2048, size);
  keys.epsilon = reader.number("layer_norm_eps", 1e-5, 0, 1);
  keys.dropout = reader.number("dropout", 0.1, 0, 1);
  keys.activation = readActivation(reader, "activation", "relu");
  keys.causal = reader.flag("causal", false);
  keys.listedPositions = readTransformerVariant(reader, "position_encoding", "sinusoidal");
  keys.listedCross = readTransformerVariant(reader, "cross_attention", "standard");
  return keys;
}

/// Declares an attention; the projections of its heads are joined.
static AttentionSpec declareTransformerAttention(TransformerSpec &spec, const Keys &keys, const std::string &path, bool causal) {
  AttentionSpec attention;
  int64_t headSize = keys.hidden / keys.heads;
  std::vector<WeightId> weights[3], biases[3];
  for (int64_t head = 0; head < keys.heads; ++head)
    for (int i = 0; i < 3; ++i) {
      LinearSpec own = spec.linear(path + ".sublayer.heads." + std::to_string(head) + "." + "qkv"[i], keys.hidden, headSize);
      weights[i].push_back(own.weight);
      biases[i].push_back(own.bias);
    }
  LinearSpec *projections[] = {&attention.query, &attention.key, &attention.value};
  for (int i = 0; i < 3; ++i)
    *projections[i] = {spec.concat(0, weights[i]), spec.concat(0, biases[i])};
  attention.output = spec.linear(path + ".sublayer.linear", keys.heads * headSize, keys.hidden);
  attention.heads = attention.kvHeads = keys.heads;
  attention.scale = 1 / std::sqrt(double(headSize));
  attention.causal = causal;
  return attention;
}

/// Declares the stack |role| with its positions and layers. Only the decoder's layers have cross attention.
static void declareTransformerStack(TransformerSpec &spec, const Keys &keys, StackRole role) {
  bool decoder = role == StackRole::Decoder;
  StackSpec &stack = decoder ? spec.decoder.emplace() : spec.encoder.emplace();
  stack.name = decoder ? "decoder" : "encoder";
  stack.dropout = keys.dropout;
  stack.hidden = stack.memoryHidden = keys.hidden;
  stack.maxLength = keys.listedPositions ? 0 : maxPositions;
  stack.embeddings.path = stack.name + ".position_encoding";
  const char *layout = keys.listedPositions ? "constant" : "interleaved";
  stack.embeddings.positions =
      spec.computed(stack.embeddings.path, {keys.listedPositions ? 1 : maxPositions, keys.hidden}, "sinusoidal", {{"layout", layout}});
  stack.embeddings.onePosition = keys.listedPositions;
  for (int64_t i = 0; i < (decoder ? keys.decoderLayers : keys.encoderLayers); ++i) {
    LayerSpec layer;
    layer.path = stack.name + ".layers." + std::to_string(i);
    const std::string own = layer.path + (decoder ? ".attention_1" : ".attention"), cross = layer.path + ".attention_2";
    layer.attention = declareTransformerAttention(spec, keys, own, decoder && keys.causal);
    layer.attentionNorm = spec.norm(own + ".norm", keys.hidden, keys.epsilon);
    if (decoder) {
      layer.cross = declareTransformerAttention(spec, keys, cross, /*causal=*/false);
      layer.crossNorm = spec.norm(cross + ".norm", keys.hidden, keys.epsilon);
      layer.crossFromMemory = keys.listedCross;
    }
    FfnSpec &ffn = layer.ffn.emplace();
    ffn.up = spec.linear(layer.path + ".feed_forward.sublayer.0", keys.hidden, keys.inner);
    ffn.down = spec.linear(layer.path + ".feed_forward.sublayer.2", keys.inner, keys.hidden);
    ffn.activation = keys.activation;
    layer.ffnNorm = spec.norm(layer.path + ".feed_forward.norm", keys.hidden, keys.epsilon);
    stack.layers.push_back(std::move(layer));
  }
}

Result<TransformerSpec> attune::readPlainTransformerSpec(const Config &config) {
  ConfigReader reader(config);
  Keys keys = readTransformerKeys(reader);
  TransformerSpec spec;
  spec.family = "transformer";
  spec.architecture = reader.architecture("Transformer");
  static constexpr std::pair<const char *, int> architectures[] = {{"Transformer", 0}};
  reader.choose("architectures", spec.architecture, architectures);
  if (reader.status().failed())
    return reader.status();
  declareTransformerStack(spec, keys, StackRole::Encoder);
  declareTransformerStack(spec, keys, StackRole::Decoder);
  // The listing's cross attention pairs each source position with a target position.
  spec.equalLengths = keys.listedCross;
  spec.inputs = {{"src", InputRole::TokenVectors, 0, /*standard=*/true, StackRole::Encoder},
                 {"tgt", InputRole::TokenVectors, 0, /*standard=*/true, StackRole::Decoder}};
  LinearSpec linear = spec.linear("decoder.linear", keys.hidden, keys.hidden);
  spec.outputs.push_back({"memory", {}, /*squeeze=*/false, StackRole::Encoder});
  spec.outputs.push_back({"logits", {linearStep(linear, "decoder.linear")}});
  spec.outputs.push_back({"output", {linearStep(linear, "decoder.linear"), softmaxStep("output")}});
  return spec;
}
