//===- SourceReader.cpp - Elements of weight source expressions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/SourceReader.h"
#include "compiler/Weights/CalibratedRows.h"
#include "compiler/Weights/ElementTypes.h"
#include "compiler/Weights/StridedCopy.h"
#include "compiler/Weights/WeightQuantizer.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace attune;
using namespace mlir::xfmr;

SourceBox SourceBox::dense(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, float *out) {
  SourceBox box{llvm::to_vector<4>(offsets), llvm::to_vector<4>(sizes), {}, out};
  box.strides.resize(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;)
    box.strides[dim - 1] = box.strides[dim] * sizes[dim];
  return box;
}

Status SourceReader::verify(Attribute source) const {
  Status status;
  source.walk([&](Attribute attr) {
    if (auto table = dyn_cast<ComputedSourceAttr>(attr); table && !findComputedTable(table.getKind()))
      status = Status::error("computed weight '" + table.getKind().str() + "' is not one this compiler knows");
    if (auto shard = dyn_cast<ShardSourceAttr>(attr); shard && rank >= shard.getBegins().size())
      status = Status::error("expected a weight with a shard for rank " + std::to_string(rank) + ", got one for " +
                             std::to_string(shard.getBegins().size()) + " ranks");
    auto tensor = dyn_cast<TensorSourceAttr>(attr);
    if (!tensor)
      return;
    std::string name = tensor.getName().str();
    std::string place = tensors.fileOf(name) + ": tensor '" + name + "'";
    std::vector<int64_t> wanted = tensor.getType().getShape().vec();
    const TensorSpec *spec = tensors.find(name);
    if (!spec)
      status = Status::error(place + " is missing, expected shape " + shapeText(wanted));
    else if (spec->shape != wanted)
      status = Status::error(place + ": expected shape " + shapeText(wanted) + ", got " + shapeText(spec->shape));
    else if (!isFloat(spec->dtype))
      status = Status::error(place + ": expected " + kFloatNames + ", got " + dtypeName(spec->dtype));
  });
  return status;
}

Status SourceReader::read(Attribute source, SourceBox box) {
  if (box.empty())
    return {};
  return llvm::TypeSwitch<Attribute, Status>(source)
      .Case([&](TensorSourceAttr attr) { return readTensor(attr, box); })
      .Case([&](FillSourceAttr attr) {
        fillStrided(static_cast<float>(attr.getValue().getValueAsDouble()), box.sizes, box.strides, box.out);
        return Status();
      })
      .Case([&](ComputedSourceAttr attr) {
        ComputedTableFn table = findComputedTable(attr.getKind());
        return readRuns(attr.getType().getShape(), box, [&](int64_t begin, int64_t count, float *out) {
          return table(attr.getParams(), attr.getType(), begin, count, out);
        });
      })
      .Case([&](ConcatSourceAttr attr) { return readConcat(attr, box); })
      .Case([&](StackSourceAttr attr) { return readStack(attr, box); })
      .Case([&](SliceSourceAttr attr) {
        box.offsets[attr.getAxis()] += attr.getBegin();
        return read(attr.getSource(), box);
      })
      .Case([&](ShardSourceAttr attr) {
        box.offsets[attr.getAxis()] += attr.getBegins()[rank];
        return read(attr.getSource(), box);
      })
      .Case([&](SelectSourceAttr attr) { return readSelect(attr, box); })
      .Case([&](TransposeSourceAttr attr) { return readTranspose(attr, box); })
      .Case([&](ReshapeSourceAttr attr) { return readReshape(attr, box); })
      .Case([&](ScaleSourceAttr attr) { return readScale(attr, box); })
      .Case([&](ShiftSourceAttr attr) { return readShift(attr, box); })
      .Case([&](ProjectSourceAttr attr) { return readProject(attr, box); })
      .Case([&](LayerNormSourceAttr attr) { return readLayerNorm(attr, box); })
      .Case([&](UnitRowsSourceAttr attr) { return readUnitRows(attr, box); })
      .Case([&](PanelsSourceAttr attr) { return readPanels(attr, box); })
      .Case([&](GroupedPanelsSourceAttr attr) { return readGroupedPanels(attr, box); })
      .Case([&](ConvertSourceAttr attr) { return readConvert(attr, box); })
      .Case([&](RowScalesSourceAttr attr) { return readRowScales(attr, box); })
      .Case([&](RowQuantizedSourceAttr attr) { return readRowQuantized(attr, box); })
      .Case([&](QuantizedPanelsSourceAttr attr) { return readQuantizedPanels(attr, box); })
      .Case([&](RowSumsSourceAttr attr) { return readRowSums(attr, box); })
      .Default([](Attribute) { return Status::error("not a weight source"); });
}

