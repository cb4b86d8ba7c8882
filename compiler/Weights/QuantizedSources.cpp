//===- QuantizedSources.cpp - Weight sources of fewer bits -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The part of SourceReader that rounds. A row's scale depends on the whole row, so boxes of codes and sums read whole rows, a few at a
// time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Weights/ElementTypes.h"
#include "compiler/Weights/SourceReader.h"
#include "compiler/Weights/StridedCopy.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

/// Most elements of the rows that are in memory at once, unless one row has more.
static constexpr int64_t kBufferElements = int64_t(1) << 20;

Status SourceReader::readRows(Attribute source, int64_t begin, int64_t count, llvm::function_ref<void(int64_t, ArrayRef<float>)> use) {
  int64_t columns = getSourceType(source).getDimSize(1);
  int64_t step = std::max<int64_t>(1, kBufferElements / std::max<int64_t>(1, columns));
  std::vector<float> buffer(std::min(step, count) * columns);
  for (int64_t first = 0; first < count; first += step) {
    int64_t rows = std::min(step, count - first);
    if (Status status = read(source, SourceBox::dense({begin + first, 0}, {rows, columns}, buffer.data())); status.failed())
      return status;
    for (int64_t row = 0; row < rows; ++row)
      use(first + row, ArrayRef<float>(buffer).slice(row * columns, columns));
  }
  return {};
}

/// What one step of the codes of |row| is worth.
static float scaleOf(ArrayRef<float> row) {
  float largest = 0;
  for (float value : row)
    largest = std::max(largest, std::fabs(value)); // a NaN is passed over
  return largest / 127.0f;
}

Status SourceReader::readRowScales(RowScalesSourceAttr source, const SourceBox &box) {
  return readRows(source.getSource(), box.offsets[0], box.sizes[0],
                  [&](int64_t row, ArrayRef<float> values) { box.out[row * box.strides[0]] = scaleOf(values); });
}

Status SourceReader::readRowCodes(RowCodesSourceAttr source, const SourceBox &box) {
  return readRows(source.getSource(), box.offsets[0], box.sizes[0], [&](int64_t row, ArrayRef<float> values) {
    float scale = scaleOf(values);
    float *out = box.out + row * box.strides[0];
    for (float value : values.slice(box.offsets[1], box.sizes[1])) {
      float code = scale > 0 ? std::nearbyint(value / scale) : 0.0f;
      *out = code == code ? std::clamp(code, -127.0f, 127.0f) : 0.0f;
      out += box.strides[1];
    }
  });
}

Status SourceReader::readRowSums(RowSumsSourceAttr source, const SourceBox &box) {
  return readRows(source.getSource(), box.offsets[0], box.sizes[0], [&](int64_t row, ArrayRef<float> codes) {
    int64_t sum = 0;
    for (float code : codes)
      sum += static_cast<int64_t>(code);
    box.out[row * box.strides[0]] = static_cast<float>(sum);
  });
}

Status SourceReader::readConvert(ConvertSourceAttr source, const SourceBox &box) {
  if (Status status = read(source.getSource(), box); status.failed())
    return status;
  transformStrided([type = source.getType()](float value) { return roundToType(type, value); }, box.sizes, box.strides, box.out);
  return {};
}

Status SourceReader::readGroupedPanels(GroupedPanelsSourceAttr source, const SourceBox &box) {
  int64_t width = source.getWidth(), group = source.getGroup();
  RankedTensorType matrix = getSourceType(source.getSource());
  // Of the matrix, the columns that the box's groups have neighbours in.
  int64_t first = std::min(box.offsets[1] * group, matrix.getDimSize(1));
  int64_t columns = std::min((box.offsets[1] + box.sizes[1]) * group, matrix.getDimSize(1)) - first;
  fillStrided(0.0f, box.sizes, box.strides, box.out);
  std::vector<float> buffer;
  for (int64_t panel = 0; panel < box.sizes[0]; ++panel) {
    int64_t row = (box.offsets[0] + panel) * width + box.offsets[2];
    int64_t rows = std::clamp<int64_t>(matrix.getDimSize(0) - row, 0, box.sizes[2]);
    if (rows == 0 || columns == 0)
      continue;
    buffer.resize(rows * columns);
    if (Status status = read(source.getSource(), SourceBox::dense({row, first}, {rows, columns}, buffer.data())); status.failed())
      return status;
    for (int64_t q = 0; q < box.sizes[1]; ++q)
      for (int64_t j = 0; j < rows; ++j)
        for (int64_t i = 0; i < box.sizes[3]; ++i) {
          int64_t column = q * group + box.offsets[3] + i;
          if (column < columns)
            box.out[panel * box.strides[0] + q * box.strides[1] + j * box.strides[2] + i * box.strides[3]] = buffer[j * columns + column];
        }
  }
  return {};
}
