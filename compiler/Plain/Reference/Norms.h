//===- Norms.h - Norms and softmax ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_NORMS_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_NORMS_H

#include "compiler/Plain/Reference/Context.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune::reference {

/// Calls |normalize| with each row of |x| + |residual|. |normalize| changes the row in place, and the changed row is
/// written to |y|. A row extends over the last dimension. A |residual| without data counts as 0.
template <typename T>
void forEachRow(const PlainBuffer &x, const PlainBuffer &residual, const PlainBuffer &y,
                llvm::function_ref<void(std::vector<T> &)> normalize) {
  int64_t columns = x.sizes.back(), rows = columns == 0 ? 0 : x.elements() / columns;
  std::vector<T> row(static_cast<size_t>(columns));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < columns; ++i) {
      auto at = x.indicesOf(r * columns + i);
      row[i] = x.get<T>(at);
      if (residual.present())
        row[i] += residual.get<T>(at);
    }
    normalize(row);
    for (int64_t i = 0; i < columns; ++i)
      y.set<T>(x.indicesOf(r * columns + i), row[i]);
  }
}

template <typename T>
void compute(Context<T> &c, mlir::xfmr::LayerNormOp op) {
  PlainBuffer x = c.in(op.getInput()), weight = c.in(op.getWeight()), bias = c.in(op.getBias());
  T epsilon = T(op.getEpsilon().convertToDouble());
  forEachRow<T>(x, c.in(op.getResidual()), c.out(x.sizes), [&](std::vector<T> &row) {
    T count = T(row.size()), mean = 0, variance = 0;
    for (T value : row)
      mean += value;
    mean /= count;
    for (T value : row)
      variance += (value - mean) * (value - mean);
    T factor = T(1) / std::sqrt(variance / count + epsilon);
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = (row[i] - mean) * factor * weight.get<T>({int64_t(i)}) + bias.get<T>({int64_t(i)});
  });
}

template <typename T>
void compute(Context<T> &c, mlir::xfmr::RmsNormOp op) {
  PlainBuffer x = c.in(op.getInput()), weight = c.in(op.getWeight());
  T epsilon = T(op.getEpsilon().convertToDouble());
  forEachRow<T>(x, c.in(op.getResidual()), c.out(x.sizes), [&](std::vector<T> &row) {
    T sum = 0;
    for (T value : row)
      sum += value * value;
    T factor = T(1) / std::sqrt(sum / T(row.size()) + epsilon);
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = row[i] * factor * weight.get<T>({int64_t(i)});
  });
}

template <typename T>
void compute(Context<T> &c, mlir::xfmr::SoftmaxOp op) {
  PlainBuffer x = c.in(op.getInput());
  forEachRow<T>(x, {}, c.out(x.sizes), [&](std::vector<T> &row) {
    T most = -std::numeric_limits<T>::infinity(), sum = 0;
    for (T value : row)
      most = std::max(most, value);
    for (T value : row)
      sum += std::exp(value - most);
    for (T &value : row)
      value = op.getLog() ? value - most - std::log(sum) : std::exp(value - most) / sum;
  });
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_NORMS_H
