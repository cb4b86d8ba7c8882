//===- StoredMatrix.cpp - A matrix of a few bits as files store it --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files pack several values into words of 32 bits. A run of values is a run of bits: value i has the bits from i * bits
// on, the lowest first, and may begin in one word and end in the next. The formats differ in the direction of the runs
// and in the number that is added to values before they are stored. N is the number of outputs of a matrix, K the
// number of its inputs, and G the number of groups of inputs:
//
//                    values of a matrix             zero points                    scales
//   GPTQ             qweight [K * bits / 32, N]     qzeros [G, N * bits / 32]      scales [G, N]
//                    a run for each output, along K  along N, often minus one
//   AWQ (GEMM)       qweight [K, N / 8]             qzeros [G, N / 8]              scales [G, N]
//                    along N; the eight outputs of a word in the order 0 2 4 6 1 3 5 7
//   compressed-      weight_packed [N, K*bits/32]   weight_zero_point              weight_scale [N, G]
//   tensors          along K, plus 2^(bits - 1)     [N * bits / 32, G], along N,
//                                                   plus 2^(bits - 1)
//                    weight [N, K] of I8            weight_zero_point [N, G] of I8
//                    weight [N, K] of F8_E4M3       none
//   fp8              weight [N, K] of F8_E4M3       none                           weight_scale_inv, one a block
//===----------------------------------------------------------------------===//
#include "compiler/Weights/StoredMatrix.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace attune;

static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// Returns the value of |code|, a float with 4 bits of exponent and 3 bits of mantissa (E4M3FN). The type has no
/// infinities and, for each sign, one NaN.
static float decodeFloat8(uint8_t code) {
  const int exponent = (code >> 3) & 15, mantissa = code & 7;
  if (exponent == 15 && mantissa == 7)
    return std::numeric_limits<float>::quiet_NaN();
  const float size = exponent == 0 ? std::ldexp(float(mantissa), -9) : std::ldexp(float(8 + mantissa), exponent - 10);
  return code & 0x80 ? -size : size;
}

namespace {

/// A run of values of 1 to 8 bits in words of 32 bits. The first word is at |data|, the next ones |step| bytes after
/// the one before.
struct BitRun {
  const uint8_t *data;
  int64_t step;
  int bits;

  int operator[](int64_t index) const {
    const int64_t position = index * bits;
    const int shift = int(position % 32);
    uint64_t word = load(position / 32);
    if (shift + bits > 32)
      word |= uint64_t(load(position / 32 + 1)) << 32;
    return int((word >> shift) & ((1u << bits) - 1));
  }

private:
  uint32_t load(int64_t word) const {
    uint32_t value;
    std::memcpy(&value, data + word * step, sizeof(value));
    return value;
  }
};

} // namespace

/// Returns the index of output |row| in the run of values in which AWQ stores it: a word has eight outputs in the
/// order 0 2 4 6 1 3 5 7.
static int64_t awqPlace(int64_t row) {
  static const int64_t places[8] = {0, 4, 1, 5, 2, 6, 3, 7};
  return row / 8 * 8 + places[row % 8];
}

float StoredMatrix::scaleOf(int64_t row, int64_t group) const {
  const bool byGroup = layout == GptqWords || layout == AwqWords;
  float scale;
  convertToF32(*scales, byGroup ? group * rows + row : row / scaleRows * groups + group, 1, &scale);
  return scale;
}

int StoredMatrix::gptqZeroOf(int64_t row, const uint8_t *line) const {
  const int stored = BitRun{line, 4, bits}[row], mask = (1 << bits) - 1;
  if (!zerosMinusOne)
    return stored;
  if (32 % bits != 0)
    return (stored + 1) & mask;
  // GPTQModel stores a word of zero points minus a word of ones, in one subtraction. So a zero point of 0 has
  // borrowed from the next one, and only the addition to the whole word restores both.
  uint32_t word;
  std::memcpy(&word, line + row * bits / 32 * 4, sizeof(word));
  word += UINT32_MAX / uint32_t(mask);
  return int((word >> (row * bits % 32)) & uint32_t(mask));
}

int StoredMatrix::zeroOf(int64_t row, int64_t group) const {
  if (!zeros)
    return 0;
  const int offset = 1 << (bits - 1);
  switch (layout) {
  case GptqWords:
    return gptqZeroOf(row, zeros->data + group * ceilDiv(rows * bits, 32) * 4);
  case AwqWords:
    return BitRun{zeros->data + group * (rows / 8) * 4, 4, 4}[awqPlace(row)];
  case RowWords:
    return BitRun{zeros->data + 4 * group, 4 * groups, bits}[row] - offset;
  default:
    return int8_t(zeros->data[row / scaleRows * groups + group]);
  }
}

