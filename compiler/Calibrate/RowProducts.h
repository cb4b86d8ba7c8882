//===- RowProducts.h - Products of the rows of two matrices -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products for calibration. An element of a product is the sum of eight partial sums (four in double) and a
// remainder, in an order that depends on neither the number of threads nor the machine.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CALIBRATE_ROWPRODUCTS_H
#define ATTUNE_COMPILER_CALIBRATE_ROWPRODUCTS_H

#include <cstdint>

namespace attune {

/// A matrix in row-major order whose rows are |pitch| elements apart.
template <typename T>
struct Rows {
  T *data;
  int64_t count, pitch;
  T *row(int64_t index) const { return data + index * pitch; }
};

/// Sets `out[i, j]` to the sum of `a[i, k] * b[j, k]` over |depth| columns. Uses threads.
void multiplyRows(Rows<const float> a, Rows<const float> b, int64_t depth, Rows<float> out);
/// Adds |sign| times the sum of `a[i, k] * b[j, k]` over |depth| columns to `out[i, j]` for j <= i + |offset|. Uses
/// threads.
void addLowerProducts(Rows<const double> a, Rows<const double> b, int64_t depth, double sign, int64_t offset, Rows<double> out);

} // namespace attune

#endif // ATTUNE_COMPILER_CALIBRATE_ROWPRODUCTS_H
