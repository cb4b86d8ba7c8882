//===- SelfAttention.cpp - One self-attention -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The self-attention of BERT alone, of vectors that are an input: without output projection, residual and norm. A mask
// of floats is added to the scores unchanged.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;

Result<TransformerSpec> attune::readSelfAttentionSpec(const Config &config) {
  constexpr IntegerRange size = {1, 1 << 24};
  ConfigReader reader(config);
  int64_t hidden = reader.integer("hidden_size", 768, size), heads = reader.integer("num_attention_heads", 12, size);
  if (hidden % heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(heads));
  TransformerSpec spec;
  spec.family = "self_attention";
  spec.architecture = reader.architecture("SelfAttention");
  static constexpr std::pair<const char *, int> architectures[] = {{"SelfAttention", 0}};
  reader.choose("architectures", spec.architecture, architectures);
  if (reader.status().failed())
    return reader.status();

  StackSpec &stack = spec.encoder.emplace();
  stack.name = "encoder";
  stack.placement = NormPlacement::None;
  stack.hidden = hidden;
  stack.embeddings.path = "hidden_states";
  LayerSpec &layer = stack.layers.emplace_back();
  layer.path = "self";
  AttentionSpec &attention = layer.attention.emplace();
  attention.query = spec.linear("query", hidden, hidden);
  attention.key = spec.linear("key", hidden, hidden);
  attention.value = spec.linear("value", hidden, hidden);
  attention.heads = attention.kvHeads = heads;
  attention.scale = 1 / std::sqrt(double(hidden / heads));

  InputSpec mask = {"attention_mask", InputRole::AttentionMask};
  mask.additive = mask.broadcast = true;
  spec.inputs = {{"hidden_states", InputRole::TokenVectors}, mask};
  spec.outputs.push_back({"context_layer", {}});
  return spec;
}
