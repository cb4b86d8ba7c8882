//===- Math.h - Textbook operations in double ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of the reference: row-major arrays of double, one loop per formula, nothing fused, nothing fast.
// Letters: T tokens (rows), K inputs, N outputs.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_MATH_H
#define ATTUNE_TEST_REFERENCE_MATH_H

#include <cstdint>
#include <string>
#include <vector>

namespace attune::reference {

/// A dense row-major array.
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> data;

  Array() = default;
  /// Makes an array of zeros.
  explicit Array(std::vector<int64_t> shape);
  /// Returns the size of dimension |i|.
  int64_t dim(size_t i) const { return shape[i]; }
  /// Returns the row |i| of a matrix.
  double *row(int64_t i) { return data.data() + i * shape.back(); }
  const double *row(int64_t i) const { return data.data() + i * shape.back(); }
};

/// Returns x [T, K] times the transpose of w [N, K], plus b [N].
Array linear(const Array &x, const Array &w, const Array &b);
/// Normalizes each row of |x| to mean 0 and variance 1 (biased, plus |epsilon|), then scales by |gain| and adds |bias|.
Array layerNorm(const Array &x, const Array &gain, const Array &bias, double epsilon);
/// Returns the sum of two arrays of one shape.
Array add(const Array &a, const Array &b);
/// Replaces |n| scores by their softmax.
void softmax(double *scores, int64_t n);
/// Returns true if activate knows the function |name| ("gelu", "relu", …, as in config.json).
bool knownActivation(const std::string &name);
/// Returns |x| with the function |name|, for which knownActivation returns true, applied to each element.
Array activate(const Array &x, const std::string &name);

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_MATH_H