/// Splits the slice |box| of a row-major tensor of |shape| into runs of consecutive elements, and calls |run| to read
/// each of them.
Status SourceReader::readRuns(ArrayRef<int64_t> shape, const SourceBox &box, RunFn run) {
  StridedRuns runs(shape, box.offsets, box.sizes, box.strides);
  std::vector<float> buffer(runs.needsBuffer() ? runs.bufferElements() : 0);
  for (StridedRuns::Block block; runs.next(block);) {
    if (!runs.needsBuffer()) {
      if (Status status = run(block.begin, block.count, box.out + block.out); status.failed())
        return status;
      continue;
    }
    for (int64_t row = 0; row < block.rows; ++row)
      if (Status status = run(block.begin + row * block.rowStride, block.count, buffer.data() + row * runs.pitch()); status.failed())
        return status;
    runs.scatter(block, buffer.data(), box.out);
  }
  return {};
}

/// Returns true if one of |values| is infinite or NaN.
static bool hasNonFinite(const float *values, int64_t count) {
  uint32_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    found |= (bits & 0x7f800000u) == 0x7f800000u;
  }
  return found != 0;
}

Status SourceReader::readTensor(TensorSourceAttr source, const SourceBox &box) {
  StringRef name = source.getName();
  return readRuns(source.getType().getShape(), box, [&](int64_t begin, int64_t count, float *out) {
    Status status = tensors.read({name.data(), name.size()}, begin, count, out);
    if (!status.failed() && hasNonFinite(out, count))
      nonFiniteNames.insert(name.str());
    return status;
  });
}

Status SourceReader::readConcat(ConcatSourceAttr source, const SourceBox &box) {
  int64_t axis = source.getAxis(), begin = box.offsets[axis], end = begin + box.sizes[axis], position = 0;
  for (Attribute part : source.getSources()) {
    int64_t size = getSourceType(part).getDimSize(axis);
    int64_t from = std::max(begin, position), to = std::min(end, position + size);
    if (from < to) {
      SourceBox inner = box;
      inner.offsets[axis] = from - position;
      inner.sizes[axis] = to - from;
      inner.out = box.out + (from - begin) * box.strides[axis];
      if (Status status = read(part, inner); status.failed())
        return status;
    }
    position += size;
  }
  return {};
}

Status SourceReader::readStack(StackSourceAttr source, const SourceBox &box) {
  for (int64_t i = 0; i < box.sizes[0]; ++i) {
    SourceBox inner{llvm::to_vector<4>(ArrayRef(box.offsets).drop_front()), llvm::to_vector<4>(ArrayRef(box.sizes).drop_front()),
                    llvm::to_vector<4>(ArrayRef(box.strides).drop_front()), box.out + i * box.strides[0]};
    if (Status status = read(source.getSources()[box.offsets[0] + i], inner); status.failed())
      return status;
  }
  return {};
}

/// Returns the difference of neighbors in |indices|, which may be negative, if it is the same for all and less than 16,
/// the number of f32 in a cache line; else 0.
static int64_t smallStep(ArrayRef<int64_t> indices) {
  constexpr int64_t most = 16;
  int64_t step = indices.size() < 2 ? 0 : indices[1] - indices[0];
  for (size_t i = 1; i < indices.size(); ++i)
    if (indices[i] - indices[i - 1] != step)
      return 0;
  return step < most ? step : 0;
}

