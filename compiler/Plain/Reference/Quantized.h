//===- Quantized.h - Rounded and quantized operands of products -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_QUANTIZED_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_QUANTIZED_H

#include "compiler/Plain/Reference/Context.h"
#include "compiler/Plain/Reference/Formats.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <algorithm>
#include <cmath>

namespace attune::reference {

namespace tiles = mlir::tiles;
namespace xfmr = mlir::xfmr;

/// Returns the scale of a row of |count| weights, as `xfmr.weight_scales` defines it. Weights are quantized in f32, in
/// runs in f64, too. A NaN counts as 0; with an infinity, the scale is infinite.
inline float scaleOfWeights(const float *row, int64_t count) {
  float largest = 0;
  for (int64_t k = 0; k < count; ++k)
    largest = std::isnan(row[k]) ? largest : std::max(largest, std::abs(row[k]));
  return largest / 127.0f;
}

/// Returns the integer for |weight| in a row with |scale|, as `xfmr.weight_quantize` defines it. The integer is 0 for
/// NaN and for an infinity, whose row has an infinite scale.
inline float quantizeWeight(float weight, float scale) {
  float rounded = scale == 0 ? 0 : std::nearbyint(weight / scale);
  return std::isnan(rounded) ? 0 : std::clamp(rounded, -127.0f, 127.0f);
}

/// The rows of a matrix as integers, in row-major order, and the scale of each row.
template <typename T>
struct QuantizedMatrix {
  std::vector<T> values, scales;
};

/// Quantizes |weights|, a matrix of |rows| rows in row-major order, as `xfmr.weight_scales` and `xfmr.weight_quantize`
/// define it.
template <typename T>
QuantizedMatrix<T> quantizeWeights(const std::vector<T> &weights, int64_t rows) {
  QuantizedMatrix<T> result;
  std::vector<float> row(weights.size() / size_t(std::max<int64_t>(rows, 1)));
  for (int64_t n = 0; n < rows; ++n) {
    std::copy_n(weights.begin() + n * int64_t(row.size()), row.size(), row.begin());
    float scale = scaleOfWeights(row.data(), int64_t(row.size()));
    result.scales.push_back(scale);
    for (float weight : row)
      result.values.push_back(quantizeWeight(weight, scale));
  }
  return result;
}

/// Quantizes |input|, a matrix of |rows| rows in row-major order, as `tile.quantize_rows` with two destinations does,
/// but without adding `zero` of its description to the integers.
template <typename T>
QuantizedMatrix<T> quantizeInput(const std::vector<T> &input, int64_t rows) {
  QuantizedMatrix<T> result;
  auto columns = int64_t(input.size() / size_t(std::max<int64_t>(rows, 1)));
  for (int64_t t = 0; t < rows; ++t) {
    const T *row = input.data() + t * columns;
    T largest = findLargest(row, columns), inverse = T(127) / (largest == 0 ? T(1) : largest);
    result.scales.push_back(largest / T(127));
    for (int64_t k = 0; k < columns; ++k)
      result.values.push_back(std::nearbyint(row[k] * inverse));
  }
  return result;
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightConvertOp op) {
  PlainBuffer weight = c.in(op.getWeight()), out = c.out(weight.sizes);
  for (int64_t i = 0, end = weight.elements(); i < end; ++i)
    copyElement(weight, weight.indicesOf(i), out, weight.indicesOf(i));
}

/// Calls |use| for each row of |buffer|, a matrix or a stack of matrices, with the indices of the row and its elements
/// converted to f32.
template <typename Use>
void forEachWeightRow(const PlainBuffer &buffer, Use use) {
  PlainBuffer rows = buffer;
  rows.sizes.pop_back();
  std::vector<float> values(size_t(buffer.sizes.back()));
  for (int64_t i = 0, end = rows.elements(); i < end; ++i) {
    auto row = rows.indicesOf(i), at = row;
    at.push_back(0);
    for (at.back() = 0; at.back() < buffer.sizes.back(); ++at.back())
      values[size_t(at.back())] = buffer.get<float>(at);
    use(row, values);
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightQuantizeOp op) {
  PlainBuffer weight = c.in(op.getWeight()), out = c.out(weight.sizes);
  forEachWeightRow(weight, [&](llvm::SmallVector<int64_t, 5> at, const std::vector<float> &row) {
    float scale = scaleOfWeights(row.data(), int64_t(row.size()));
    at.push_back(0);
    for (; at.back() < int64_t(row.size()); ++at.back())
      out.set<float>(at, quantizeWeight(row[size_t(at.back())], scale));
  });
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightScalesOp op) {
  PlainBuffer weight = c.in(op.getWeight());
  PlainBuffer out = c.out(llvm::ArrayRef(weight.sizes).drop_back());
  forEachWeightRow(weight, [&](llvm::ArrayRef<int64_t> at, const std::vector<float> &row) {
    out.set<float>(at, scaleOfWeights(row.data(), int64_t(row.size())));
  });
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightRowSumsOp op) {
  PlainBuffer weight = c.in(op.getQuantized());
  PlainBuffer out = c.out(llvm::ArrayRef(weight.sizes).drop_back());
  forEachWeightRow(weight, [&](llvm::ArrayRef<int64_t> at, const std::vector<float> &row) {
    int64_t sum = 0;
    for (float value : row)
      sum += int64_t(value);
    out.set<int64_t>(at, sum);
  });
}

template <typename T>
void compute(Context<T> &c, tiles::QuantizeRowsOp op) {
  PlainBuffer input = c.in(op.getInput()), out = c.destination(op.getQuantized(), 0);
  if (op.getSums()) {
    GroupedRows<T> rows = quantizeRowsByGroups(Matrix<T>(input), int64_t(*op.getGroup()));
    for (int64_t t = 0; t < out.size(0); ++t)
      for (int64_t k = 0; k < out.size(1); ++k)
        out.set<int64_t>({t, k}, k < rows.integers.columns ? int64_t(rows.integers(t, k)) : 0);
    writeMatrix(rows.scales, c.destination(op.getScales(), 1));
    writeMatrix(rows.sums, c.destination(op.getSums(), 2));
    return;
  }
  PlainBuffer scales = op.getScales() ? c.destination(op.getScales(), 1) : PlainBuffer();
  int64_t columns = input.size(1), zero = !scales.present() || out.kind != ElementKind::I8 ? 0 : 128;
  for (int64_t t = 0; t < input.size(0); ++t) {
    std::vector<T> row;
    for (int64_t k = 0; k < columns; ++k)
      row.push_back(input.get<T>({t, k}));
    if (scales.present()) {
      QuantizedMatrix<T> quantized = quantizeInput(row, 1);
      scales.set<T>({t}, quantized.scales[0]);
      row = std::move(quantized.values);
    }
    for (int64_t k = 0; k < out.size(1); ++k) {
      T value = k < columns ? row[size_t(k)] : T(0);
      if (scales.present())
        out.set<int64_t>({t, k}, std::isfinite(value) ? int64_t(value) + zero : 0);
      else
        out.set<T>({t, k}, out.kind == ElementKind::F16 ? value : T(roundToBf16(static_cast<float>(value))));
    }
  }
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_QUANTIZED_H
