//===- Formats.h - Weights and products in formats --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Matrices in the formats `#xfmr.weight_format` of integers, and products by them. The operations do not define which
// scale represents a group of weights best: the calibration chooses the scales of the rows that it has quantized, and
// the packer those of all other rows. This file therefore calls CalibratedRows and WeightQuantizer, which make these
// choices. Everything else is written from the descriptions of `xfmr.weight_quantize_panels`, `tile.quantize_rows` and
// `tile.grouped_product`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_FORMATS_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_FORMATS_H

#include "compiler/Plain/Reference/Matrix.h"
#include "compiler/Weights/CalibratedRows.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune::reference {

namespace tiles = mlir::tiles;
namespace xfmr = mlir::xfmr;

/// A matrix of integers in groups of |groupColumns| columns. With g the group of column k, element (n, k) has the value
/// `scales(n, g) * integers(n, k) + minima(n, g)`. Minima are 0 in a format without them.
template <typename T>
struct GroupedMatrix {
  GroupedMatrix(xfmr::WeightFormat format, int64_t rows, int64_t columns)
      : groupColumns(format.groupColumns(columns)), integers(rows, columns), scales(rows, format.groups(columns)),
        minima(rows, format.groups(columns)) {}
  int64_t groupColumns;
  Matrix<T> integers, scales, minima;
};

/// Returns |weights| quantized to |format|. A row that is in the element of |calibrated| for this format gets the
/// scales, minima and integers of the calibration. Infinities and NaN count as 0. Returns nullopt if the format stores
/// scales and minima in f16 and one of them may be out of range (WeightQuantizer::choose).
template <typename T>
std::optional<GroupedMatrix<T>> quantizeByGroups(const Matrix<T> &weights, xfmr::WeightFormat format,
                                                 llvm::ArrayRef<CalibratedRows> calibrated) {
  GroupedMatrix<T> result(format, weights.rows, weights.columns);
  std::vector<float> values(weights.values.begin(), weights.values.end());
  // The scales and minima of each row that the calibration has quantized; empty for other rows. The values of such a
  // row are replaced by those that its integers represent.
  std::vector<std::vector<QuantizedGroup>> given(static_cast<size_t>(weights.rows));
  for (const CalibratedRows &rows : calibrated)
    for (int64_t n = 0; rows.getFormat() == format && n < weights.rows; ++n) {
      float *row = values.data() + n * weights.columns;
      std::vector<QuantizedGroup> groups(static_cast<size_t>(result.scales.columns));
      if (rows.find({row, static_cast<size_t>(weights.columns)}, row, groups.data()))
        given[size_t(n)] = std::move(groups);
    }
  for (float &value : values)
    value = std::isfinite(value) ? value : 0.0f;
  const WeightQuantizer packer(format);
  std::vector<QuantizedGroup> numbers(static_cast<size_t>(weights.rows));
  bool fits = true;
  for (int64_t g = 0; g < result.scales.columns; ++g) {
    int64_t begin = g * result.groupColumns, end = std::min(begin + result.groupColumns, weights.columns);
    fits &= packer.choose({values.data() + begin, weights.columns, weights.rows, end - begin}, numbers.data());
    for (int64_t n = 0; n < weights.rows; ++n) {
      if (!given[size_t(n)].empty())
        numbers[size_t(n)] = given[size_t(n)][size_t(g)];
      result.scales(n, g) = numbers[size_t(n)].scale;
      result.minima(n, g) = numbers[size_t(n)].minimum;
      for (int64_t k = begin; k < end; ++k)
        result.integers(n, k) = packer.integerOf(values[size_t(n * weights.columns + k)], numbers[size_t(n)]);
    }
  }
  return fits ? std::optional(std::move(result)) : std::nullopt;
}

/// The byte offsets of the scales, minima and integers of one group of columns in a panel of |width| rows, from the
/// first byte of the group. Rows count from the first row of the panel, columns from the first column of the group.
struct PanelLayout {
  xfmr::WeightFormat format;
  int64_t width;

