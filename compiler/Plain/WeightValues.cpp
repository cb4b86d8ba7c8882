//===- WeightValues.cpp - Weights by the definitions of their sources -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/WeightValues.h"
#include "compiler/Plain/Reference/Quantized.h"
#include "compiler/Weights/SourceReader.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attune;

namespace {
/// Computes the elements of weight sources from the tensors of one model.
class Evaluator {
public:
  Evaluator(const PlainWeights &weights, bool wide) : tensors(*weights.tensors), calibrated(weights.calibrated), wide(wide) {}
  WeightValue evaluate(Attribute source);
  Status status;

private:
  /// A function that returns the element at the given indices.
  using ElementFn = llvm::function_ref<double(ArrayRef<int64_t>)>;
  /// Returns a tensor of |shape| with the elements that |element| returns.
  WeightValue build(ArrayRef<int64_t> shape, ElementFn element);
  WeightValue fail(std::string message) {
    if (!status.failed())
      status = Status::error(std::move(message));
    return {};
  }
  double round(double value) const { return wide ? value : static_cast<double>(static_cast<float>(value)); }
  WeightValue readFloats(RankedTensorType type, llvm::function_ref<Status(int64_t, float *)> read);
  WeightValue project(xfmr::ProjectSourceAttr source);
  WeightValue normalize(xfmr::LayerNormSourceAttr source);
  WeightValue divideByLength(xfmr::UnitRowsSourceAttr source);

  const TensorProvider &tensors;
  ArrayRef<CalibratedRows> calibrated;
  bool wide;
};
} // namespace

static double at(const WeightValue &value, ArrayRef<int64_t> indices) {
  int64_t number = 0;
  for (auto [size, index] : llvm::zip(value.shape, indices))
    number = number * size + index;
  return value.values[number];
}