template <typename Code>
void StoredMatrix::dequantize(int64_t row, int64_t column, int64_t count, float *out, Code code) const {
  int64_t current = -1;
  float scale = 0;
  int zero = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = column + i, group = groupOf.empty() ? k / groupSize : groupOf[k];
    if (group != current) {
      current = group;
      scale = scaleOf(row, group);
      zero = zeroOf(row, group);
    }
    out[i] = scale * float(code(k) - zero);
  }
}
void StoredMatrix::read(int64_t row, int64_t column, int64_t count, float *out) const {
  switch (layout) {
  case GptqWords: {
    const BitRun run = {codes->data + 4 * row, 4 * rows, bits};
    return dequantize(row, column, count, out, [&](int64_t k) { return run[k]; });
  }
  case AwqWords: {
    const int64_t pitch = rows / 8 * 4, place = awqPlace(row);
    return dequantize(row, column, count, out, [&](int64_t k) { return BitRun{codes->data + k * pitch, 4, 4}[place]; });
  }
  case RowWords: {
    const BitRun run = {codes->data + row * ceilDiv(columns * bits, 32) * 4, 4, bits};
    const int offset = 1 << (bits - 1);
    return dequantize(row, column, count, out, [&](int64_t k) { return run[k] - offset; });
  }
  case Bytes: {
    const uint8_t *line = codes->data + row * columns;
    return dequantize(row, column, count, out, [&](int64_t k) { return int(int8_t(line[k])); });
  }
  case Float8: {
    const uint8_t *line = codes->data + row * columns;
    return dequantize(row, column, count, out, [&](int64_t k) { return decodeFloat8(line[k]); });
  }
  }
}

namespace {

/// Finds the tensors that store one quantized matrix of a folder (values, scales, zero points, groups of columns),
/// checks their types and shapes, and derives the layout of the matrix from them.
class MatrixFinder {
public:
  MatrixFinder(const SafetensorsFolder &folder, const QuantizedFormat &format) : folder(folder), format(format) {}

  /// Returns the matrix `NAME.weight`, where |name| is NAME and the given tensor has its quantized values. Fails if the
  /// folder lacks another tensor of this matrix, or if one of its tensors has a wrong type or shape.
  Result<StoredMatrix> find(const std::string &name, const TensorView &codes) {
    module = name;
    matrix = StoredMatrix();
    matrix.codes = &codes;
    switch (format.method) {
    case QuantizedFormat::Gptq:
      return finish(findGptq());
    case QuantizedFormat::Awq:
      return finish(findAwq());
    case QuantizedFormat::CompressedTensors:
      return finish(findCompressed());
    case QuantizedFormat::BlockFloat8:
      return finish(findFloat8(".weight_scale_inv"));
    }
    return finish({});
  }

private:
  Result<StoredMatrix> finish(Status status) {
    if (status.failed())
      return status;
    return std::move(matrix);
  }

  Status fail(const TensorView &view, const std::string &expected, const std::string &got) const {
    return Status::error(folder.fileOf(view.name) + ": tensor '" + view.name + "': expected " + expected + ", got " + got);
  }

  /// Succeeds if |view| has the type |dtype| and the shape |shape|.
  Status check(const TensorView &view, DType dtype, const std::vector<int64_t> &shape) const {
    if (view.dtype != dtype)
      return fail(view, dtypeName(dtype), dtypeName(view.dtype));
    if (view.shape != shape)
      return fail(view, "shape " + shapeText(shape), shapeText(view.shape));
    return {};
  }

  Status checkRank(const TensorView &view, DType dtype) const {
    if (view.dtype != dtype)
      return fail(view, dtypeName(dtype), dtypeName(view.dtype));
    if (view.shape.size() != 2 || view.elements == 0)
      return fail(view, "a matrix that is not empty", "shape " + shapeText(view.shape));
    return {};
  }

  /// Sets |view| to the tensor with the name of the module followed by |suffix|, such as ".scales". Fails if there is
  /// none.
  Status require(const char *suffix, const TensorView *&view) const {
    view = folder.find(module + suffix);
    if (view)
      return {};
    return fail(*matrix.codes, "'" + module + suffix + "' beside it", "none in the files");
  }

  /// Succeeds if the scales are floats, of the shape |shape|.
  Status checkScales(const std::vector<int64_t> &shape) const {
    if (!isFloat(matrix.scales->dtype))
      return fail(*matrix.scales, kFloatNames, dtypeName(matrix.scales->dtype));
    return check(*matrix.scales, matrix.scales->dtype, shape);
  }

