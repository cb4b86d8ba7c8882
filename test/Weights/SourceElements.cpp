//===- SourceElements.cpp - Sources by definition, one element at a time ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "test/Weights/RandomSources.h"

#include <optional>

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

/// Returns the scale of row |row| of |matrix|: the largest magnitude of its elements, divided by 127.
static float rowScale(Attribute matrix, int64_t row) {
  float largest = 0;
  for (int64_t k = 0; k < getSourceType(matrix).getDimSize(1); ++k)
    largest = std::fmax(largest, std::fabs(element(matrix, {row, k})));
  return largest / 127.0f;
}

/// Returns the bf16 number nearest to |value|; of two at the same distance, the one with an even last bit.
static float roundBF16(float value) {
  int exponent;
  double mantissa = std::ldexp(std::frexp(double(value), &exponent), 8);
  return float(std::ldexp(std::nearbyint(mantissa), exponent - 8));
}

/// Returns the element at |index| of a source that rounds or quantizes, of row scales or sums, or of grouped panels;
/// nullopt for other sources.
static std::optional<float> lowPrecisionElement(Attribute source, ArrayRef<int64_t> index) {
  if (auto attr = dyn_cast<ConvertSourceAttr>(source))
    return roundBF16(element(attr.getSource(), llvm::to_vector(index)));
  if (auto attr = dyn_cast<RowScalesSourceAttr>(source))
    return rowScale(attr.getSource(), index[0]);
  if (auto attr = dyn_cast<RowQuantizedSourceAttr>(source)) {
    float scale = rowScale(attr.getSource(), index[0]);
    return scale == 0 ? 0 : std::nearbyint(element(attr.getSource(), llvm::to_vector(index)) / scale);
  }
  if (auto attr = dyn_cast<RowSumsSourceAttr>(source)) {
    float sum = 0;
    for (int64_t k = 0; k < getSourceType(attr.getSource()).getDimSize(1); ++k)
      sum += element(attr.getSource(), {index[0], k});
    return sum;
  }
  if (auto attr = dyn_cast<GroupedPanelsSourceAttr>(source)) {
    RankedTensorType matrix = getSourceType(attr.getSource());
    int64_t row = index[0] * attr.getWidth() + index[2], column = index[1] * attr.getGroup() + index[3];
    return row < matrix.getDimSize(0) && column < matrix.getDimSize(1) ? element(attr.getSource(), {row, column}) : 0.0f;
  }
  return std::nullopt;
}

/// Returns the element at |index| of a source that projects or normalizes rows; nullopt for other sources.
static std::optional<float> rowElement(Attribute source, ArrayRef<int64_t> index) {
  if (auto attr = dyn_cast<ProjectSourceAttr>(source)) {
    float sum = 0;
    for (int64_t k = 0; k < getSourceType(attr.getRows()).getDimSize(1); ++k)
      sum += element(attr.getRows(), {index[0], k}) * element(attr.getMatrix(), {index[1], k});
    return attr.getBias() ? sum + element(attr.getBias(), {index[1]}) : sum;
  }
  if (auto attr = dyn_cast<LayerNormSourceAttr>(source)) {
    double count = getSourceType(attr.getRows()).getDimSize(1), mean = 0, variance = 0;
    for (int64_t k = 0; k < count; ++k)
      mean += element(attr.getRows(), {index[0], k}) / count;
    for (int64_t k = 0; k < count; ++k)
      variance += std::pow(element(attr.getRows(), {index[0], k}) - mean, 2) / count;
    double value = (element(attr.getRows(), llvm::to_vector(index)) - mean) / std::sqrt(variance + attr.getEpsilon().getValueAsDouble());
    return static_cast<float>(value * element(attr.getWeight(), {index[1]}) + element(attr.getBias(), {index[1]}));
  }
  if (auto attr = dyn_cast<UnitRowsSourceAttr>(source)) {
    double sum = 0;
    for (int64_t k = 0; k < getSourceType(source).getDimSize(1); ++k)
      sum += std::pow(element(attr.getSource(), {index[0], k}), 2);
    return static_cast<float>(element(attr.getSource(), llvm::to_vector(index)) / std::max(std::sqrt(sum), 1e-12));
  }
  return std::nullopt;
}

float attune::element(Attribute source, SmallVector<int64_t> index) {
  if (auto attr = dyn_cast<TensorSourceAttr>(source)) {
    int64_t flat = 0;
    for (auto [i, size] : llvm::zip_equal(index, attr.getType().getShape()))
      flat = flat * size + i;
    return FakeTensors::value({attr.getName().data(), attr.getName().size()}, flat);
  }
  if (auto attr = dyn_cast<FillSourceAttr>(source))
    return attr.getValue().getValueAsDouble();
  if (auto attr = dyn_cast<ScaleSourceAttr>(source))
    return static_cast<float>(element(attr.getSource(), index) * attr.getFactor().getValueAsDouble());
  if (auto attr = dyn_cast<ShiftSourceAttr>(source))
    return static_cast<float>(element(attr.getSource(), index) + attr.getValue().getValueAsDouble());
  if (auto attr = dyn_cast<SliceSourceAttr>(source)) {
    index[attr.getAxis()] += attr.getBegin();
    return element(attr.getSource(), index);
  }
  if (auto attr = dyn_cast<SelectSourceAttr>(source)) {
    index[attr.getAxis()] = attr.getIndices()[index[attr.getAxis()]];
    return element(attr.getSource(), index);
  }
  if (auto attr = dyn_cast<TransposeSourceAttr>(source)) {
    SmallVector<int64_t> inner(index.size());
    for (auto [dim, from] : llvm::enumerate(attr.getPermutation().asArrayRef()))
      inner[from] = index[dim];
    return element(attr.getSource(), inner);
  }
  if (auto attr = dyn_cast<ReshapeSourceAttr>(source)) {
    int64_t flat = 0;
    for (auto [i, size] : llvm::zip_equal(index, attr.getShape().asArrayRef()))
      flat = flat * size + i;
    ArrayRef<int64_t> shape = getSourceType(attr.getSource()).getShape();
    SmallVector<int64_t> inner(shape.size());
    for (size_t dim = shape.size(); dim-- > 0; flat /= shape[dim])
      inner[dim] = flat % shape[dim];
    return element(attr.getSource(), inner);
  }
  if (std::optional<float> rounded = lowPrecisionElement(source, index))
    return *rounded;
  if (std::optional<float> computed = rowElement(source, index))
    return *computed;
  if (auto attr = dyn_cast<PanelsSourceAttr>(source)) {
    int64_t row = index[0] * attr.getWidth() + index[2];
    return row < getSourceType(attr.getSource()).getDimSize(0) ? element(attr.getSource(), {row, index[1]}) : 0.0f;
  }
  if (auto attr = dyn_cast<StackSourceAttr>(source))
    return element(attr.getSources()[index[0]], SmallVector<int64_t>(ArrayRef(index).drop_front()));
  auto attr = cast<ConcatSourceAttr>(source);
  for (Attribute part : attr.getSources()) {
    int64_t size = getSourceType(part).getDimSize(attr.getAxis());
    if (index[attr.getAxis()] < size)
      return element(part, index);
    index[attr.getAxis()] -= size;
  }
  return NAN;
}
