//===- Matrix.h - Matrices of reference functions ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_MATRIX_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_MATRIX_H

#include "compiler/Plain/Reference/Context.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace attune::reference {

/// A dense matrix in row-major order.
template <typename T>
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<T> values;
  Matrix() = default;
  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), values(static_cast<size_t>(rows * columns)) {}
  /// Copies |buffer|, a matrix or a vector, or, with |prefix|, element number |prefix| of a stack of these. A vector
  /// becomes a matrix of one column.
  explicit Matrix(const PlainBuffer &buffer, std::optional<int64_t> prefix = std::nullopt)
      : Matrix(buffer.size(prefix ? 1 : 0), buffer.rank() > (prefix ? 2 : 1) ? buffer.size(prefix ? 2 : 1) : 1) {
    llvm::SmallVector<int64_t, 3> at;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        at.clear();
        if (prefix)
          at.push_back(*prefix);
        at.push_back(i);
        if (buffer.rank() > int64_t(at.size()))
          at.push_back(j);
        values[i * columns + j] = buffer.get<T>(at);
      }
  }
  T &operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  const T &operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

template <typename T>
void writeMatrix(const Matrix<T> &matrix, const PlainBuffer &out) {
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j)
      out.set<T>({i, j}, matrix(i, j));
}

/// Returns the largest magnitude of the |count| elements of |values|: 0 if there are none, NaN if one of them is NaN.
template <typename T>
T findLargest(const T *values, int64_t count) {
  T largest = 0;
  for (int64_t k = 0; k < count; ++k)
    largest = std::isnan(values[k]) ? values[k] : std::max(largest, std::abs(values[k]));
  return largest;
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_MATRIX_H
