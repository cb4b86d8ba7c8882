//===- CompareCase.cpp - Comparing an output with a golden case -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Full-size cases store samples, NAME.head (first values), NAME.tail (last values) and NAME.strided (every n-th value,
// n = size / 256 but at least 1), and statistics of the whole tensor. NAME is the output, size its number of values.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/CompareCase.h"

#include <algorithm>
#include <cmath>

using namespace attune;

/// The stride of NAME.strided is the number of values of the whole tensor, divided by this number.
static constexpr int64_t stridedValues = 256;

/// Returns the factor f of the coarse rule |error| <= f * max_abs; 0 for f32, negative for an unknown type.
static double coarseFactor(const std::string &dtype) {
  if (dtype == "f32")
    return 0;
  if (dtype == "bf16" || dtype == "f16")
    return 2e-2;
  if (dtype == "int8")
    return 5e-2;
  return -1;
}

bool attune::isCheckDType(const std::string &dtype) { return coarseFactor(dtype) >= 0; }

static OutputReport notComparable(std::string text) { return {OutputReport::NotComparable, INFINITY, std::move(text)}; }

/// Returns "expected F32 [2, 3], got …".
static std::string mismatch(const TensorView &got, DType dtype, const std::vector<int64_t> &shape) {
  return std::string("expected ") + dtypeName(dtype) + " " + shapeText(shape) + ", got " + dtypeName(got.dtype) + " " +
         shapeText(got.shape);
}

static std::string describe(const WorstValue &worst, const TensorView &got, const TensorView &expected) {
  if (worst.index < 0)
    return "empty";
  std::string place = " at " + indexText(got.shape, worst.index);
  std::string text = isFloat(got.dtype) ? "worst error " + numberText(worst.error, 3) + " of " + numberText(worst.allowed, 3) + place
                     : worst.passes()   ? "equal"
                                        : "differs" + place;
  if (!worst.passes())
    text += ": expected " + elementText(expected, worst.position) + ", got " + elementText(got, worst.index);
  return text;
}

/// Merges a comparison into |report|: keeps the larger ratio and its text.
static void merge(OutputReport &report, const WorstValue &worst, const TensorView &got, const TensorView &expected) {
  if (!report.text.empty() && worst.ratio <= report.ratio)
    return;
  report.ratio = worst.ratio;
  report.text = describe(worst, got, expected);
}

/// Compares those of the three samples that |expected| has. Returns the reason why |got| cannot be compared with them,
/// for example that |expected| has none of them; "" if it can.
static std::string compareSamples(OutputReport &report, const CaseOutput &output, const TensorView &got, const SafetensorsFile &expected,
                                  Tolerance tolerance) {
  int64_t size = got.elements, stride = std::max<int64_t>(1, size / stridedValues);
  bool any = false;
  for (const char *part : {"head", "tail", "strided"}) {
    const TensorView *sample = expected.find(output.name + "." + part);
    if (!sample)
      continue;
    any = true;
    if (sample->dtype != got.dtype)
      return "'" + sample->name + "': " + mismatch(got, sample->dtype, got.shape);
    int64_t first = part[0] == 't' ? size - sample->elements : 0, step = part[0] == 's' ? stride : 1;
    if (first < 0 || (sample->elements != 0 && first + (sample->elements - 1) * step >= size))
      return "expected at most " + std::to_string(size) + " values in '" + sample->name + "', got " + std::to_string(sample->elements);
    merge(report, compareValues(got, *sample, tolerance, [&](int64_t i) { return first + i * step; }), got, *sample);
  }
  return any ? "" : expected.path() + " has neither '" + output.name + "' nor samples of it";
}

/// Compares the statistics of |got| with those of |output|: the errors of l2 and abs_mean relative to themselves, that
/// of mean relative to abs_mean. The tolerance of all is statsTolerance.
static void compareStats(OutputReport &report, const CaseOutput &output, const TensorView &got) {
  TensorStats sums = computeStats(got);
  struct {
    const char *name;
    double got, expected, scale;
  } rows[] = {{"mean", sums.mean, output.stats->mean, output.stats->absMean},
              {"abs_mean", sums.absMean, output.stats->absMean, output.stats->absMean},
              {"l2", sums.l2, output.stats->l2, output.stats->l2}};
  for (auto &row : rows) {
    double error = std::fabs(row.got - row.expected), allowed = output.statsTolerance * std::fabs(row.scale);
    double ratio = error == 0 ? 0 : error / allowed;
    if (std::isnan(ratio))
      ratio = INFINITY;
    if (ratio <= report.ratio)
      continue;
    report.ratio = ratio;
    report.text = std::string(row.name) + " of the whole tensor off by " + numberText(error, 3) + " of " + numberText(allowed, 3) +
                  ": expected " + numberText(row.expected, 9) + ", got " + numberText(row.got, 9);
  }
}

namespace {
/// The result of a generation: the logits [batch, step, vocab] that chose the new ids, and all ids [batch, length],
/// those of the prompt first.
struct GeneratedSteps {
  const TensorView &logits, &ids;

