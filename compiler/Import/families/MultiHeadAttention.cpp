//===- MultiHeadAttention.cpp - One attention over given keys and values --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An attention of queries, keys and values from three inputs, with an output projection. Scores whose mask is 0 are
// replaced by a large negative number, so a query without a visible key attends to all keys uniformly.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"

#include <cmath>

using namespace attune;

Result<TransformerSpec> attune::readMultiHeadAttentionSpec(const Config &config) {
  constexpr IntegerRange size = {1, 1 << 24};
  ConfigReader reader(config);
  int64_t hidden = reader.integer("hid_dim", 300, size), heads = reader.integer("n_heads", 6, size);
  if (hidden % heads != 0)
    reader.fail("hid_dim", "a multiple of 'n_heads', which is " + std::to_string(heads));
  TransformerSpec spec;
  spec.family = "multi_head_attention";
  spec.architecture = reader.architecture("MultiHeadAttention");
  static constexpr std::pair<const char *, int> architectures[] = {{"MultiHeadAttention", 0}};
  reader.choose("architectures", spec.architecture, architectures);
  if (reader.status().failed())
    return reader.status();

  // A decoder with one layer, which is cross attention only: queries are its tokens, keys and values the memory.
  StackSpec &stack = spec.decoder.emplace();
  stack.name = "decoder";
  stack.placement = NormPlacement::None;
  stack.hidden = stack.memoryHidden = hidden;
  stack.embeddings.path = "query";
  LayerSpec &layer = stack.layers.emplace_back();
  layer.path = "attention";
  AttentionSpec &attention = layer.cross.emplace();
  attention.query = spec.linear("w_q", hidden, hidden);
  attention.key = spec.linear("w_k", hidden, hidden);
  attention.value = spec.linear("w_v", hidden, hidden);
  attention.output = spec.linear("fc", hidden, hidden);
  attention.heads = attention.kvHeads = heads;
  attention.scale = 1 / std::sqrt(double(hidden / heads));

  for (const auto &[name, role] : {std::pair("query", InputRole::TokenVectors), std::pair("key", InputRole::Memory),
                                   std::pair("value", InputRole::MemoryValues), std::pair("mask", InputRole::MemoryMask)})
    spec.inputs.push_back({name, role, 0, /*standard=*/true, StackRole::Decoder});
  spec.inputs.back().broadcast = true;
  spec.outputs.push_back({"output", {}});
  return spec;
}
