//===- Envelope.cpp - Bounds of rounding errors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/Envelope.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace attune;

/// Returns the elements of |tensor| as doubles.
static std::vector<double> readValues(const OwnedTensor &tensor) {
  int64_t count = *elementCount(tensor.spec.shape);
  std::vector<double> values(count);
  if (tensor.spec.dtype == DType::F64) {
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  } else if (isFloat(tensor.spec.dtype)) {
    std::vector<float> floats(count);
    convertToF32(tensor.spec.dtype, tensor.data.data(), 0, count, floats.data());
    std::copy(floats.begin(), floats.end(), values.begin());
  } else {
    std::vector<int64_t> integers(count);
    convertToI64(tensor.spec.dtype, tensor.data.data(), 0, count, integers.data());
    std::copy(integers.begin(), integers.end(), values.begin());
  }
  return values;
}

static double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::nth_element(values.begin(), values.begin() + ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Values of this magnitude hide attention keys; they have no rounding error of interest.
static bool isOrdinary(double value) { return std::fabs(value) < 1e30; }

static std::string nameElement(const std::string &name, const std::vector<int64_t> &shape, int64_t number) {
  std::vector<int64_t> place(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; number /= shape[dim])
    place[dim] = number % shape[dim];
  return name + shapeText(place);
}

Envelope::Envelope(const std::vector<OwnedTensor> &exact, const std::vector<OwnedTensor> &rounded) {
  for (const OwnedTensor &tensor : exact) {
    auto same = llvm::find_if(rounded, [&](const OwnedTensor &other) { return other.spec.name == tensor.spec.name; });
    Output output;
    output.shape = tensor.spec.shape;
    output.exact = readValues(tensor);
    output.columns = output.shape.empty() ? 1 : std::max<int64_t>(output.shape.back(), 1);
    std::vector<double> narrow = same == rounded.end() || same->spec.shape != tensor.spec.shape ? output.exact : readValues(*same);
    int64_t rows = int64_t(output.exact.size()) / output.columns;
    std::vector<double> errors(rows), sizes(rows);
    for (size_t i = 0; i < output.exact.size(); ++i) {
      double &error = errors[i / output.columns], &size = sizes[i / output.columns];
      if (!isOrdinary(output.exact[i]) || !isOrdinary(narrow[i]))
        continue;
      error = std::max(error, std::fabs(output.exact[i] - narrow[i]));
      size = std::max(size, std::fabs(output.exact[i]));
    }
    double typicalError = median(errors), typicalSize = median(sizes);
    for (int64_t row = 0; row < rows; ++row)
      output.units.push_back(std::max({errors[row], typicalError, 4 * std::ldexp(std::max(sizes[row], typicalSize), -24), 1e-30}));
    if (!isFloat(tensor.spec.dtype))
      output.units.assign(rows, 0);
    outputs[tensor.spec.name] = std::move(output);
  }
}

double Envelope::largestUnit(const std::string &name) const {
  auto found = outputs.find(name);
  return found == outputs.end() || found->second.units.empty()
             ? 0
             : *std::max_element(found->second.units.begin(), found->second.units.end());
}

std::string Deviation::text() const {
  char numbers[128];
  std::snprintf(numbers, sizeof(numbers), " is %.9g, exact %.9g: %.3g times the rounding error of f32", got, exact, ratio);
  return element + numbers;
}

Deviation Envelope::measure(const std::vector<OwnedTensor> &given) const {
  Deviation worst;
  auto raise = [&](double ratio, std::string element, double got, double exact) {
    if (ratio > worst.ratio)
      worst = {ratio, std::move(element), got, exact};
  };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const auto &[name, output] : outputs) {
    auto found = llvm::find_if(given, [name = name](const OwnedTensor &tensor) { return tensor.spec.name == name; });
    if (found == given.end() || found->spec.shape != output.shape) {
      raise(infinite, name, found == given.end() ? 0 : double(found->spec.shape.size()), double(output.shape.size()));
      continue;
    }
    std::vector<double> values = readValues(*found);
    for (size_t i = 0; i < values.size(); ++i) {
      double got = values[i], exact = output.exact[i], unit = output.units[i / output.columns];
      if (got == exact || (std::isnan(got) && std::isnan(exact)))
        continue;
      bool sameClass = isOrdinary(got) == isOrdinary(exact);
      double ratio = !sameClass ? infinite : isOrdinary(exact) ? (unit == 0 ? infinite : std::fabs(got - exact) / unit) : 0;
      if (ratio > worst.ratio)
        raise(ratio, nameElement(name, output.shape, int64_t(i)), got, exact);
    }
  }
  return worst;
}

std::string attune::describeDifference(const std::vector<OwnedTensor> &a, const std::vector<OwnedTensor> &b) {
  for (const OwnedTensor &left : a) {
    auto right = llvm::find_if(b, [&](const OwnedTensor &other) { return other.spec.name == left.spec.name; });
    if (right == b.end())
      return left.spec.name + " is missing";
    if (right->spec.shape != left.spec.shape || right->spec.dtype != left.spec.dtype)
      return left.spec.name + " is " + shapeText(right->spec.shape) + ", was " + shapeText(left.spec.shape);
    if (left.data == right->data)
      continue;
    size_t bytes = elementSize(left.spec.dtype);
    std::vector<double> before = readValues(left), after = readValues(*right);
    for (size_t i = 0; i < before.size(); ++i) {
      if (std::memcmp(&left.data[i * bytes], &right->data[i * bytes], bytes) == 0 || (std::isnan(before[i]) && std::isnan(after[i])))
        continue;
      char numbers[96];
      std::snprintf(numbers, sizeof(numbers), " is %.9g, was %.9g", after[i], before[i]);
      return nameElement(left.spec.name, left.spec.shape, int64_t(i)) + numbers;
    }
  }
  return "";
}

bool attune::haveSameBits(const std::vector<OwnedTensor> &a, const std::vector<OwnedTensor> &b) { return describeDifference(a, b).empty(); }
