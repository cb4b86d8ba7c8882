//===- ErrorCompensation.cpp - Rounding by the error of outputs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Calibrate/ErrorCompensation.h"
#include "compiler/Support/InstructionSets.h"
#include "llvm/Support/Parallel.h"

#include <algorithm>
#include <cmath>

using namespace attune;
using mlir::xfmr::WeightFormat;

void InputMoments::add(Rows<const float> inputs) {
  // addLowerProducts multiplies rows, so the inputs are transposed: a row for each feature.
  std::vector<double> transposed(static_cast<size_t>(features * inputs.count));
  for (int64_t t = 0; t < inputs.count; ++t)
    for (int64_t k = 0; k < features; ++k) {
      float value = inputs.row(t)[k];
      transposed[static_cast<size_t>(k * inputs.count + t)] = std::isfinite(value) ? value : 0.0;
    }
  Rows<const double> rows = {transposed.data(), features, inputs.count};
  addLowerProducts(rows, rows, inputs.count, 1.0, 0, lower());
  count += inputs.count;
}

bool attune::factorizeMoments(Rows<double> matrix) {
  const int64_t size = matrix.count;
  double mean = 0;
  for (int64_t i = 0; i < size; ++i)
    mean += matrix.row(i)[i] / static_cast<double>(size);
  if (!(mean > 0) || !std::isfinite(mean))
    return false;
  for (int64_t i = 0; i < size; ++i)
    matrix.row(i)[i] += 0.01 * mean;
  // For each block of columns: factorize its triangle on the diagonal, compute the rows below it, and subtract their
  // products from the remaining triangle.
  constexpr int64_t kBlock = 64;
  for (int64_t first = 0; first < size; first += kBlock) {
    int64_t end = std::min(size, first + kBlock);
    auto finishRow = [&](int64_t i) {
      double *row = matrix.row(i);
      for (int64_t j = first; j < std::min(i + 1, end); ++j) {
        const double *other = matrix.row(j);
        double sum = row[j];
        for (int64_t k = first; k < j; ++k)
          sum -= row[k] * other[k];
        // The sum on the diagonal is positive, except for rounding errors.
        row[j] = i == j ? std::sqrt(std::max(sum, 1e-6 * mean)) : sum / other[j];
      }
    };
    for (int64_t i = first; i < end; ++i)
      finishRow(i);
    llvm::parallelFor(static_cast<size_t>(end), static_cast<size_t>(size), [&](size_t i) { finishRow(static_cast<int64_t>(i)); });
    Rows<const double> panel = {matrix.row(end) + first, size - end, matrix.pitch};
    if (end < size)
      addLowerProducts(panel, panel, end - first, -1.0, 0, {matrix.row(end) + end, size - end, matrix.pitch});
  }
  return true;
}

namespace {

constexpr int64_t kLanes = 8;
typedef double Lanes __attribute__((vector_size(64)));

/// Quantizes eight or fewer rows of a matrix at the same time, one in each lane of a vector. L is the lower triangular
/// matrix that factorizeMoments computes; its column j is row j of |columns|.
class RowRounding {
public:
  RowRounding(Rows<const double> columns, WeightFormat format)
      : columns(columns), size(columns.count), quantizer(format), format(format), error(size), weights(size),
        targets(kLanes * format.groupColumns(size)) {}

