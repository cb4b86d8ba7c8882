//===- QuantizerTest.cpp - Quantized weights --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attune/runtime.h"
#include "compiler/Support/Generate.h"
#include "compiler/Weights/WeightQuantizer.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "test/Weights/Expect.h"
#include "test/Weights/RandomSources.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

namespace {

/// Returns the value of the finite f16 with |bits|.
float fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float value = std::ldexp(float((exponent ? 1024 : 0) + (bits & 1023)), std::max(exponent, 1) - 25);
  return bits & 0x8000 ? -value : value;
}

/// The group of |columns| columns in row |row| of a panel of |width| rows, as a kernel reads it from |stream|.
struct ReadGroup {
  float scale = 0, minimum = 0;
  std::vector<int> integers;

  ReadGroup(const WeightFormat &format, const std::vector<uint8_t> &stream, int64_t columns, int64_t width, int64_t row) {
    auto number = [&](int64_t index) {
      float value;
      uint16_t bits;
      if (format.wideScales)
        return std::memcpy(&value, stream.data() + 4 * index, 4), value;
      return std::memcpy(&bits, stream.data() + 2 * index, 2), fromHalf(bits);
    };
    scale = number(row);
    minimum = format.minima ? number(width + row) : 0;
    for (int64_t k = 0; k < columns; ++k) {
      int64_t quad = format.bits == 4 ? k / 8 : k / 4;
      int code = stream[format.headBytes(width) + (quad * width + row) * 4 + k % 4];
      integers.push_back(int(format.bits == 4 ? code >> (k / 4 % 2 * 4) & 15 : code) - int(format.zero()));
    }
  }
  float weight(int64_t k) const { return float(double(scale) * integers[k] + minimum); }
};

ReadGroup quantizeAndRead(const WeightFormat &format, const std::vector<float> &weights) {
  constexpr int64_t kWidth = 16, kRow = 5;
  int64_t columns = int64_t(weights.size());
  std::vector<uint8_t> stream(format.headBytes(kWidth) + kWidth * columns * format.bits / 8);
  std::vector<float> panel((kRow + 1) * columns);
  std::copy(weights.begin(), weights.end(), panel.begin() + kRow * columns);
  PanelWeights group{panel.data(), columns, kRow + 1, columns};
  expect(WeightQuantizer(format).quantize(group, kWidth, columns, stream.data()), format.str() + " has a scale");
  return ReadGroup(format, stream, columns, kWidth, kRow);
}

double errorOf(const ReadGroup &group, const std::vector<float> &weights) {
  double error = 0;
  for (size_t k = 0; k < weights.size(); ++k)
    error += std::pow(double(weights[k]) - group.weight(int64_t(k)), 2);
  return error;
}

/// Tests that weights that |format| represents exactly keep their values, with scales of both signs (in formats without
/// minima), subnormal scales, and integers up to the bounds.
void testExact(const WeightFormat &format, std::mt19937 &random) {
  int levels = 1 << format.bits, bias = format.minima ? 0 : levels / 2;
  for (int round = 0; round < 100; ++round) {
    bool isWide = format.wideScales && !format.minima;
    float scale = isWide ? std::ldexp(float(random() % 9999999 + 1), -30) : fromHalf(uint16_t(random() % 0x3000 + 1));
    if (!format.minima && random() % 2)
      scale = -scale;
    // The minimum of a model with zero points is -scale * zero point. In general f16 does not hold this product, so the
    // zero point is 0 if numbers are f16.
    float minimum = format.minima ? -scale * float(format.wideScales ? random() % levels : 0) : 0;
    std::vector<float> weights(32);
    for (size_t k = 0; k < weights.size(); ++k)
      weights[k] = float(double(scale) * (int(random() % levels) - bias) + minimum);
    // With minima, the quantizer finds the scale only if the least weight has the integer 0; the largest one gets the
    // largest integer. Without minima, it tries every integer for the weight of the largest magnitude.
    if (format.minima)
      weights[0] = minimum, weights[1] = float(double(scale) * (levels - 1) + minimum);
    ReadGroup group = quantizeAndRead(format, weights);
    for (size_t k = 0; k < weights.size(); ++k)
      if (group.weight(int64_t(k)) != weights[k])
        return expect(false, format.str() + ": a representable weight changed");
  }
}

/// Compares the squared error of random weights with that of the plain scale, which follows from the largest magnitude
/// or, with minima, from the range of the weights. Tests that in 4 bits the error is at most 0.95 of the plain one, in
/// 8 bits at most 1.01.
void testSearch(const WeightFormat &format, std::mt19937 &random) {
  std::normal_distribution<float> normal(0, 0.02f);
  double error = 0, plain = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<float> weights(64);
    float largest = 0, least = 0, most = 0;
    for (float &weight : weights) {
      weight = normal(random);
      largest = std::max(largest, std::fabs(weight)), least = std::min(least, weight), most = std::max(most, weight);
    }
    ReadGroup group = quantizeAndRead(format, weights), simple = group;
    int levels = (1 << format.bits) - 1;
    simple.scale = format.minima ? (most - least) / float(levels) : largest / float(levels / 2);
    simple.minimum = format.minima ? least : 0;
    for (size_t k = 0; k < weights.size(); ++k)
      simple.integers[k] = int(std::nearbyint((weights[k] - simple.minimum) / simple.scale));
    error += errorOf(group, weights), plain += errorOf(simple, weights);
  }
  // In 8 bits the search gains little, and rounding the scale to f16 may lose more; the plain scale is not rounded.
  expect(error <= plain * (format.bits == 4 ? 0.95 : 1.01),
         format.str() + ": the search gains too little, " + std::to_string(error / plain));
}