  /// Reads the group of each column from the tensor with the name of the module followed by |suffix| into groupOf.
  /// Leaves groupOf empty if there is no such tensor, or if it has -1 for every column.
  Status readGroups(const char *suffix) {
    const TensorView *view = folder.find(module + suffix);
    if (!view)
      return {};
    if (view->dtype != DType::I32 && view->dtype != DType::I64)
      return fail(*view, "I32", dtypeName(view->dtype));
    if (Status status = check(*view, view->dtype, {matrix.columns}); status.failed())
      return status;
    std::vector<int64_t> values(matrix.columns);
    convertToI64(*view, 0, matrix.columns, values.data());
    // -1 for every column means that groups are neighboring columns.
    if (std::all_of(values.begin(), values.end(), [](int64_t group) { return group == -1; }))
      return {};
    for (int64_t group : values)
      if (group < 0 || group >= matrix.groups)
        return fail(*view, "groups in [0, " + std::to_string(matrix.groups) + ")", std::to_string(group));
    matrix.groupOf.assign(values.begin(), values.end());
    return {};
  }

  /// Sets bits, groups, scales and zero points of a matrix of GPTQ or AWQ. Checks the scales; the caller checks the
  /// zero points.
  Status findGroups() {
    const int64_t size = format.groups.front().size;
    matrix.bits = format.groups.front().bits;
    matrix.groupSize = size == 0 ? matrix.columns : size;
    matrix.groups = ceilDiv(matrix.columns, matrix.groupSize);
    if (Status status = require(".scales", matrix.scales); status.failed())
      return status;
    if (Status status = checkScales({matrix.groups, matrix.rows}); status.failed())
      return status;
    return require(".qzeros", matrix.zeros);
  }

  Status findGptq() {
    if (Status status = checkRank(*matrix.codes, DType::I32); status.failed())
      return status;
    const int bits = format.groups.front().bits;
    const int64_t words = matrix.codes->shape[0];
    if (words * 32 % bits != 0)
      return fail(*matrix.codes, "a multiple of " + std::to_string(bits) + " words", shapeText(matrix.codes->shape));
    matrix.layout = StoredMatrix::GptqWords;
    matrix.columns = words * 32 / bits;
    matrix.rows = matrix.codes->shape[1];
    matrix.zerosMinusOne = format.zerosMinusOne;
    if (Status status = findGroups(); status.failed())
      return status;
    if (Status status = check(*matrix.zeros, DType::I32, {matrix.groups, ceilDiv(matrix.rows * bits, 32)}); status.failed())
      return status;
    return readGroups(".g_idx");
  }

  Status findAwq() {
    if (Status status = checkRank(*matrix.codes, DType::I32); status.failed())
      return status;
    matrix.layout = StoredMatrix::AwqWords;
    matrix.columns = matrix.codes->shape[0];
    matrix.rows = matrix.codes->shape[1] * 8;
    if (Status status = findGroups(); status.failed())
      return status;
    return check(*matrix.zeros, DType::I32, {matrix.groups, matrix.rows / 8});
  }

  Status findFloat8(const char *scaleSuffix) {
    if (Status status = checkRank(*matrix.codes, DType::F8_E4M3); status.failed())
      return status;
    matrix.layout = StoredMatrix::Float8;
    matrix.rows = matrix.codes->shape[0];
    matrix.columns = matrix.codes->shape[1];
    if (Status status = require(scaleSuffix, matrix.scales); status.failed())
      return status;
    return findScales();
  }

  /// Determines from the shape of the scales which elements share a scale: all elements, those of a row, of a group of
  /// columns of a row, or of a block.
  Status findScales() {
    const TensorView &scales = *matrix.scales;
    if (!isFloat(scales.dtype))
      return fail(scales, kFloatNames, dtypeName(scales.dtype));
    matrix.groupSize = matrix.columns;
    matrix.groups = 1;
    if (scales.elements == 1) {
      matrix.scaleRows = matrix.rows;
      return {};
    }
    if (scales.shape == std::vector<int64_t>{matrix.rows} || scales.shape == std::vector<int64_t>{matrix.rows, 1})
      return {};
    if (format.blockRows > 0 &&
        scales.shape == std::vector<int64_t>{ceilDiv(matrix.rows, format.blockRows), ceilDiv(matrix.columns, format.blockColumns)}) {
      matrix.scaleRows = format.blockRows;
      matrix.groupSize = format.blockColumns;
      matrix.groups = scales.shape[1];
      return {};
    }
    // A group of modules with fewer than 8 bits may store its values in bytes, so the number of bits must match only
    // for packed values.
    const bool isPacked = matrix.layout == StoredMatrix::RowWords;
    for (const QuantizedFormat::Groups &groups : format.groups)
      if (groups.size > 0 && (!isPacked || groups.bits == matrix.bits) &&
          scales.shape == std::vector<int64_t>{matrix.rows, ceilDiv(matrix.columns, groups.size)}) {
        matrix.groupSize = groups.size;
        matrix.groups = scales.shape[1];
        return {};
      }
    return fail(scales, "one scale, one for each of " + std::to_string(matrix.rows) + " rows, or one for each group of the configuration",
                "shape " + shapeText(scales.shape));
  }