WeightValue Evaluator::build(ArrayRef<int64_t> shape, ElementFn element) {
  WeightValue result;
  result.shape.assign(shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  result.values.resize(count);
  SmallVector<int64_t, 5> indices(shape.size());
  for (int64_t i = 0; i < count && !status.failed(); ++i) {
    result.values[i] = element(indices);
    for (size_t dim = shape.size(); dim-- > 0 && ++indices[dim] == shape[dim];)
      indices[dim] = 0;
  }
  return result;
}

WeightValue Evaluator::readFloats(RankedTensorType type, llvm::function_ref<Status(int64_t, float *)> read) {
  std::vector<float> floats(type.getNumElements());
  if (Status problem = read(int64_t(floats.size()), floats.data()); problem.failed())
    return fail(problem.message());
  WeightValue result;
  result.shape.assign(type.getShape().begin(), type.getShape().end());
  result.values.assign(floats.begin(), floats.end());
  return result;
}

WeightValue Evaluator::project(xfmr::ProjectSourceAttr source) {
  WeightValue rows = evaluate(source.getRows()), matrix = evaluate(source.getMatrix());
  WeightValue bias = source.getBias() ? evaluate(source.getBias()) : WeightValue();
  if (status.failed())
    return {};
  return build({rows.shape[0], matrix.shape[0]}, [&](ArrayRef<int64_t> i) {
    double sum = 0;
    for (int64_t k = 0; k < matrix.shape[1]; ++k)
      sum = round(sum + round(at(rows, {i[0], k}) * at(matrix, {i[1], k})));
    return bias.values.empty() ? sum : round(sum + bias.values[i[1]]);
  });
}

WeightValue Evaluator::normalize(xfmr::LayerNormSourceAttr source) {
  WeightValue rows = evaluate(source.getRows()), weight = evaluate(source.getWeight()), bias = evaluate(source.getBias());
  if (status.failed())
    return {};
  int64_t columns = rows.shape[1];
  double count = static_cast<double>(columns), epsilon = source.getEpsilon().getValueAsDouble();
  for (int64_t row = 0; row < rows.shape[0]; ++row) {
    double *values = &rows.values[row * columns], mean = 0, variance = 0;
    for (int64_t i = 0; i < columns; ++i)
      mean += values[i] / count;
    for (int64_t i = 0; i < columns; ++i)
      variance += (values[i] - mean) * (values[i] - mean) / count;
    for (int64_t i = 0; i < columns; ++i)
      values[i] = round((values[i] - mean) / std::sqrt(variance + epsilon) * weight.values[i] + bias.values[i]);
  }
  return rows;
}

WeightValue Evaluator::divideByLength(xfmr::UnitRowsSourceAttr source) {
  WeightValue rows = evaluate(source.getSource());
  if (status.failed())
    return {};
  int64_t columns = rows.shape[1];
  for (int64_t row = 0; row < rows.shape[0]; ++row) {
    double *values = &rows.values[row * columns], squares = 0;
    for (int64_t i = 0; i < columns; ++i)
      squares += values[i] * values[i];
    double length = std::max(std::sqrt(squares), 1e-12);
    for (int64_t i = 0; i < columns; ++i)
      values[i] = round(values[i] / length);
  }
  return rows;
}

WeightValue Evaluator::evaluate(Attribute source) {
  RankedTensorType type = xfmr::getSourceType(source);
  bool isLow = isa<xfmr::ConvertSourceAttr, xfmr::GroupedPanelsSourceAttr, xfmr::QuantizedPanelsSourceAttr, xfmr::RowQuantizedSourceAttr,
                   xfmr::RowSumsSourceAttr, xfmr::StackSourceAttr>(source);
  if (!type || (!isLow && !isa<FloatType>(type.getElementType()))) {
    std::string text;
    llvm::raw_string_ostream(text) << "expected weights of f32, got " << source;
    return fail(text);
  }
  ArrayRef<int64_t> shape = type.getShape();
  return llvm::TypeSwitch<Attribute, WeightValue>(source)
      .Case([&](xfmr::TensorSourceAttr leaf) {
        std::string name = leaf.getName().str();
        const TensorSpec *spec = tensors.find(name);
        if (!spec)
          return fail("tensor '" + name + "' is missing in " + tensors.fileOf(name));
        if (ArrayRef<int64_t>(spec->shape) != shape)
          return fail("tensor '" + name + "': expected " + shapeText({shape.begin(), shape.end()}) + ", got " + shapeText(spec->shape));
        return readFloats(type, [&](int64_t count, float *out) { return tensors.read(name, 0, count, out); });
      })
      .Case([&](xfmr::ComputedSourceAttr leaf) {
        ComputedTableFn table = findComputedTable(leaf.getKind());
        if (!table)
          return fail("unknown computed weight '" + leaf.getKind().str() + "'");
        return readFloats(type, [&](int64_t count, float *out) { return table(leaf.getParams(), type, 0, count, out); });
      })
      .Case([&](xfmr::FillSourceAttr leaf) {
        return build(shape, [&](ArrayRef<int64_t>) { return round(leaf.getValue().getValueAsDouble()); });
      })
      .Case([&](xfmr::ConcatSourceAttr concat) {
        std::vector<WeightValue> parts;
        for (Attribute part : concat.getSources())
          parts.push_back(evaluate(part));
        int64_t axis = concat.getAxis();
        return build(shape, [&](ArrayRef<int64_t> i) {
          SmallVector<int64_t, 5> inner(i);
          size_t part = 0;
          for (; inner[axis] >= parts[part].shape[axis]; ++part)
            inner[axis] -= parts[part].shape[axis];
          return at(parts[part], inner);
        });
      })
      .Case([&](xfmr::StackSourceAttr stack) {
        std::vector<WeightValue> parts;
        for (Attribute part : stack.getSources())
          parts.push_back(evaluate(part));
        return build(shape, [&](ArrayRef<int64_t> i) { return at(parts[i[0]], i.drop_front()); });
      })
      .Case([&](xfmr::SliceSourceAttr slice) {
        WeightValue inner = evaluate(slice.getSource());
        return build(shape, [&](ArrayRef<int64_t> i) {
          SmallVector<int64_t, 5> from(i);
          from[slice.getAxis()] += slice.getBegin();
          return at(inner, from);
        });
      })
      .Case([&](xfmr::SelectSourceAttr select) {
        WeightValue inner = evaluate(select.getSource());
        return build(shape, [&](ArrayRef<int64_t> i) {
          SmallVector<int64_t, 5> from(i);
          from[select.getAxis()] = select.getIndices().asArrayRef()[i[select.getAxis()]];
          return at(inner, from);
        });
      })
      .Case([&](xfmr::TransposeSourceAttr transpose) {
        WeightValue inner = evaluate(transpose.getSource());
        return build(shape, [&](ArrayRef<int64_t> i) {
          SmallVector<int64_t, 5> from(i.size());
          for (auto [dim, source] : llvm::enumerate(transpose.getPermutation().asArrayRef()))
            from[source] = i[dim];
          return at(inner, from);
        });
      })
      .Case([&](xfmr::ReshapeSourceAttr reshape) {
        WeightValue inner = evaluate(reshape.getSource());
        inner.shape.assign(shape.begin(), shape.end());
        return inner;
      })
      .Case([&](xfmr::ScaleSourceAttr scale) {
        WeightValue inner = evaluate(scale.getSource());
        for (double &value : inner.values)
          value = round(value * scale.getFactor().getValueAsDouble());
        return inner;
      })
      .Case([&](xfmr::ShiftSourceAttr shift) {
        WeightValue inner = evaluate(shift.getSource());
        for (double &value : inner.values)
          value = round(value + shift.getValue().getValueAsDouble());
        return inner;
      })
      .Case([&](xfmr::PanelsSourceAttr panels) {
        WeightValue inner = evaluate(panels.getSource());
        int64_t width = panels.getWidth();
        return build(shape, [&](ArrayRef<int64_t> i) {
          int64_t row = i[0] * width + i[2];
          return row < inner.shape[0] ? at(inner, {row, i[1]}) : 0.0;
        });
      })
      .Case([&](xfmr::ConvertSourceAttr convert) {
        WeightValue inner = evaluate(convert.getSource());
        bool isHalf = convert.getType().isF16();
        if (!isHalf && !convert.getType().isBF16())
          return fail("expected weights of f32, bf16 or f16, got another type of floats");
        for (double &value : inner.values)
          value = isHalf ? fromHalf(toHalf(static_cast<float>(value))) : roundToBf16(static_cast<float>(value));
        return inner;
      })
      .Case([&](xfmr::GroupedPanelsSourceAttr panels) {
        WeightValue inner = evaluate(panels.getSource());
        if (inner.shape.size() != 2 || shape.size() != 4)
          return fail("expected a matrix in panels, got a stack of matrices");
        int64_t width = panels.getWidth(), group = panels.getGroup();
        return build(shape, [&](ArrayRef<int64_t> i) {
          int64_t row = i[0] * width + i[2], column = i[1] * group + i[3];
          return row < inner.shape[0] && column < inner.shape[1] ? at(inner, {row, column}) : 0.0;
        });
      })
      .Case([&](xfmr::QuantizedPanelsSourceAttr panels) {
        WeightValue inner = evaluate(panels.getSource()), result{{shape.begin(), shape.end()}, {}};
        if (inner.shape.size() != 2)
          return status.failed() ? inner : fail("expected a matrix in panels, got a stack of matrices");
        reference::Matrix<double> matrix(inner.shape[0], inner.shape[1]);
        matrix.values = std::move(inner.values);
        std::optional<reference::GroupedMatrix<double>> grouped =
            reference::quantizeByGroups(matrix, panels.getFormat().getValue(), calibrated);
        if (!grouped)
          return fail("expected scales and minima within f16");
        for (uint8_t byte : reference::encodePanels(*grouped, panels.getFormat().getValue(), panels.getWidth()))
          result.values.push_back(int8_t(byte));
        return result;
      })
      .Case([&](xfmr::RowScalesSourceAttr scales) {
        WeightValue inner = evaluate(scales.getSource());
        return WeightValue{{shape.begin(), shape.end()}, reference::quantizeWeights(inner.values, type.getNumElements()).scales};
      })
      .Case([&](xfmr::RowQuantizedSourceAttr quantized) {
        WeightValue inner = evaluate(quantized.getSource());
        int64_t rows = shape.back() == 0 ? 0 : type.getNumElements() / shape.back();
        inner.values = reference::quantizeWeights(inner.values, rows).values;
        return inner;
      })
      .Case([&](xfmr::RowSumsSourceAttr sums) {
        WeightValue inner = evaluate(sums.getSource()), result{{shape.begin(), shape.end()}, {}};
        result.values.assign(size_t(type.getNumElements()), 0.0);
        for (auto [index, value] : llvm::enumerate(inner.values))
          result.values[index / size_t(inner.shape.back())] += value;
        return result;
      })
      .Case([&](xfmr::ProjectSourceAttr projection) { return project(projection); })
      .Case([&](xfmr::LayerNormSourceAttr norm) { return normalize(norm); })
      .Case([&](xfmr::UnitRowsSourceAttr rows) { return divideByLength(rows); })
      .Default([&](Attribute) {
        std::string text;
        llvm::raw_string_ostream(text) << "expected weights of f32, got " << source;
        return fail(text);
      });
}

Result<WeightValue> attune::evaluateWeight(Attribute source, const PlainWeights &weights, bool wide) {
  Evaluator evaluator(weights, wide);
  WeightValue value = evaluator.evaluate(source);
  if (evaluator.status.failed())
    return evaluator.status;
  return value;
}
