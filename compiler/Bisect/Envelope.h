//===- Envelope.h - Bounds of rounding errors -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// How far a correct f32 result may be from the exact one is measured, not assumed: the model in f64 is the truth, and the
// error of the same operations in f32 is the unit of errors. For each row (all dimensions but the last) the unit is
//
//     max(error of the row, median error of all rows, 4 * 2^-24 * max(largest magnitude of the row, its median over rows))
//
// The median keeps a row that happens to be exact from having no allowance. Optimized code of f32 stays below 2 or 3 units
// in clean models; a ratio above kWrong is an error of the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_ENVELOPE_H
#define ATTUNE_COMPILER_BISECT_ENVELOPE_H

#include "compiler/Support/SafetensorsWriter.h"

#include <map>

namespace attune {

/// The ratio of error to unit above which a result is wrong.
inline constexpr double kWrong = 8;

/// The largest error of some outputs, in units.
struct Deviation {
  double ratio = 0;
  /// The element, such as "last_hidden_state[0, 3, 5]", its value and the exact one.
  std::string element;
  double got = 0, exact = 0;
  /// The same in words: "last_hidden_state[0, 3, 5] is 0.25, exact 0.5, 1e+05 units off".
  std::string text() const;
};

/// The exact outputs of a call and the unit of error of each row.
class Envelope {
public:
  /// |exact| are the outputs of a run in f64, |rounded| those of the same operations in f32.
  Envelope(const std::vector<OwnedTensor> &exact, const std::vector<OwnedTensor> &rounded);
  /// Returns the largest deviation of |outputs|; infinite for a missing output, another shape, another integer, or a value
  /// of another class (finite, infinite, NaN) than the exact one.
  Deviation measure(const std::vector<OwnedTensor> &outputs) const;
  /// Returns the largest unit of the output |name|.
  double largestUnit(const std::string &name) const;

private:
  struct Output {
    std::vector<int64_t> shape;
    std::vector<double> exact, units;
    int64_t columns = 1;
  };
  std::map<std::string, Output> outputs;
};

/// Returns true if the outputs have the same names, shapes and bits; NaNs are equal.
bool haveSameBits(const std::vector<OwnedTensor> &a, const std::vector<OwnedTensor> &b);
/// Returns the first element that differs, in words; "" if there is none.
std::string describeDifference(const std::vector<OwnedTensor> &a, const std::vector<OwnedTensor> &b);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_ENVELOPE_H