  Status findCompressed() {
    const TensorView &codes = *matrix.codes;
    const bool packed = codes.name == module + ".weight_packed";
    if (codes.dtype == DType::F8_E4M3)
      return findFloat8(".weight_scale");
    if (Status status = packed ? findPacked() : checkRank(codes, DType::I8); status.failed())
      return status;
    if (!packed) {
      matrix.rows = codes.shape[0];
      matrix.columns = codes.shape[1];
    }
    if (Status status = require(".weight_scale", matrix.scales); status.failed())
      return status;
    if (Status status = findScales(); status.failed())
      return status;
    matrix.zeros = folder.find(module + ".weight_zero_point");
    if (matrix.zeros) {
      // Packed zero points must have one value for each row, even if all rows share a scale: no published file has one
      // scale and packed zero points.
      const int64_t rows = ceilDiv(matrix.rows, matrix.scaleRows);
      Status status = packed ? check(*matrix.zeros, DType::I32, {ceilDiv(matrix.rows * matrix.bits, 32), matrix.groups})
                      : matrix.zeros->elements == rows * matrix.groups ? check(*matrix.zeros, DType::I8, matrix.zeros->shape)
                                                                       : check(*matrix.zeros, DType::I8, {rows, matrix.groups});
      if (status.failed())
        return status;
    }
    return readGroups(".weight_g_idx");
  }

  /// Sets rows and columns from the tensor `.weight_shape`. Sets bits to the number of bits in the configuration with
  /// which a row takes as many words as it has in the file. Fails if no number fits, or if several do, as may be with
  /// short rows.
  Status findPacked() {
    const TensorView &codes = *matrix.codes;
    if (Status status = checkRank(codes, DType::I32); status.failed())
      return status;
    const TensorView *shape = nullptr;
    if (Status status = require(".weight_shape", shape); status.failed())
      return status;
    if ((shape->dtype != DType::I64 && shape->dtype != DType::I32) || shape->shape != std::vector<int64_t>{2})
      return fail(*shape, "two integers", std::string(dtypeName(shape->dtype)) + " of shape " + shapeText(shape->shape));
    int64_t sizes[2];
    convertToI64(*shape, 0, 2, sizes);
    matrix.layout = StoredMatrix::RowWords;
    matrix.rows = sizes[0];
    matrix.columns = sizes[1];
    matrix.bits = 0;
    // A row has at least one bit for each column. The check that a row has no more columns than its words have bits
    // keeps the products below from overflowing.
    const bool possible = sizes[0] == codes.shape[0] && sizes[1] > 0 && sizes[1] <= codes.shape[1] * 32;
    for (const QuantizedFormat::Groups &groups : format.groups) {
      if (!possible || ceilDiv(sizes[1] * groups.bits, 32) != codes.shape[1] || groups.bits == matrix.bits)
        continue;
      if (matrix.bits != 0)
        return fail(codes, "rows whose words fit one of the configuration's bits",
                    "rows of " + std::to_string(sizes[1]) + " columns, which fit " + std::to_string(matrix.bits) + " and " +
                        std::to_string(groups.bits));
      matrix.bits = groups.bits;
    }
    if (matrix.bits == 0)
      return fail(codes, "the words of a matrix of shape " + shapeText({sizes[0], sizes[1]}) + " with the configuration's bits",
                  "shape " + shapeText(codes.shape));
    return {};
  }

  const SafetensorsFolder &folder;
  const QuantizedFormat &format;
  std::string module;
  StoredMatrix matrix;
};

} // namespace

Result<StoredMatrix> attune::findStoredMatrix(const SafetensorsFolder &folder, const QuantizedFormat &format, const std::string &name,
                                              const TensorView &values) {
  return MatrixFinder(folder, format).find(name, values);
}