Status SourceReader::readSelect(SelectSourceAttr source, const SourceBox &box) {
  int64_t axis = source.getAxis();
  ArrayRef<int64_t> indices = source.getIndices().asArrayRef().slice(box.offsets[axis], box.sizes[axis]);
  if (int64_t step = smallStep(indices); step > 1)
    return readEveryNth(source.getSource(), box, axis, indices[0], step);
  for (size_t i = 0, run = 1; i < indices.size(); i += run) {
    for (run = 1; i + run < indices.size() && indices[i + run] == indices[i] + int64_t(run);)
      ++run;
    SourceBox inner = box;
    inner.offsets[axis] = indices[i];
    inner.sizes[axis] = run;
    inner.out = box.out + int64_t(i) * box.strides[axis];
    if (Status status = read(source.getSource(), inner); status.failed())
      return status;
  }
  return {};
}

/// Reads the slice |box| of a source that has the indices |first|, |first| + |step|, … of |source| along |axis|. Reads
/// the indices between them into a buffer, too, which is faster than many small reads.
Status SourceReader::readEveryNth(Attribute source, const SourceBox &box, int64_t axis, int64_t first, int64_t step) {
  SmallVector<int64_t, 4> offsets(box.offsets), sizes(box.sizes), from(box.sizes.size(), 1);
  offsets[axis] = first;
  sizes[axis] = (box.sizes[axis] - 1) * step + 1;
  int64_t elements = 1;
  for (int64_t size : sizes)
    elements *= size;
  std::vector<float> buffer(elements);
  SourceBox all = SourceBox::dense(offsets, sizes, buffer.data());
  if (Status status = read(source, all); status.failed())
    return status;
  all.strides[axis] *= step;
  copyStrided(buffer.data(), all.strides, box.sizes, box.strides, box.out);
  return {};
}

Status SourceReader::readTranspose(TransposeSourceAttr source, const SourceBox &box) {
  SourceBox inner = box;
  for (auto [dim, from] : llvm::enumerate(source.getPermutation().asArrayRef())) {
    inner.offsets[from] = box.offsets[dim];
    inner.sizes[from] = box.sizes[dim];
    inner.strides[from] = box.strides[dim];
  }
  return read(source.getSource(), inner);
}

/// Writes elements |begin| … |begin| + |count| - 1 of |source|, in row-major order, to |out|. Reads them as a series of
/// slices, each as large as possible.
Status SourceReader::readFlat(Attribute source, int64_t begin, int64_t count, float *out) {
  ArrayRef<int64_t> shape = getSourceType(source).getShape();
  while (count > 0) {
    SmallVector<int64_t, 4> offsets(shape.size()), sizes(shape.size(), 1);
    int64_t rest = begin, inner = 1, taken = 1;
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      offsets[dim] = rest % shape[dim];
    for (size_t dim = shape.size(); dim-- > 0; inner *= shape[dim]) {
      sizes[dim] = std::min(count / inner, shape[dim] - offsets[dim]);
      taken = inner * sizes[dim];
      // The slice can have several indices of the next outer dimension only if it has all indices of this one.
      if (sizes[dim] != shape[dim])
        break;
    }
    if (Status status = read(source, SourceBox::dense(offsets, sizes, out)); status.failed())
      return status;
    begin += taken;
    out += taken;
    count -= taken;
  }
  return {};
}

Status SourceReader::readReshape(ReshapeSourceAttr source, const SourceBox &box) {
  return readRuns(source.getShape().asArrayRef(), box,
                  [&](int64_t begin, int64_t count, float *out) { return readFlat(source.getSource(), begin, count, out); });
}

Status SourceReader::readScale(ScaleSourceAttr source, const SourceBox &box) {
  if (Status status = read(source.getSource(), box); status.failed())
    return status;
  scaleStrided(source.getFactor().getValueAsDouble(), box.sizes, box.strides, box.out);
  return {};
}

Status SourceReader::readShift(ShiftSourceAttr source, const SourceBox &box) {
  if (Status status = read(source.getSource(), box); status.failed())
    return status;
  double value = source.getValue().getValueAsDouble();
  transformStrided([value](float element) { return static_cast<float>(element + value); }, box.sizes, box.strides, box.out);
  return {};
}

