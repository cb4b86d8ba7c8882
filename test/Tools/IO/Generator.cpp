//===- Generator.cpp - The weight generator --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the bits of the random stream, and the range of each kind of tensor.
//===----------------------------------------------------------------------===//
#include "Check.h"
#include "compiler/Support/Generate.h"

#include <cmath>
#include <cstring>

using namespace attune;

/// Returns true if the rule for the tensor |name| of the shape |shape| is exactly (|offset|, |halfWidth|).
static bool ruleIs(const char *name, const std::vector<int64_t> &shape, double offset, double halfWidth) {
  GeneratorRule rule = generatorRule(name, shape);
  return rule.offset == offset && rule.halfWidth == halfWidth;
}

void testGenerator() {
  const char *name = "encoder.layer.0.attention.self.query.weight";
  const uint32_t expected[6] = {0xbf0c3f5c, 0xbe890df7, 0xbdfd5d5f, 0xbf0c085f, 0xbf7cee2f, 0xbf21da1b};
  float values[6], part[2];
  generateValues(name, 7, {0, 1}, 0, 6, values);
  CHECK(std::memcmp(values, expected, sizeof(expected)) == 0);
  generateValues(name, 7, {0, 1}, 3, 2, part); // from the middle
  CHECK(std::memcmp(part, expected + 3, sizeof(part)) == 0);

  double root = std::sqrt(3.0 / 64);
  CHECK(ruleIs("cls.predictions.bias", {99}, 0, 0.2));
  CHECK(ruleIs("final_logits_bias", {1, 99}, 0, 0.2));
  CHECK(ruleIs("encoder.layer.0.output.LayerNorm.weight", {64}, 1, 0.4));
  CHECK(ruleIs("embeddings.LayerNorm.weight", {64}, 1, 0.4));
  CHECK(ruleIs("embeddings.word_embeddings.weight", {99, 64}, 0, 3 / std::sqrt(64.0)));
  CHECK(ruleIs("vit.embeddings.patch_embeddings.projection.weight", {32, 4, 4, 4}, 0, root));
  CHECK(ruleIs("encoder.layer.0.attention.self.query.weight", {32, 64}, 0, 1.5 * root));
  CHECK(ruleIs("query.weight", {32, 64}, 0, 1.5 * root));
  CHECK(ruleIs("my_query.weight", {32, 64}, 0, root));
  CHECK(ruleIs("encoder.layer.0.attention.self.value.weight", {32, 64}, 0, root));
  CHECK(ruleIs("encoder.layer.0.attention.output.dense.weight", {32, 64}, 0, 2 * root));
  CHECK(ruleIs("encoder.layer.0.intermediate.dense.weight", {32, 64}, 0, root));
  CHECK(ruleIs("h.0.attn.c_attn.weight", {64, 192}, 0, 1.5 * root)); // [in, out]
  CHECK(ruleIs("h.0.mlp.c_fc.weight", {64, 256}, 0, root));
  CHECK(ruleIs("h.0.mlp.c_proj.weight", {64, 256}, 0, 2 * root));
  CHECK(ruleIs("decoder.layers.0.feed_forward.sublayer.2.weight", {32, 64}, 0, 2 * root));
  CHECK(ruleIs("model.layers.0.mlp.experts.gate_up_proj", {3, 64, 80}, 0, root)); // [experts, in, out]
  CHECK(ruleIs("model.layers.0.mlp.experts.down_proj", {3, 64, 80}, 0, root));
  CHECK(ruleIs("model.layers.0.block_sparse_moe.input_linear.weight", {3, 80, 64}, 0, root)); // [experts, out, in]
  CHECK(ruleIs("model.layers.0.mlp.experts.0.down_proj.weight", {32, 64}, 0, 2 * root));
}
