//===- Opt.cpp - OPT ------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Learned positions, counted over the tokens that the mask shows. The table has two rows before that of position 0: an
// unused row, then that of hidden tokens. Norms are before the branches or, in the model with 350 million weights,
// after the residual sums; in that model words have fewer features than the layers have.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

Result<TransformerSpec> attune::readOptSpec(const Config &config) {
  static constexpr DecoderClasses classes = {"opt", "OPT", true, false, "model."};
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50272, defaults.hidden = 768, defaults.layers = 12, defaults.heads = 12, defaults.intermediate = 3072;
  defaults.intermediateKey = "ffn_dim";
  defaults.activationKey = "activation_function", defaults.activation = "relu";
  defaults.tied = true, defaults.padding = 1;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  // No key sets the epsilon.
  keys.epsilon = 1e-5;
  bool bias = reader.flag("enable_bias", true), affine = reader.flag("layer_norm_elementwise_affine", true);
  bool normsBefore = reader.flag("do_layer_norm_before", true);
  int64_t features = reader.integerOrNull("word_embed_proj_dim", keys.hidden, {1, 1 << 24});
  CausalDecoder decoder(reader, classes, keys);
  decoder.normKind = affine ? &TransformerSpec::norm : &TransformerSpec::plainNorm;
  decoder.placement = normsBefore ? NormPlacement::Pre : NormPlacement::Post;
  decoder.hasFinalNorm = normsBefore && !reader.flag("_remove_final_layer_norm", false);
  decoder.wordFeatures = features;
  decoder.countsMask = true;
  decoder.tables = [&](TransformerSpec &spec, const std::string &prefix) {
    const std::string path = prefix + "decoder.";
    WeightId positions = spec.tensor(path + "embed_positions.weight", {keys.positions + 2, keys.hidden});
    spec.decoder->embeddings.positions = spec.slice(positions, 0, 1, keys.positions + 2);
    if (features == keys.hidden)
      return;
    spec.decoder->finalProjection = spec.linear(path + "project_out", keys.hidden, features, /*bias=*/false);
    spec.decoder->embeddings.wordProjection = spec.linear(path + "project_in", features, keys.hidden, /*bias=*/false);
  };
  auto layer = [&](TransformerSpec &spec, int64_t, const std::string &path) {
    const std::string module = path + ".self_attn";
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    attention.key = spec.linear(module + ".k_proj", keys.hidden, keys.hidden, bias);
    attention.value = spec.linear(module + ".v_proj", keys.hidden, keys.hidden, bias);
    attention.query = spec.linear(module + ".q_proj", keys.hidden, keys.hidden, bias);
    attention.output = spec.linear(module + ".out_proj", keys.hidden, keys.hidden, bias);
    setDecoderAttention(attention, keys);
    layer.attentionNorm = decoder.norm(spec, path + ".self_attn_layer_norm");
    layer.ffn = declarePlainFfn(spec, keys, path + ".fc1", path + ".fc2", bias);
    layer.ffnNorm = decoder.norm(spec, path + ".final_layer_norm");
    return layer;
  };
  decoder.names = {"model.", "decoder.embed_tokens", "decoder.layers", "decoder.final_layer_norm"};
  return decoder.declare(layer);
}
