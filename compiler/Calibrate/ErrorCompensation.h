//===- ErrorCompensation.h - Rounding by the error of outputs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Quantizes the matrix of a projection so that the outputs on sample inputs change little, even if single weights then
// change more than by rounding to the nearest value. For a row w and its quantized row q, with e = w - q and M = sum of
// x x^T over the inputs x:
//
//     error = e M e^T = |e L|^2,   M = L L^T, L lower triangular
//     (e L)[j] = e[j] L[j, j] + sum over i > j of e[i] L[i, j]
//
// Columns are rounded from the last to the first. The errors of the columns behind column j are known when it is
// rounded, so w[j] + (sum over i > j of e[i] L[i, j]) / L[j, j] is rounded instead of w[j], which makes term j of the
// error small. This is the rounding of GPTQ with the columns in the other order and without the inverse of M. For
// lattices it is known as the nearest-plane method.
//
//     k:    0 ...             group g            ... K-1
//           | not yet rounded | chosen, rounded | rounded |   <- direction
//
// The scale and the minimum of a group of columns are chosen before the columns of the group are rounded, for the
// values that would make the group's terms of the error zero.
//
// Cost in multiply-adds: about K^3 / 6 for the factorization and N K^2 / 2 for the rounding, for N rows and K columns.
// Every sum is in double and in a fixed order.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CALIBRATE_ERRORCOMPENSATION_H
#define ATTUNE_COMPILER_CALIBRATE_ERRORCOMPENSATION_H

#include "compiler/Calibrate/RowProducts.h"
#include "compiler/Weights/CalibratedRows.h"

#include <vector>

namespace attune {

/// The sum of x x^T over inputs x of a projection.
class InputMoments {
public:
  explicit InputMoments(int64_t features) : features(features), sums(static_cast<size_t>(features * features)) {}

  /// Adds |inputs|, each a row of |features| values. Infinite and NaN values count as 0.
  void add(Rows<const float> inputs);
  int64_t size() const { return features; }
  /// Returns the number of inputs that were added.
  int64_t inputs() const { return count; }
  /// Returns the sum as a matrix `[features, features]`, of which only the lower triangle is set.
  Rows<double> lower() { return {sums.data(), features, features}; }
  /// Returns the size in bytes of the moments of inputs with |features| features.
  static int64_t bytes(int64_t features) { return features * features * int64_t(sizeof(double)); }

private:
  int64_t features, count = 0;
  std::vector<double> sums;
};

/// Factorizes the symmetric matrix whose lower triangle is |matrix| into L L^T, in place (Cholesky). First adds a
/// hundredth of the diagonal's mean to the diagonal, since the sum of fewer inputs than columns is singular. Returns
/// false if that mean is 0, because all inputs were zero, or not finite.
bool factorizeMoments(Rows<double> matrix);

/// Quantizes |weights|, rows of as many columns as |moments| has features, in the format of |out| and adds them to
/// |out|. Leaves out each block of eight rows, counted from the first, in which f16 cannot store a scale or minimum.
/// |moments| is overwritten. Returns false, and adds nothing, if factorizeMoments returns false.
bool quantizeByOutputs(Rows<const float> weights, InputMoments &moments, CalibratedRows &out);

} // namespace attune

#endif // ATTUNE_COMPILER_CALIBRATE_ERRORCOMPENSATION_H
