//===- Compare.h - Comparing tensors --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparison of `check` and `diff`: |got - expected| <= atol + rtol * |expected|, integers exactly. NaN equals only
// NaN.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMPARE_H
#define ATTUNE_COMPILER_TOOLS_COMPARE_H

#include "compiler/Support/Safetensors.h"

#include <functional>

namespace attune {

/// Allowed deviation of a value: atol + rtol * |expected|.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
};

/// The value that uses the largest share of its tolerance.
struct WorstValue {
  /// Flat index of the element in |got| of compareValues; -1 if |expected| was empty.
  int64_t index = -1;
  /// Flat index of the element in |expected|, equal to |index| unless |expected| holds only samples of |got|.
  int64_t position = -1;
  double error = 0;
  double allowed = 0;
  /// error / allowed deviation; 0 for equal values. Infinite for values that differ if no deviation is allowed, if they
  /// are integers, or if one of them is not finite.
  double ratio = 0;

  bool passes() const { return ratio <= 1; }
};

/// Compares all elements of |expected| with elements of |got|. |indexOf| maps a flat index of |expected| to one of
/// |got|, which must exist; if |indexOf| is null, both indices are equal. Both tensors must have the same dtype.
WorstValue compareValues(const TensorView &got, const TensorView &expected, Tolerance tolerance,
                         const std::function<int64_t(int64_t)> &indexOf = nullptr);

/// Returns the multi-index of a flat index, such as "[1, 0, 12]"; "[]" for a scalar.
std::string indexText(const std::vector<int64_t> &shape, int64_t index);
/// Returns |value| with |digits| significant digits.
std::string numberText(double value, int digits);
/// Returns the element at a flat index: a number with enough digits to restore it or, for a float of 8 bits, "byte N"
/// with its bits as an integer.
std::string elementText(const TensorView &tensor, int64_t index);

/// The mean, the mean magnitude and the Euclidean norm of a whole float tensor, computed in double; all 0 for an empty
/// one.
struct TensorStats {
  double mean = 0;
  double absMean = 0;
  double l2 = 0;
};
TensorStats computeStats(const TensorView &tensor);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPARE_H
