//===- Generate.h - Deterministic weights and inputs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A generated value depends only on the seed, the name of its stream and the row-major index i of the element, so the
// seed alone describes the weights of a model of any size:
//   s0    = FNV-1a-64("<seed>/<name>")
//   z     = splitmix64 finaliser of s0 + (i + 1) * 0x9E3779B97F4A7C15
//   value = float(offset + half_width * (2 * (z >> 11) * 2^-53 - 1))   in double without fused multiply-add
// offset and half_width are those of the GeneratorRule. Values have the same bits on every machine. The importer, which
// knows the model, lists the names and shapes of the tensors.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_GENERATE_H
#define ATTUNE_COMPILER_SUPPORT_GENERATE_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace attune {

/// The range of a generated tensor: values are uniform in [offset - halfWidth, offset + halfWidth).
struct GeneratorRule {
  double offset = 0;
  double halfWidth = 1;
};

/// Returns the range of a weight, chosen by its name and shape alone. Biases, gains, embeddings and projections are
/// scaled so that the activations of a deep model stay in a realistic range.
GeneratorRule generatorRule(std::string_view name, const std::vector<int64_t> &shape);

/// Writes elements |begin| … |begin| + |count| - 1, in row-major order, of the tensor with the stream name |name| to
/// |out|. The stream name of a weight is its name, that of an input is "input:<name>".
void generateValues(std::string_view name, int64_t seed, GeneratorRule rule, int64_t begin, int64_t count, float *out);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_GENERATE_H