  bool areSound() const {
    return logits.shape.size() == 3 && ids.shape.size() == 2 && ids.dtype == DType::I64 && ids.shape[0] == logits.shape[0] &&
           promptLength() >= 0;
  }
  /// Returns the number of ids before the first new one.
  int64_t promptLength() const { return ids.shape[1] - logits.shape[1]; }
  /// begin() returns the offset of the logits of |row| in elements; part() returns the logits of its first |count|
  /// steps.
  int64_t begin(int64_t row) const { return row * logits.shape[1] * logits.shape[2]; }
  TensorView part(int64_t row, int64_t count) const {
    TensorView result = logits;
    result.elements = count * logits.shape[2];
    result.data += begin(row) * elementSize(logits.dtype);
    return result;
  }
};
} // namespace

/// Returns the number of ids of |row|, the prompt included, before the first that differs.
static int64_t countEqualIds(const TensorView &got, const TensorView &expected, int64_t row) {
  int64_t both = std::min(got.shape[1], expected.shape[1]);
  std::vector<int64_t> ids(both), others(both);
  convertToI64(got, row * got.shape[1], both, ids.data());
  convertToI64(expected, row * expected.shape[1], both, others.data());
  return std::mismatch(ids.begin(), ids.end(), others.begin()).first - ids.begin();
}

/// Compares the logits of each row up to and including the step that chose the first id that differs from the expected
/// one. Later logits continue another text, and their number may differ. Returns the reason why the logits cannot be
/// compared, "" if they can.
static std::string compareSteps(OutputReport &report, const CaseOutput &output, GeneratedSteps got, GeneratedSteps expected,
                                Tolerance tolerance) {
  const std::vector<int64_t> &shape = got.logits.shape;
  if (!expected.areSound() || expected.logits.dtype != output.dtype || expected.logits.shape != output.shape)
    return mismatch(expected.logits, output.dtype, output.shape) + ", and 'sequences' of as many rows of I64, in the expected file";
  if (!got.areSound() || got.logits.dtype != output.dtype || shape[0] != output.shape[0] || shape[2] != output.shape[2] ||
      got.promptLength() != expected.promptLength())
    return mismatch(got.logits, output.dtype, output.shape);
  for (int64_t row = 0; row < shape[0]; ++row) {
    int64_t chosen = countEqualIds(got.ids, expected.ids, row) - expected.promptLength();
    if (chosen < 0)
      return "expected the prompt of row " + std::to_string(row) + " in 'sequences', which begins with other ids";
    int64_t count = std::min({chosen + 1, shape[1], expected.logits.shape[1]});
    WorstValue worst = compareValues(got.part(row, count), expected.part(row, count), tolerance);
    if (worst.index < 0)
      continue;
    worst.index += got.begin(row), worst.position += expected.begin(row);
    merge(report, worst, got.logits, expected.logits);
  }
  report.text += "; of steps with the expected ids";
  return "";
}

/// Compares all of |got| with the tensor of |expected| that has the name of |output|, or with samples of that tensor.
/// Returns the reason why they cannot be compared, "" if they can.
static std::string compareWhole(OutputReport &report, const CaseOutput &output, const TensorView &got, const SafetensorsFile &expected,
                                Tolerance tolerance) {
  if (got.dtype != output.dtype || got.shape != output.shape)
    return mismatch(got, output.dtype, output.shape);
  const TensorView *whole = expected.find(output.name);
  if (!whole)
    return compareSamples(report, output, got, expected, tolerance);
  if (whole->dtype != got.dtype || whole->shape != got.shape)
    return expected.path() + " has " + dtypeName(whole->dtype) + " " + shapeText(whole->shape) + ", got " + dtypeName(got.dtype) + " " +
           shapeText(got.shape);
  merge(report, compareValues(got, *whole, tolerance), got, *whole);
  return "";
}

OutputReport attune::compareOutput(const CaseOutput &output, const TensorView *got, const SafetensorsFile &expected,
                                   const std::string &dtype, const TensorView *ids) {
  double factor = coarseFactor(dtype);
  if (factor > 0 && !isFloat(output.dtype))
    return {OutputReport::Skipped, 0, "ids are not compared for " + dtype};
  if (!got)
    return notComparable("not computed");
  Tolerance tolerance = factor > 0 ? Tolerance{factor * output.maxAbs, 0} : output.tolerance;
  const TensorView *whole = expected.find(output.name), *expectedIds = expected.find("sequences");
  bool bySteps = factor > 0 && output.name == "step_logits" && ids && whole && expectedIds;
  OutputReport report;
  std::string problem = bySteps ? compareSteps(report, output, {*got, *ids}, {*whole, *expectedIds}, tolerance)
                                : compareWhole(report, output, *got, expected, tolerance);
  if (!problem.empty())
    return notComparable(problem);
  if (!whole && output.stats && factor == 0 && isFloat(got->dtype))
    compareStats(report, output, *got);
  report.verdict = report.ratio <= 1 ? OutputReport::Passed : OutputReport::Failed;
  return report;
}
