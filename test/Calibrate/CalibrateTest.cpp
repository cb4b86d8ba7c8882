//===- CalibrateTest.cpp - Rounding by the error of outputs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Calibrate/ErrorCompensation.h"
#include "compiler/Support/Generate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <cstdio>
#include <random>
#include <string>

using namespace attune;
using mlir::xfmr::WeightFormat;

static int failures = 0;
static void expect(bool condition, const std::string &what) {
  if (!condition && ++failures <= 10)
    std::printf("FAIL: %s\n", what.c_str());
}

static std::vector<float> randomValues(size_t count, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(random);
  return values;
}

/// Tests multiplyRows on matrices whose sizes are not multiples of the sizes of tiles, vectors and blocks.
static void testProducts(std::mt19937 &random) {
  constexpr int64_t kRows = 37, kOthers = 71, kDepth = 29;
  std::vector<float> a = randomValues(kRows * kDepth, random), b = randomValues(kOthers * kDepth, random), out(kRows * kOthers);
  multiplyRows({a.data(), kRows, kDepth}, {b.data(), kOthers, kDepth}, kDepth, {out.data(), kRows, kOthers});
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kOthers; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kDepth; ++k)
        sum += double(a[i * kDepth + k]) * b[j * kDepth + k];
      expect(std::fabs(out[i * kOthers + j] - sum) < 1e-4, "an element of a product");
    }
}

/// Tests the sums of InputMoments. Tests that factorizeMoments gives an L for which L L^T is the matrix of these sums,
/// plus a hundredth of the mean of its diagonal on the diagonal.
static void testFactor(std::mt19937 &random) {
  constexpr int64_t kSize = 150, kInputs = 400;
  std::vector<float> inputs = randomValues(kInputs * kSize, random);
  InputMoments moments(kSize);
  moments.add({inputs.data(), 256, kSize});
  moments.add({inputs.data() + 256 * kSize, kInputs - 256, kSize});
  std::vector<double> expected(kSize * kSize);
  double mean = 0;
  for (int64_t i = 0; i < kSize; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      for (int64_t t = 0; t < kInputs; ++t)
        expected[i * kSize + j] += double(inputs[t * kSize + i]) * inputs[t * kSize + j];
      expect(std::fabs(moments.lower().row(i)[j] - expected[i * kSize + j]) < 1e-6, "a moment");
      mean += i == j ? expected[i * kSize + j] / kSize : 0;
    }
  expect(factorizeMoments(moments.lower()), "moments have a factor");
  Rows<double> factor = moments.lower();
  for (int64_t i = 0; i < kSize; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int64_t k = 0; k <= j; ++k)
        sum += factor.row(i)[k] * factor.row(j)[k];
      expect(std::fabs(sum - expected[i * kSize + j] - (i == j ? 0.01 * mean : 0)) < 1e-6, "an element of the factored matrix");
    }
  InputMoments none(4);
  expect(!factorizeMoments(none.lower()), "moments of no inputs have no factor");
}

/// Returns random inputs that resemble those of projections: few directions have most of the variance, and some
/// features are much larger than others.
static std::vector<float> outlierInputs(int64_t count, int64_t features, std::mt19937 &random) {
  constexpr int64_t kDirections = 24;
  std::vector<float> mix = randomValues(kDirections * features, random), inputs = randomValues(count * features, random);
  for (int64_t t = 0; t < count; ++t) {
    std::vector<float> shares = randomValues(kDirections, random);
    for (int64_t k = 0; k < features; ++k) {
      float &value = inputs[t * features + k];
      value *= 0.2f;
      for (int64_t d = 0; d < kDirections; ++d)
        value += shares[d] * mix[d * features + k];
      value *= k % 37 == 5 ? 20.0f : 1.0f;
    }
  }
  return inputs;
}

/// Returns the sum of the squared differences between the outputs of |weights| and those of |quantized|, both
/// `[rows, features]`, on |inputs| `[count, features]`.
static double errorOf(const std::vector<float> &weights, const std::vector<float> &quantized, const std::vector<float> &inputs,
                      int64_t features) {
  double error = 0;
  for (size_t t = 0; t < inputs.size(); t += features)
    for (size_t n = 0; n < weights.size(); n += features) {
      double sum = 0;
      for (int64_t k = 0; k < features; ++k)
        sum += double(inputs[t + k]) * (double(weights[n + k]) - quantized[n + k]);
      error += sum * sum;
    }
  return error;
}