  /// Returns the offset of the first byte of the scale of |row|, or of its minimum.
  int64_t scaleAt(int64_t row) const { return row * format.scaleBytes(); }
  int64_t minimumAt(int64_t row) const { return (width + row) * format.scaleBytes(); }
  /// Returns the offset of the byte with the integer of column |k| in |row|. With 4 bits, the byte also has the integer
  /// of another column.
  int64_t integerAt(int64_t row, int64_t k) const {
    int64_t quad = format.bits == 4 ? k / 8 : k / 4;
    return format.headBytes(width) + (quad * width + row) * 4 + k % 4;
  }
  /// Returns the number of bits by which the integer of column |k| is shifted to the left in its byte.
  int shiftOf(int64_t k) const { return format.bits == 4 && k % 8 >= 4 ? 4 : 0; }
};

/// Returns the bytes of `xfmr.weight_quantize_panels` for |matrix|, [panels, groups, bytes of a group] in row-major
/// order. A panel has |width| rows.
template <typename T>
std::vector<uint8_t> encodePanels(const GroupedMatrix<T> &matrix, xfmr::WeightFormat format, int64_t width) {
  const PanelLayout layout{format, width};
  int64_t rows = matrix.integers.rows, columns = matrix.integers.columns, groups = matrix.scales.columns;
  int64_t bytes = format.groupBytes(width, columns), panels = (rows + width - 1) / width;
  std::vector<uint8_t> result(static_cast<size_t>(panels * groups * bytes));
  auto storeNumber = [&](uint8_t *at, T number) {
    if (format.wideScales) {
      auto wide = static_cast<float>(number);
      std::memcpy(at, &wide, sizeof(wide));
    } else {
      uint16_t half = toHalf(static_cast<float>(number));
      std::memcpy(at, &half, sizeof(half));
    }
  };
  for (int64_t n = 0; n < panels * width; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      uint8_t *group = result.data() + (n / width * groups + g) * bytes;
      int64_t row = n % width;
      storeNumber(group + layout.scaleAt(row), n < rows ? matrix.scales(n, g) : T(0));
      if (format.minima)
        storeNumber(group + layout.minimumAt(row), n < rows ? matrix.minima(n, g) : T(0));
      for (int64_t k = 0; k < matrix.groupColumns; ++k) {
        int64_t column = g * matrix.groupColumns + k;
        auto integer = static_cast<int64_t>(n < rows && column < columns ? matrix.integers(n, column) : T(0));
        group[layout.integerAt(row, k)] |= static_cast<uint8_t>((integer + format.zero()) << layout.shiftOf(k));
      }
    }
  return result;
}

/// Returns the matrix that |panels| stores in the layout of encodePanels. The matrix has |rows| rows, |columns| columns
/// and groups of |groupColumns| columns.
template <typename T>
GroupedMatrix<T> decodePanels(const PlainBuffer &panels, xfmr::WeightFormat format, int64_t width, int64_t rows, int64_t columns,
                              int64_t groupColumns) {
  const PanelLayout layout{format, width};
  GroupedMatrix<T> result(format, rows, columns);
  result.groupColumns = groupColumns;
  result.scales = result.minima = Matrix<T>(rows, panels.size(1));
  auto byteAt = [&](int64_t n, int64_t g, int64_t at) { return static_cast<uint8_t>(panels.get<int64_t>({n / width, g, at})); };
  auto loadNumber = [&](int64_t n, int64_t g, int64_t at) {
    uint8_t bytes[4] = {};
    for (int64_t i = 0; i < format.scaleBytes(); ++i)
      bytes[i] = byteAt(n, g, at + i);
    float wide;
    uint16_t half;
    std::memcpy(&wide, bytes, sizeof(wide));
    std::memcpy(&half, bytes, sizeof(half));
    return format.wideScales ? wide : fromHalf(half);
  };
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t g = 0; g < panels.size(1); ++g) {
      result.scales(n, g) = loadNumber(n, g, layout.scaleAt(n % width));
      result.minima(n, g) = format.minima ? loadNumber(n, g, layout.minimumAt(n % width)) : 0.0f;
      for (int64_t k = 0; k < groupColumns && g * groupColumns + k < columns; ++k) {
        int stored = byteAt(n, g, layout.integerAt(n % width, k)) >> layout.shiftOf(k) & ((1 << format.bits) - 1);
        result.integers(n, g * groupColumns + k) = T(stored - format.zero());
      }
    }
  return result;
}

