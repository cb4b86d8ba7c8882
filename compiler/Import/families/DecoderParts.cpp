//===- DecoderParts.cpp - Shared parts of decoders ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/DecoderParts.h"

#include <cmath>

using namespace attune;

void attune::requireCausal(ConfigReader &reader) {
  if (!reader.flag("is_causal", true))
    reader.fail("is_causal", "true: attention to later tokens is not implemented for this family");
}

void attune::declareDecoderInputs(TransformerSpec &spec, int64_t vocab, int64_t positions) {
  constexpr StackRole decoder = StackRole::Decoder;
  spec.inputs = {{"input_ids", InputRole::TokenIds, vocab, /*standard=*/true, decoder},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false, decoder},
                 {"attention_mask", InputRole::AttentionMask, 0, /*standard=*/true, decoder},
                 {"position_ids", InputRole::Positions, positions, /*standard=*/true, decoder}};
}

void attune::declareMemoryInputs(TransformerSpec &spec) {
  for (auto [name, role] :
       {std::pair("encoder_hidden_states", InputRole::Memory), std::pair("encoder_attention_mask", InputRole::MemoryMask)})
    spec.inputs.push_back({name, role, 0, /*standard=*/true, StackRole::Decoder});
}

void attune::declareGpt2Cross(TransformerSpec &spec, LayerSpec &layer, int64_t heads, double epsilon, double factor) {
  const std::string path = layer.path + ".crossattention";
  int64_t hidden = spec.decoder->hidden;
  layer.crossNorm = spec.norm(layer.path + ".ln_cross_attn", hidden, epsilon);
  AttentionSpec &cross = layer.cross.emplace();
  LinearSpec joined = spec.transposedLinear(path + ".c_attn", hidden, 2 * hidden);
  cross.query = spec.scaled(spec.transposedLinear(path + ".q_attn", hidden, hidden), factor);
  cross.key = spec.features(joined, 0, hidden);
  cross.value = spec.features(joined, hidden, 2 * hidden);
  cross.output = spec.transposedLinear(path + ".c_proj", hidden, hidden);
  cross.heads = cross.kvHeads = cross.originalHeads = heads;
  cross.scale = layer.attention->scale;
  spec.decoder->crossSharesHeadMask = true;
  spec.decoder->keepsCrossKeys = false;
}

WeightId attune::declareSpacedSines(TransformerSpec &spec, const std::string &name, int64_t rows, int64_t features, int64_t zeroRow) {
  int64_t even = features / 2 * 2;
  // The layout "half" has the angles p / base^(2 i / even) for position p and pair i. With the following base they are
  // p / 10000^(i / (even / 2 - 1)).
  double base = std::pow(10000.0, double(even) / double(even - 2));
  WeightId table = spec.computed(name, {rows, even}, "sinusoidal", {{"layout", "half"}, {"base", base}});
  if (even < features)
    table = spec.concat(1, {table, spec.fill(name + ".last_column", {rows, 1}, 0)});
  if (zeroRow < 0 || zeroRow >= rows)
    return table;
  std::vector<WeightId> parts;
  if (zeroRow > 0)
    parts.push_back(spec.slice(table, 0, 0, zeroRow));
  parts.push_back(spec.fill(name + ".padding", {1, features}, 0));
  if (zeroRow + 1 < rows)
    parts.push_back(spec.slice(table, 0, zeroRow + 1, rows));
  return spec.concat(0, std::move(parts));
}
