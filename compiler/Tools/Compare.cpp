//===- Compare.cpp - Comparing tensors ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise comparison: of floats in double, which holds every supported float exactly; of other elements by bytes.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace attune;

/// Returns the element |index| of a float tensor.
static double floatAt(const TensorView &tensor, int64_t index) {
  if (tensor.dtype == DType::F64) {
    double value;
    std::memcpy(&value, tensor.data + index * 8, 8);
    return value;
  }
  float value;
  convertToF32(tensor, index, 1, &value);
  return value;
}

static WorstValue compareOne(double got, double expected, Tolerance tolerance) {
  WorstValue value;
  value.allowed = tolerance.atol + tolerance.rtol * std::fabs(expected);
  bool equal = got == expected || (std::isnan(got) && std::isnan(expected)); // also equal infinities, whose difference is NaN
  if (equal)
    return value;
  value.error = std::fabs(got - expected);
  value.ratio = value.error / value.allowed;
  if (std::isnan(value.ratio) || !std::isfinite(got) || !std::isfinite(expected))
    value.ratio = std::numeric_limits<double>::infinity();
  return value;
}

WorstValue attune::compareValues(const TensorView &got, const TensorView &expected, Tolerance tolerance,
                                 const std::function<int64_t(int64_t)> &indexOf) {
  WorstValue worst;
  for (int64_t i = 0; i < expected.elements; ++i) {
    int64_t index = indexOf ? indexOf(i) : i;
    WorstValue value;
    if (isFloat(expected.dtype)) {
      value = compareOne(floatAt(got, index), floatAt(expected, i), tolerance);
    } else {
      // Integers are compared as bytes: they must be equal, and a double does not hold all of them.
      size_t size = elementSize(expected.dtype);
      if (std::memcmp(got.data + index * size, expected.data + i * size, size) != 0)
        value.error = value.ratio = std::numeric_limits<double>::infinity();
    }
    if (worst.index < 0 || value.ratio > worst.ratio) {
      worst = value;
      worst.index = index;
      worst.position = i;
    }
  }
  return worst;
}

std::string attune::indexText(const std::vector<int64_t> &shape, int64_t index) {
  std::vector<int64_t> place(shape.size());
  for (size_t i = shape.size(); i-- > 0; index /= shape[i])
    place[i] = index % shape[i];
  return shapeText(place);
}

std::string attune::numberText(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string attune::elementText(const TensorView &tensor, int64_t index) {
  if (isFloat(tensor.dtype))
    return numberText(floatAt(tensor, index), tensor.dtype == DType::F64 ? 17 : 9);
  if (!isInteger(tensor.dtype))
    return "byte " + std::to_string(tensor.data[index]);
  int64_t value;
  convertToI64(tensor, index, 1, &value);
  return std::to_string(value);
}

TensorStats attune::computeStats(const TensorView &tensor) {
  double sum = 0, absSum = 0, squares = 0;
  for (int64_t i = 0; i < tensor.elements; ++i) {
    double value = floatAt(tensor, i);
    sum += value;
    absSum += std::fabs(value);
    squares += value * value;
  }
  double count = tensor.elements ? static_cast<double>(tensor.elements) : 1;
  return {sum / count, absSum / count, std::sqrt(squares)};
}