/// Rows of integers, with the scale and the sum of the integers of each group of columns: the three results of
/// `tile.quantize_rows` with three destinations. Scales and sums have a row for each row and a column for each group.
template <typename T>
struct GroupedRows {
  Matrix<T> integers, scales, sums;
};

/// Quantizes |input| by groups of |groupColumns| columns.
template <typename T>
GroupedRows<T> quantizeRowsByGroups(const Matrix<T> &input, int64_t groupColumns) {
  int64_t groups = (input.columns + groupColumns - 1) / groupColumns;
  GroupedRows<T> result{Matrix<T>(input.rows, input.columns), Matrix<T>(input.rows, groups), Matrix<T>(input.rows, groups)};
  for (int64_t t = 0; t < input.rows; ++t)
    for (int64_t g = 0; g < groups; ++g) {
      int64_t begin = g * groupColumns, end = std::min(begin + groupColumns, input.columns);
      T largest = findLargest(&input.values[size_t(t * input.columns + begin)], end - begin);
      if (!std::isfinite(largest)) {
        result.scales(t, g) = std::numeric_limits<T>::quiet_NaN();
        continue;
      }
      if (largest < T(0x1p-119))
        continue;
      result.scales(t, g) = largest / T(127);
      for (int64_t k = begin; k < end; ++k)
        result.sums(t, g) += result.integers(t, k) = std::nearbyint(input(t, k) * (T(127) / largest));
    }
  return result;
}

/// Returns the product of |rows| and the transposed |weights|, as `tile.grouped_product` defines it for rows of
/// integers. |minima| is true if the format of the weights has minima.
template <typename T>
Matrix<T> multiply(const GroupedRows<T> &rows, const GroupedMatrix<T> &weights, bool minima) {
  Matrix<T> result(rows.integers.rows, weights.integers.rows);
  int64_t columns = std::min(rows.integers.columns, weights.integers.columns);
  for (int64_t t = 0; t < result.rows; ++t)
    for (int64_t n = 0; n < result.columns; ++n) {
      T acc = 0;
      for (int64_t g = 0; g < weights.scales.columns; ++g) {
        int64_t sum = 0, begin = g * weights.groupColumns;
        for (int64_t k = begin; k < std::min(begin + weights.groupColumns, columns); ++k)
          sum += int64_t(rows.integers(t, k)) * int64_t(weights.integers(n, k));
        acc = std::fma(T(sum), rows.scales(t, g) * weights.scales(n, g), acc);
        if (minima)
          acc = std::fma(weights.minima(n, g), rows.scales(t, g) * rows.sums(t, g), acc);
      }
      result(t, n) = acc;
    }
  return result;
}

/// Returns the sum of elements |begin| to |end| - 1 of row |t| of |rows|. These are at most 32 elements, added in the
/// order of (N2) of `tile.grouped_product`.
template <typename T>
T sumBlock(const Matrix<T> &rows, int64_t t, int64_t begin, int64_t end) {
  T sums[16];
  auto element = [&](int64_t k) { return k < end ? rows(t, k) : T(0); };
  for (int64_t i = 0; i < 16; ++i)
    sums[i] = element(begin + i) + element(begin + 16 + i);
  for (int64_t distance = 8; distance > 0; distance /= 2)
    for (int64_t i = 0; i < distance; ++i)
      sums[i] += sums[i + distance];
  return sums[0];
}

