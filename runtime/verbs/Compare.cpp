//===- Compare.cpp - Comparing tensors -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise comparison in double, which holds every supported float exactly.
//===----------------------------------------------------------------------===//
#include "runtime/verbs/Compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace attune;

/// Element |index| of a float tensor.
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
  value.got = got;
  value.expected = expected;
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
      // Compared as bytes: ids are right or wrong, and a double does not hold all of them.
      size_t size = elementSize(expected.dtype);
      bool equal = std::memcmp(got.data + index * size, expected.data + i * size, size) == 0;
      if (equal && worst.index >= 0)
        continue;
      int64_t pair[2] = {0, 0};
      if (isInteger(expected.dtype)) {
        convertToI64(got, index, 1, &pair[0]);
        convertToI64(expected, i, 1, &pair[1]);
      }
      value.got = static_cast<double>(pair[0]);
      value.expected = static_cast<double>(pair[1]);
      value.error = std::fabs(value.got - value.expected);
      value.ratio = equal ? 0 : std::numeric_limits<double>::infinity();
    }
    if (worst.index < 0 || value.ratio > worst.ratio) {
      worst = value;
      worst.index = index;
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