  /// Quantizes |count| rows of |matrix| from row |first| on. Sets |numbers|, [count, groups], to the scale and the
  /// minimum of each group, and |integers|, [count, size], to the quantized values. Returns false if f16 cannot store a
  /// scale or a minimum.
  inline __attribute__((always_inline)) bool round(Rows<const float> matrix, int64_t first, int64_t count, QuantizedGroup *numbers,
                                                   int16_t *integers) {
    const int64_t group = format.groupColumns(size), groups = format.groups(size);
    bool fits = true;
    for (int64_t k = 0; k < size; ++k) {
      weights[k] = error[k] = Lanes{};
      for (int64_t lane = 0; lane < count; ++lane) {
        float weight = matrix.row(first + lane)[k];
        weights[k][lane] = std::isfinite(weight) ? weight : 0.0f;
      }
    }
    for (int64_t number = groups; number-- > 0;) {
      int64_t begin = number * group, end = std::min(begin + group, size);
      // The parts of the sums that columns behind the group contribute, for each column of the group.
      std::vector<Lanes> behind(end - begin);
      for (int64_t j = begin; j < end; ++j)
        behind[j - begin] = sumErrors(j, end, size);
      // The errors that would make the terms of the group zero. The scale is chosen for the weights minus these errors.
      for (int64_t j = end; j-- > begin;)
        error[j] = -(behind[j - begin] + sumErrors(j, j + 1, end)) / columns.row(j)[j];
      for (int64_t lane = 0; lane < count; ++lane)
        for (int64_t k = begin; k < end; ++k)
          targets[lane * group + k - begin] = static_cast<float>(weights[k][lane] - error[k][lane]);
      QuantizedGroup chosen[kLanes];
      fits &= quantizer.choose({targets.data(), group, count, end - begin}, chosen);
      for (int64_t j = end; j-- > begin;) {
        Lanes target = weights[j] + (behind[j - begin] + sumErrors(j, j + 1, end)) / columns.row(j)[j];
        for (int64_t lane = 0; lane < count; ++lane) {
          float integer = quantizer.integerOf(static_cast<float>(target[lane]), chosen[lane]);
          float stored = chosen[lane].scale * integer + chosen[lane].minimum;
          error[j][lane] = weights[j][lane] - static_cast<double>(stored);
          integers[lane * size + j] = static_cast<int16_t>(integer);
        }
      }
      for (int64_t lane = 0; lane < count; ++lane)
        numbers[lane * groups + number] = chosen[lane];
    }
    return fits;
  }

private:
  /// Returns the sum of `error[i] * L[i, j]` for i from |begin| to |end| - 1.
  inline __attribute__((always_inline)) Lanes sumErrors(int64_t j, int64_t begin, int64_t end) const {
    const double *column = columns.row(j);
    Lanes sums[4] = {};
    int64_t i = begin;
    for (; i + 3 < end; i += 4)
      for (int64_t part = 0; part < 4; ++part)
        sums[part] += error[i + part] * column[i + part];
    for (; i < end; ++i)
      sums[0] += error[i] * column[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  Rows<const double> columns;
  int64_t size;
  WeightQuantizer quantizer;
  WeightFormat format;
  std::vector<Lanes> error, weights;
  std::vector<float> targets;
};

// The versions for all instruction sets must round alike, so FMA is disabled.
#define ATTUNE_ROUND_FUNCTION(NAME, ATTRIBUTE)                                                                                             \
  ATTRIBUTE bool round##NAME(RowRounding &rounding, Rows<const float> matrix, int64_t first, int64_t count, QuantizedGroup *numbers,       \
                             int16_t *integers) {                                                                                          \
    return rounding.round(matrix, first, count, numbers, integers);                                                                        \
  }
ATTUNE_FOR_INSTRUCTION_SETS(ATTUNE_ROUND_FUNCTION)

} // namespace

bool attune::quantizeByOutputs(Rows<const float> weights, InputMoments &moments, CalibratedRows &out) {
  const int64_t size = moments.size(), groups = out.getFormat().groups(size);
  Rows<double> factor = moments.lower();
  if (!factorizeMoments(factor))
    return false;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < i; ++j)
      factor.row(j)[i] = factor.row(i)[j];
  Rows<const double> columns = {factor.data, factor.count, factor.pitch};
  static const auto roundRows = ATTUNE_CHOOSE_VERSION(round);
  // Rows of a part are rounded by several threads and added in their order.
  constexpr int64_t kPart = 1024;
  std::vector<QuantizedGroup> numbers(static_cast<size_t>(std::min(kPart, weights.count) * groups));
  std::vector<int16_t> integers(static_cast<size_t>(std::min(kPart, weights.count) * size));
  std::vector<char> isRounded(kPart / kLanes);
  for (int64_t first = 0; first < weights.count; first += kPart) {
    int64_t count = std::min(kPart, weights.count - first);
    llvm::parallelFor(0, static_cast<size_t>((count + kLanes - 1) / kLanes), [&](size_t block) {
      auto begin = static_cast<int64_t>(block) * kLanes;
      RowRounding rounding(columns, out.getFormat());
      isRounded[block] =
          roundRows(rounding, weights, first + begin, std::min(kLanes, count - begin), &numbers[begin * groups], &integers[begin * size]);
    });
    for (int64_t row = 0; row < count; ++row) {
      // If f16 cannot store a scale or a minimum of one of eight rows, none of the eight is added. The packer then
      // chooses their scales without the calibration, and reports an error if these do not fit either.
      if (!isRounded[row / kLanes])
        continue;
      out.add({weights.row(first + row), static_cast<size_t>(size)}, {&numbers[row * groups], static_cast<size_t>(groups)},
              {&integers[row * size], static_cast<size_t>(size)});
    }
  }
  return true;
}