/// Returns the product of |rows| and the transposed |weights|, as `tile.grouped_product` defines it for rows of floats.
/// |minima| is true if the format of the weights has minima.
template <typename T>
Matrix<T> multiply(const Matrix<T> &rows, const GroupedMatrix<T> &weights, bool minima) {
  Matrix<T> result(rows.rows, weights.integers.rows);
  const int64_t block = weights.groupColumns == 16 ? 16 : 32;
  for (int64_t t = 0; t < result.rows; ++t)
    for (int64_t n = 0; n < result.columns; ++n) {
      T acc = 0;
      for (int64_t begin = 0; begin < rows.columns; begin += block) {
        int64_t end = std::min(begin + block, rows.columns), g = begin / weights.groupColumns;
        T sum = 0;
        for (int64_t k = begin; k < end; ++k)
          sum = std::fma(weights.integers(n, k), rows(t, k), sum);
        acc = std::fma(weights.scales(n, g), sum, acc);
        if (minima)
          acc = std::fma(weights.minima(n, g), sumBlock(rows, t, begin, end), acc);
      }
      result(t, n) = acc;
    }
  return result;
}

/// Rounds |values| to |precision| if |precision| is bf16 or f16; else leaves them unchanged.
template <typename T>
void roundToPrecision(std::vector<T> &values, xfmr::Precision precision) {
  if (precision != xfmr::Precision::BF16 && precision != xfmr::Precision::F16)
    return;
  for (T &value : values)
    value = precision == xfmr::Precision::BF16 ? roundToBf16(static_cast<float>(value)) : fromHalf(toHalf(static_cast<float>(value)));
}

/// Returns the product of |x|, rounded or quantized to |precision|, and the transposed |w|, quantized to |format|, a
/// format of integers. Rows of |w| that are in |calibrated| have the integers of the calibration. Returns nullopt in
/// the cases in which quantizeByGroups does.
template <typename T>
std::optional<Matrix<T>> multiplyInFormat(Matrix<T> x, const Matrix<T> &w, xfmr::WeightFormat format, xfmr::Precision precision,
                                          llvm::ArrayRef<CalibratedRows> calibrated) {
  std::optional<GroupedMatrix<T>> weights = quantizeByGroups(w, format, calibrated);
  if (!weights)
    return std::nullopt;
  if (precision == xfmr::Precision::Int8)
    return multiply(quantizeRowsByGroups(x, weights->groupColumns), *weights, format.minima);
  roundToPrecision(x.values, precision);
  return multiply(x, *weights, format.minima);
}

/// Rounds |values| to |format|, bf16 or f16.
template <typename T>
void roundToFormat(std::vector<T> &values, xfmr::WeightFormat format) {
  roundToPrecision(values, format.kind == xfmr::WeightFormat::Kind::BF16 ? xfmr::Precision::BF16 : xfmr::Precision::F16);
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightQuantizePanelsOp op) {
  PlainBuffer weight = c.in(op.getWeight()), out = c.out(mlir::cast<mlir::ShapedType>(op.getType()).getShape());
  const xfmr::WeightFormat format = op.getFormat().getValue();
  const bool isStack = weight.rank() == 3;
  for (int64_t e = 0, number = 0; e < (isStack ? weight.size(0) : 1); ++e) {
    Matrix<T> matrix(weight, isStack ? std::optional(e) : std::nullopt);
    std::optional<GroupedMatrix<T>> grouped = quantizeByGroups(matrix, format, c.calibrated());
    if (!grouped)
      return c.fault("expected scales and minima within f16");
    for (uint8_t byte : encodePanels(*grouped, format, int64_t(op.getWidth())))
      out.set<int64_t>(out.indicesOf(number++), int8_t(byte));
  }
}

template <typename T>
void compute(Context<T> &c, tiles::GroupedProductOp op) {
  PlainBuffer rows = c.in(op.getRows()), panels = c.in(op.getPanels());
  PlainBuffer out = c.destination(op.getDestination(), 0);
  const xfmr::WeightFormat format = op.getFormat().getValue();
  GroupedMatrix<T> weights = decodePanels<T>(panels, format, int64_t(op.getWidth()), out.size(1), rows.size(1), op.getGroupColumns());
  Matrix<T> product;
  if (op.hasQuantizedRows())
    product =
        multiply(GroupedRows<T>{Matrix<T>(rows), Matrix<T>(c.in(op.getScales())), Matrix<T>(c.in(op.getSums()))}, weights, format.minima);
  else
    product = multiply(Matrix<T>(rows), weights, format.minima);
  writeMatrix(product, out);
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_FORMATS_H