static void testRounding(const std::string &name, double gain, std::mt19937 &random) {
  constexpr int64_t kRows = 19, kFeatures = 144, kInputs = 600;
  WeightFormat format = *WeightFormat::parse(name);
  std::vector<float> weights = randomValues(kRows * kFeatures, random), inputs = outlierInputs(kInputs, kFeatures, random);
  // Outputs are judged on inputs that the rounding has not seen.
  std::vector<float> seen(inputs.begin(), inputs.begin() + kInputs / 2 * kFeatures);
  std::vector<float> others(inputs.begin() + kInputs / 2 * kFeatures, inputs.end());
  weights[3] = INFINITY;
  std::vector<float> finite = weights;
  finite[3] = 0;
  int64_t groups = format.groups(kFeatures), group = format.groupColumns(kFeatures);
  std::vector<float> simple(finite.size()), rounded(finite.size()), again(finite.size());
  WeightQuantizer quantizer(format);
  for (int64_t n = 0; n < kRows; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      QuantizedGroup numbers;
      int64_t begin = n * kFeatures + g * group, columns = std::min(group, kFeatures - g * group);
      expect(quantizer.choose({&finite[begin], columns, 1, columns}, &numbers), "numbers of a group");
      for (int64_t k = begin; k < begin + columns; ++k)
        simple[k] = numbers.scale * quantizer.integerOf(finite[k], numbers) + numbers.minimum;
    }
  for (std::vector<float> *out : {&rounded, &again}) {
    InputMoments moments(kFeatures);
    moments.add({seen.data(), kInputs / 2, kFeatures});
    CalibratedRows rows(format);
    expect(quantizeByOutputs({weights.data(), kRows, kFeatures}, moments, rows), "moments of inputs");
    expect(rows.size() == kRows, "all rows are rounded");
    std::vector<QuantizedGroup> numbers(groups);
    for (int64_t n = 0; n < kRows; ++n)
      expect(rows.find({&weights[n * kFeatures], kFeatures}, &(*out)[n * kFeatures], numbers.data()), "a row is found by its weights");
    expect(!rows.find({&finite[0], kFeatures}, simple.data(), numbers.data()), "another row is not found");
  }
  expect(rounded == again, name + ": the same weights each time");
  double before = errorOf(finite, simple, others, kFeatures), after = errorOf(finite, rounded, others, kFeatures);
  expect(after < gain * before, name + ": the error of outputs is " + std::to_string(after / before) + " of that without inputs");
}

/// Tests that the quantized rows of generated weights, in the format |name|, have the hash |expected|, which is the
/// same for every instruction set and number of threads.
static void testBytes(const std::string &name, uint64_t expected) {
  constexpr int64_t kRows = 21, kFeatures = 144, kInputs = 100;
  std::vector<float> weights(kRows * kFeatures), inputs(kInputs * kFeatures), rounded(kRows * kFeatures);
  generateValues("weights", 5, {0.0, 0.1}, 0, kRows * kFeatures, weights.data());
  generateValues("inputs", 5, {0.5, 1.0}, 0, kInputs * kFeatures, inputs.data());
  InputMoments moments(kFeatures);
  moments.add({inputs.data(), kInputs, kFeatures});
  CalibratedRows rows(*WeightFormat::parse(name));
  expect(quantizeByOutputs({weights.data(), kRows, kFeatures}, moments, rows), "moments of generated inputs");
  std::vector<QuantizedGroup> numbers(rows.getFormat().groups(kFeatures));
  for (int64_t n = 0; n < kRows; ++n)
    expect(rows.find({&weights[n * kFeatures], kFeatures}, &rounded[n * kFeatures], numbers.data()), "a generated row is found");
  uint64_t got = llvm::xxh3_64bits({reinterpret_cast<const uint8_t *>(rounded.data()), rounded.size() * sizeof(float)});
  expect(got == expected, name + ": chosen weights have the hash " + llvm::utohexstr(got) + ", expected " + llvm::utohexstr(expected));
}

int main() {
  std::mt19937 random(11);
  testProducts(random);
  testFactor(random);
  testRounding("int4:32", 0.6, random);
  testRounding("int4:32:asym", 0.6, random);
  testRounding("int4:64", 0.6, random);
  testRounding("int8:0", 0.6, random);
  testBytes("int4:32", 0xae2d143d9e81f95c);
  testBytes("int8:32:asym", 0x3d8d3f31183ad480);
  std::printf("calibrate: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}