Status SourceReader::readPanels(PanelsSourceAttr source, const SourceBox &box) {
  int64_t width = source.getWidth(), height = getSourceType(source.getSource()).getDimSize(0);
  for (int64_t panel = 0; panel < box.sizes[0]; ++panel) {
    int64_t row = (box.offsets[0] + panel) * width + box.offsets[2];
    int64_t rows = std::clamp<int64_t>(height - row, 0, box.sizes[2]);
    float *out = box.out + panel * box.strides[0];
    SourceBox inner{{row, box.offsets[1]}, {rows, box.sizes[1]}, {box.strides[2], box.strides[1]}, out};
    if (Status status = read(source.getSource(), inner); status.failed())
      return status;
    fillStrided(0.0f, {box.sizes[1], box.sizes[2] - rows}, {box.strides[1], box.strides[2]}, out + rows * box.strides[2]);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The following functions quantize and round. The int8 scale of a row depends on the whole row. So the functions for
// such scales and integers read whole rows, a few at a time, whatever columns the slice has.
//===----------------------------------------------------------------------===//

/// The largest number of elements that readRows has in memory at once, unless a single row has more.
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

/// Returns the int8 scale of |row|, its largest magnitude / 127.
static float scaleOf(ArrayRef<float> row) {
  float largest = 0;
  for (float value : row)
    largest = std::max(largest, std::fabs(value)); // std::max ignores a NaN
  return largest / 127.0f;
}

Status SourceReader::readRowScales(RowScalesSourceAttr source, const SourceBox &box) {
  return readRows(source.getSource(), box.offsets[0], box.sizes[0],
                  [&](int64_t row, ArrayRef<float> values) { box.out[row * box.strides[0]] = scaleOf(values); });
}

Status SourceReader::readRowQuantized(RowQuantizedSourceAttr source, const SourceBox &box) {
  return readRows(source.getSource(), box.offsets[0], box.sizes[0], [&](int64_t row, ArrayRef<float> values) {
    float scale = scaleOf(values);
    float *out = box.out + row * box.strides[0];
    for (float value : values.slice(box.offsets[1], box.sizes[1])) {
      float rounded = scale > 0 ? std::nearbyint(value / scale) : 0.0f;
      *out = rounded == rounded ? std::clamp(rounded, -127.0f, 127.0f) : 0.0f;
      out += box.strides[1];
    }
  });
}

Status SourceReader::readRowSums(RowSumsSourceAttr source, const SourceBox &box) {
  return readRows(source.getSource(), box.offsets[0], box.sizes[0], [&](int64_t row, ArrayRef<float> values) {
    int64_t sum = 0;
    for (float value : values)
      sum += static_cast<int64_t>(value);
    box.out[row * box.strides[0]] = static_cast<float>(sum);
  });
}

/// Returns the name of the first tensor in |source|; "" if it has none.
static std::string findTensor(Attribute source) {
  std::string name;
  source.walk([&](TensorSourceAttr tensor) {
    if (name.empty())
      name = tensor.getName().str();
  });
  return name;
}

bool SourceReader::isBytes(Attribute source) {
  if (auto stack = dyn_cast<StackSourceAttr>(source))
    return llvm::all_of(stack.getSources(), isBytes);
  return isa<QuantizedPanelsSourceAttr>(source);
}

Status SourceReader::readBytes(Attribute source, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, uint8_t *out) {
  if (auto stack = dyn_cast<StackSourceAttr>(source)) {
    int64_t inner = 1;
    for (int64_t size : sizes.drop_front())
      inner *= size;
    for (int64_t i = 0; i < sizes[0]; ++i)
      if (Status status = readBytes(stack.getSources()[offsets[0] + i], offsets.drop_front(), sizes.drop_front(), out + i * inner);
          status.failed())
        return status;
    return {};
  }
  return writePanels(cast<QuantizedPanelsSourceAttr>(source), offsets[0], sizes[0], offsets[1], sizes[1], out);
}

/// Writes the bytes of the groups |firstGroup| … |firstGroup| + |groups| - 1 of |panels| panels, from |firstPanel| on,
/// to |out|, panel by panel. Fails if the format stores scales as f16 and a scale or minimum may exceed the range of
/// f16 (WeightQuantizer::quantize).
Status SourceReader::writePanels(QuantizedPanelsSourceAttr source, int64_t firstPanel, int64_t panels, int64_t firstGroup, int64_t groups,
                                 uint8_t *out) {
  int64_t width = source.getWidth();
  WeightFormat format = source.getFormat().getValue();
  RankedTensorType matrix = getSourceType(source.getSource());
  int64_t allColumns = matrix.getDimSize(1), group = format.groupColumns(allColumns), bytes = format.groupBytes(width, allColumns);
  // The columns of the matrix that the groups contain.
  int64_t first = firstGroup * group, columns = std::min(first + groups * group, allColumns) - first;
  WeightQuantizer quantizer(format);
  // A calibrated row is found by a hash of all of its columns, so whole rows are read.
  const CalibratedRows *chosen = llvm::find_if(calibrated, [&](const CalibratedRows &rows) { return rows.getFormat() == format; });
  bool whole = chosen != calibrated.end();
  if (whole)
    first = 0, columns = allColumns;
  std::vector<float> weights(width * columns);
  std::vector<QuantizedGroup> numbers(whole ? width * format.groups(columns) : 0);
  std::vector<const QuantizedGroup *> rowNumbers(whole ? width : 0), given(whole ? width : 0);
  bool fits = true;
  for (int64_t panel = 0; panel < panels; ++panel) {
    int64_t row = (firstPanel + panel) * width, rows = std::min(matrix.getDimSize(0) - row, width);
    if (Status status = read(source.getSource(), SourceBox::dense({row, first}, {rows, columns}, weights.data())); status.failed())
      return status;
    for (int64_t i = 0; whole && i < rows; ++i) {
      float *values = weights.data() + i * columns;
      QuantizedGroup *found = numbers.data() + i * format.groups(columns);
      rowNumbers[i] = chosen->find(llvm::ArrayRef(values, columns), values, found) ? found : nullptr;
    }
    for (int64_t number = 0; number < groups; ++number, out += bytes) {
      int64_t begin = (firstGroup + number) * group - first;
      for (int64_t i = 0; whole && i < width; ++i)
        given[i] = i < rows && rowNumbers[i] ? rowNumbers[i] + firstGroup + number : nullptr;
      fits &= quantizer.quantize({weights.data() + begin, columns, rows, std::min(group, columns - begin)}, width, group, out, given);
    }
  }
  if (fits)
    return {};
  std::string name = findTensor(source);
  return Status::error(tensors.fileOf(name) + ": tensor '" + name +
                       "' has weights whose scales exceed f16, expected a format with :f32, got " + format.str());
}

Status SourceReader::readQuantizedPanels(QuantizedPanelsSourceAttr source, const SourceBox &box) {
  int64_t bytes = getSourceType(source).getDimSize(2);
  std::vector<uint8_t> packed(box.sizes[1] * bytes);
  for (int64_t panel = 0; panel < box.sizes[0]; ++panel) {
    if (Status status = writePanels(source, box.offsets[0] + panel, 1, box.offsets[1], box.sizes[1], packed.data()); status.failed())
      return status;
    for (int64_t number = 0; number < box.sizes[1]; ++number) {
      const uint8_t *from = packed.data() + number * bytes + box.offsets[2];
      float *out = box.out + panel * box.strides[0] + number * box.strides[1];
      for (int64_t i = 0; i < box.sizes[2]; ++i)
        out[i * box.strides[2]] = static_cast<int8_t>(from[i]);
    }
  }
  return {};
}

Status SourceReader::readConvert(ConvertSourceAttr source, const SourceBox &box) {
  if (Status status = read(source.getSource(), box); status.failed())
    return status;
  bool fits = true;
  auto round = [&, type = source.getType()](float value) {
    float rounded = roundToType(type, value);
    fits &= std::isfinite(rounded) || !std::isfinite(value);
    return rounded;
  };
  transformStrided(round, box.sizes, box.strides, box.out);
  if (fits)
    return {};
  std::string name = findTensor(source);
  return Status::error(tensors.fileOf(name) + ": tensor '" + name + "' has weights beyond the range of " +
                       elementTypeName(source.getType()).str());
}

Status SourceReader::readGroupedPanels(GroupedPanelsSourceAttr source, const SourceBox &box) {
  int64_t width = source.getWidth(), group = source.getGroup();
  RankedTensorType matrix = getSourceType(source.getSource());
  // The columns of the matrix that the groups of the slice contain.
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

//===----------------------------------------------------------------------===//
// The following functions compute with whole rows.
//===----------------------------------------------------------------------===//

/// Adds the product of |row| and the matrix |columns|, `[length of row, count]`, to the |count| values |out|, in the
/// order of the elements of |row|.
static void addProducts(ArrayRef<float> row, const float *columns, int64_t count, float *out) {
  for (float factor : row) {
    for (int64_t i = 0; i < count; ++i)
      out[i] += factor * columns[i];
    columns += count;
  }
}

/// Reads a slice of projected rows, rows * matrix^T plus the bias, if any. Computes all rows for the first slice of a
/// source and keeps them for later slices. One thread computes each row, so the bits do not depend on the number of
/// threads.
Status SourceReader::readProject(ProjectSourceAttr source, const SourceBox &box) {
  RankedTensorType type = getSourceType(source);
  int64_t rows = type.getDimSize(0), outputs = type.getDimSize(1), depth = getSourceType(source.getRows()).getDimSize(1);
  if (projectedSource != source) {
    std::vector<float> inputs(rows * depth), matrix(depth * outputs), bias(outputs), results(rows * outputs);
    // The matrix is read transposed, as `[depth, outputs]`.
    Status statuses[] = {read(source.getRows(), SourceBox::dense({0, 0}, {rows, depth}, inputs.data())),
                         read(source.getMatrix(), {{0, 0}, {outputs, depth}, {1, outputs}, matrix.data()}),
                         source.getBias() ? read(source.getBias(), SourceBox::dense({0}, {outputs}, bias.data())) : Status()};
    for (Status &status : statuses)
      if (status.failed())
        return status;
    llvm::parallelFor(0, rows, [&](size_t row) {
      float *out = results.data() + row * outputs;
      addProducts(ArrayRef<float>(inputs).slice(row * depth, depth), matrix.data(), outputs, out);
      for (int64_t i = 0; i < outputs; ++i)
        out[i] += bias[i];
    });
    projectedSource = source;
    projectedRows = std::move(results);
  }
  return readRuns(type.getShape(), box, [&](int64_t begin, int64_t count, float *out) {
    std::copy_n(projectedRows.data() + begin, count, out);
    return Status();
  });
}

Status SourceReader::readLayerNorm(LayerNormSourceAttr source, const SourceBox &box) {
  int64_t columns = getSourceType(source).getDimSize(1);
  std::vector<float> weight(columns), bias(columns);
  for (auto [vector, values] : {std::pair(source.getWeight(), weight.data()), std::pair(source.getBias(), bias.data())})
    if (Status status = read(vector, SourceBox::dense({0}, {columns}, values)); status.failed())
      return status;
  double epsilon = source.getEpsilon().getValueAsDouble();
  return readRows(source.getRows(), box.offsets[0], box.sizes[0], [&](int64_t row, ArrayRef<float> values) {
    double mean = 0, variance = 0;
    for (float value : values)
      mean += value / static_cast<double>(columns);
    for (float value : values)
      variance += (value - mean) * (value - mean) / static_cast<double>(columns);
    float *out = box.out + row * box.strides[0];
    for (int64_t i = box.offsets[1]; i < box.offsets[1] + box.sizes[1]; ++i, out += box.strides[1])
      *out = static_cast<float>((values[i] - mean) / std::sqrt(variance + epsilon) * weight[i] + bias[i]);
  });
}

Status SourceReader::readUnitRows(UnitRowsSourceAttr source, const SourceBox &box) {
  return readRows(source.getSource(), box.offsets[0], box.sizes[0], [&](int64_t row, ArrayRef<float> values) {
    double sum = 0;
    for (float value : values)
      sum += static_cast<double>(value) * value;
    double length = std::max(std::sqrt(sum), 1e-12);
    float *out = box.out + row * box.strides[0];
    for (int64_t i = box.offsets[1]; i < box.offsets[1] + box.sizes[1]; ++i, out += box.strides[1])
      *out = static_cast<float>(values[i] / length);
  });
}