/// Tests that a slice of quantized panels, which cuts groups, has the bytes of the whole panels.
void testSlices(MLIRContext &context) {
  FakeTensors tensors;
  Builder builder(&context);
  std::string name = tensors.add({40, 100});
  auto matrix = TensorSourceAttr::get(&context, name, RankedTensorType::get({40, 100}, builder.getF32Type()));
  WeightFormat format = *WeightFormat::parse("int4:32");
  auto source = QuantizedPanelsSourceAttr::get(&context, matrix, 16, WeightFormatAttr::get(&context, format));
  ArrayRef<int64_t> shape = getSourceType(source).getShape();
  expect(shape == ArrayRef<int64_t>({3, 4, 16 * 2 + 16 * 16}), "panels of three rows of groups");
  SourceReader reader(tensors);
  std::vector<float> whole(shape[0] * shape[1] * shape[2]), part(2 * 2 * 9);
  expect(!reader.read(source, SourceBox::dense({0, 0, 0}, shape, whole.data())).failed(), "panels");
  expect(!reader.read(source, SourceBox::dense({1, 2, 40}, {2, 2, 9}, part.data())).failed(), "a slice of panels");
  for (int64_t i = 0; i < 36; ++i)
    expect(part[i] == whole[((1 + i / 18) * shape[1] + 2 + i / 9 % 2) * shape[2] + 40 + i % 9], "an element of a slice of panels");
  // Row 40 of the padded matrix, row 8 of the last panel, has a scale of 0 and integers of 0, which are stored as 8.
  const float *last = whole.data() + 2 * shape[1] * shape[2];
  expect(last[2 * 8] == 0 && last[2 * 8 + 1] == 0 && last[32 + 4 * 8] == float(int8_t(0x88)), "a row past the matrix");
}

/// Tests that panels in the format |name| have the checksum |expected|. It is the same on every machine and for every
/// instruction set, because files are shared and compared.
void testBytes(StringRef name, uint64_t expected) {
  constexpr int64_t kRows = 13, kWidth = 16, kColumns = 100;
  WeightFormat format = *WeightFormat::parse(name);
  std::vector<float> weights(kRows * kColumns);
  generateValues("bytes", 5, {0.0, 0.1}, 0, kRows * kColumns, weights.data());
  const int64_t group = format.groupColumns(kColumns), bytes = format.groupBytes(kWidth, kColumns);
  std::vector<uint8_t> panel(bytes * format.groups(kColumns));
  for (int64_t g = 0; g < format.groups(kColumns); ++g) {
    PanelWeights part{&weights[g * group], kColumns, kRows, std::min(group, kColumns - g * group)};
    expect(WeightQuantizer(format).quantize(part, kWidth, group, &panel[g * bytes]), "a panel");
  }
  uint64_t got = attune_checksum(panel.data(), panel.size());
  expect(got == expected, name.str() + ": a panel has the checksum " + llvm::utohexstr(got) + ", expected " + llvm::utohexstr(expected));
}

} // namespace

void attune::testQuantizer(MLIRContext &context) {
  std::mt19937 random(3);
  for (const char *name : {"int4:32", "int8:32", "int4:64:f32", "int8:128:f32", "int4:32:asym:f32", "int8:32:asym:f32", "int4:16:asym"}) {
    std::optional<WeightFormat> format = WeightFormat::parse(name);
    expect(format && format->str() == name, std::string(name) + " is a format");
    testExact(*format, random);
    testSearch(*format, random);
  }
  for (const char *name : {"", "int4", "int4:", "int4:33", "int4:032", "int2:32", "int8:32:asym:asym", "int8:32:f32:asym",
                           "int8:32:", "int8:-16"})
    expect(!WeightFormat::parse(name), std::string("'") + name + "' is no format");
  WeightFormat format = *WeightFormat::parse("int4:32");
  std::vector<float> zeros(32), odd(32);
  ReadGroup none = quantizeAndRead(format, zeros);
  expect(none.scale == 0 && none.integers[3] == 0, "a group of zeros");
  odd[0] = INFINITY, odd[1] = NAN, odd[2] = 1;
  ReadGroup some = quantizeAndRead(format, odd);
  expect(some.weight(0) == 0 && some.weight(1) == 0 && some.weight(2) == 1, "infinities and NaNs count as 0");
  odd[2] = 1e6f;
  std::vector<uint8_t> stream(8 * 4 + 8 * 32);
  expect(!WeightQuantizer(format).quantize({odd.data(), 32, 1, 32}, 8, 32, stream.data()), "a scale beyond f16");
  format.wideScales = true;
  expect(WeightQuantizer(format).quantize({odd.data(), 32, 1, 32}, 8, 32, stream.data()), "a scale beyond f16 as f32");
  testSlices(context);
  testBytes("int4:32", 0x2831ddf2a4983e0a);
  testBytes("int8:32", 0xc95d9cf9d4ce56c6);
  testBytes("int4:16:asym", 0xfcbfd357d4b5907b);
  testBytes("int8:128:f32", 0xef5bce4d8d5fd483);
}
