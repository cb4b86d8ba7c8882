//===- WeightQuantizer.cpp - Weights in formats of few bits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Eight rows are quantized side by side: lane i of a vector belongs to row i. Lanes are never added to each other, so a
// sum over the columns of a row has the same order on all machines, whatever the size of their vectors.
//
//   weights of a panel      row 0: k0 k1 k2 ...           lanes     k0: row 0, row 1, ... row 7
//                           row 1: k0 k1 k2 ...     ->              k1: row 0, row 1, ... row 7
//                           ...                                     ...
//
// The code on vectors is compiled for several instruction sets (InstructionSets.h). All versions must round alike, so
// the file is compiled without fused multiply-adds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Weights/WeightQuantizer.h"
#include "compiler/Support/InstructionSets.h"
#include "compiler/Weights/ExactScales.h"
#include "compiler/Weights/QuantizerLanes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace attune;
using namespace attune::quantizer;
using mlir::xfmr::WeightFormat;

namespace {

typedef int32_t HalfWords __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(32)));

/// A double for each lane.
struct LaneDoubles {
  Doubles low = {}, high = {};
};

/// Adds the f32 |values| to |sums|.
ATTUNE_INLINE void addTo(LaneDoubles &sums, const Floats &values) {
  sums.low += __builtin_convertvector(__builtin_shufflevector(values, values, 0, 1, 2, 3), Doubles);
  sums.high += __builtin_convertvector(__builtin_shufflevector(values, values, 4, 5, 6, 7), Doubles);
}

/// Adds the products of |a| and |b|, in double, to |sums|.
ATTUNE_INLINE void addProducts(LaneDoubles &sums, const Floats &a, const Floats &b) {
  sums.low += __builtin_convertvector(__builtin_shufflevector(a, a, 0, 1, 2, 3), Doubles) *
              __builtin_convertvector(__builtin_shufflevector(b, b, 0, 1, 2, 3), Doubles);
  sums.high += __builtin_convertvector(__builtin_shufflevector(a, a, 4, 5, 6, 7), Doubles) *
               __builtin_convertvector(__builtin_shufflevector(b, b, 4, 5, 6, 7), Doubles);
}

ATTUNE_INLINE void store(const LaneDoubles &lanes, double *out) {
  std::memcpy(out, &lanes.low, sizeof(lanes.low));
  std::memcpy(out + kLanes / 2, &lanes.high, sizeof(lanes.high));
}

/// Returns the bits of |value|, a number that f16 represents exactly, as an f16.
uint16_t bitsOfHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (std::fabs(value) < kNormalHalf)
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::fabs(value) * 0x1p24f));
  return static_cast<uint16_t>(sign | ((bits & 0x7fffffff) - (112u << 23)) >> 13);
}

/// Sets |inverses| to the inverses of |numbers|, or to 0 where an inverse is not finite.
ATTUNE_INLINE void setInverses(const Floats &numbers, Floats &inverses) {
  inverses = 1.0f / numbers;
  Words bits;
  std::memcpy(&bits, &inverses, sizeof(bits));
  inverses = (bits & 0x7f800000) == 0x7f800000 ? Floats{} : inverses;
}

/// For each lane, the scale and the minimum of a group of its row, and the inverse, 1 / scale, or 0 where the quotient
/// is not finite.
struct LaneGroups {
  Floats scale = {}, minimum = {}, inverse = {};

  ATTUNE_INLINE void set(const WeightFormat &format, const Floats &wantedScale, const Floats &wantedMinimum) {
    scale = wantedScale, minimum = wantedMinimum;
    if (!format.wideScales) {
      roundToHalf(scale);
      roundToHalf(minimum);
    }
    invert();
  }
  ATTUNE_INLINE void invert() { setInverses(scale, inverse); }
};

/// Sets |integers| to the integers q of |weights|, as floats. If |minima| is false, all minima are taken as 0.
template <bool minima>
ATTUNE_INLINE void toIntegers(const Floats &weights, const LaneGroups &groups, const IntegerRange &range, Floats &integers) {
  // Numbers are clamped before they are rounded, since kShifter rounds only magnitudes below 2^22.
  Floats lowest = Floats{} + range.lowest, highest = Floats{} + range.highest;
  integers = (minima ? weights - groups.minimum : weights) * groups.inverse;
  integers = integers < lowest ? lowest : integers;
  integers = highest < integers ? highest : integers;
  integers = (integers + kShifter) - kShifter;
}

/// The factor of the squared error of each weight, for eight rows.
///
/// In a format without minima, the factor is the mean square of the weights of the group plus the square of the weight.
/// With equal factors, scales that clip large weights for the sake of small ones would have the smallest error, but
/// such scales make trained models worse. In a format with minima, the range of the integers follows the weights, and
/// all factors are 1.
template <bool minima>
struct Importance {
  Floats mean = {}, inverse = {};

  ATTUNE_INLINE Importance(const Floats *weights, int64_t columns, const Floats &largest) {
    if constexpr (!minima) {
      // Weights are divided by |largest|, the weight of the largest magnitude of their row, so that no square is too
      // small for f32. This multiplies all factors of a row by one number.
      setInverses(largest, inverse);
      for (int64_t k = 0; k < columns; ++k) {
        Floats share = weights[k] * inverse;
        mean += share * share;
      }
      mean = mean / static_cast<float>(columns);
    }
  }
  /// Multiplies |values| by the factors of |weights|.
  ATTUNE_INLINE void apply(const Floats &weights, Floats &values) const {
    if constexpr (!minima) {
      Floats share = weights * inverse;
      values = values * (mean + share * share);
    }
  }
};

/// Sets |errors| to the sum of squared errors of each lane with the scales and minima |groups|. Multiplies each square
/// by the factor of |importance|.
template <bool minima>
ATTUNE_INLINE void getErrors(const Floats *weights, int64_t columns, const LaneGroups &groups, const IntegerRange &range,
                             const Importance<minima> &importance, LaneDoubles &errors) {
  constexpr int64_t kParts = 8;
  Floats parts[kParts] = {};
  auto add = [&](const Floats &weight, Floats &part) __attribute__((always_inline)) {
    Floats integers;
    toIntegers<minima>(weight, groups, range, integers);
    Floats difference = (minima ? weight - groups.minimum : weight) - groups.scale * integers;
    Floats error = difference * difference;
    importance.apply(weight, error);
    part += error;
  };
  int64_t whole = columns / kParts * kParts;
  for (int64_t k = 0; k < whole; k += kParts)
    for (int64_t part = 0; part < kParts; ++part)
      add(weights[k + part], parts[part]);
  for (int64_t k = whole; k < columns; ++k)
    add(weights[k], parts[k - whole]);
  errors = {};
  for (const Floats &part : parts)
    addTo(errors, part);
}

/// Replaces |best| by |better| in the |allowed| lanes in which |betterErrors| is smaller than |errors|, and sets
/// |changed| to these lanes. Replaces |errors| by |betterErrors| in all lanes, allowed or not, in which |betterErrors|
/// is smaller. Leaves |best|.inverse as it is: the caller must call invert() before it uses the inverse.
ATTUNE_INLINE void keepBetter(const LaneGroups &better, const LaneDoubles &betterErrors, LaneGroups &best, LaneDoubles &errors,
                              const Words &allowed, Words &changed) {
  changed = allowed & __builtin_shufflevector(__builtin_convertvector(betterErrors.low < errors.low, HalfWords),
                                              __builtin_convertvector(betterErrors.high < errors.high, HalfWords), 0, 1, 2, 3, 4, 5, 6, 7);
  errors.low = betterErrors.low < errors.low ? betterErrors.low : errors.low;
  errors.high = betterErrors.high < errors.high ? betterErrors.high : errors.high;
  best.scale = changed ? better.scale : best.scale;
  best.minimum = changed ? better.minimum : best.minimum;
}

/// Refines |best|. Computes the scale and minimum with the least squared error for the current integers, and keeps them
/// in the lanes in which they make the error smaller. Repeats this once for the new integers of these lanes.
template <bool minima>
ATTUNE_INLINE void refine(const Floats *weights, int64_t columns, const WeightFormat &format, const IntegerRange &range,
                          const Importance<minima> &importance, LaneGroups &best) {
  constexpr int kSteps = 2;
  LaneDoubles errors, betterErrors;
  Words active = ~Words{};
  getErrors<minima>(weights, columns, best, range, importance, errors);
  for (int step = 0; step < kSteps; ++step) {
    LaneDoubles q, qq, w, wq;
    for (int64_t k = 0; k < columns; ++k) {
      Floats integers;
      toIntegers<minima>(weights[k], best, range, integers);
      Floats weighted = integers;
      importance.apply(weights[k], weighted);
      addProducts(qq, weighted, integers);
      addProducts(wq, weighted, weights[k]);
      if constexpr (minima) {
        addTo(q, integers);
        addTo(w, weights[k]);
      }
    }
    double sums[4][kLanes], count = static_cast<double>(columns);
    store(q, sums[0]), store(qq, sums[1]), store(w, sums[2]), store(wq, sums[3]);
    Floats scale = best.scale, minimum = best.minimum;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      double sumQ = sums[0][lane], sumQQ = sums[1][lane], sumW = sums[2][lane], sumWQ = sums[3][lane];
      if constexpr (minima) {
        double determinant = count * sumQQ - sumQ * sumQ;
        if (determinant <= 0) {
          active[lane] = 0;
          continue;
        }
        scale[lane] = static_cast<float>((count * sumWQ - sumQ * sumW) / determinant);
        minimum[lane] = static_cast<float>((sumQQ * sumW - sumQ * sumWQ) / determinant);
      } else if (sumQQ > 0) {
        scale[lane] = static_cast<float>(sumWQ / sumQQ);
      }
    }
    LaneGroups better;
    better.set(format, scale, minimum);
    getErrors<minima>(weights, columns, better, range, importance, betterErrors);
    keepBetter(better, betterErrors, best, errors, active, active);
    best.invert();
    bool any = false;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      any |= active[lane] != 0;
    if (!any)
      return;
  }
}

/// Tries candidates for the scales and minima of eight rows, and sets |best| to the candidates with the smallest error,
/// refined. |least| and |largest| are the least and the largest weight of each row.
template <bool minima>
ATTUNE_INLINE void search(const Floats *weights, int64_t columns, const WeightFormat &format, const Floats &least, const Floats &largest,
                          LaneGroups &best) {
  IntegerRange range(format);
  Importance<minima> importance(weights, columns, largest > -least ? largest : least);
  LaneDoubles smallest{Doubles{} + HUGE_VAL, Doubles{} + HUGE_VAL}, errors;
  Words all = ~Words{}, changed;
  auto consider = [&](const Floats &scale, const Floats &minimum) __attribute__((always_inline)) {
    LaneGroups candidate;
    candidate.set(format, scale, minimum);
    getErrors<minima>(weights, columns, candidate, range, importance, errors);
    keepBetter(candidate, errors, best, smallest, all, changed);
  };
  // Formats of 8 bits need few candidates: their errors are small and depend little on the scale.
  bool narrow = format.bits == 4;
  if constexpr (minima) {
    // A candidate's integers cover the middle |share| of the range of weights, from 75 to 100 percent.
    Floats extent = largest - least;
    for (float share = narrow ? 0.75f : 1.0f; share <= 1.0f; share += 0.03125f)
      consider(extent * share / range.highest, least + extent * (1 - share) / 2);
  } else {
    // A candidate is the scale with which |extreme| becomes |integer|, before clamping. If |integer| is out of range,
    // clamping makes the magnitude of the quantized value smaller than that of |extreme|.
    Floats extreme = largest > -least ? largest : least;
    for (float integer = narrow ? -9.0f : -128.0f; integer <= (narrow ? -6.5f : -127.0f); integer += narrow ? 0.25f : 1.0f)
      consider(extreme / integer, Floats{});
    for (float integer = narrow ? 6.5f : 127.0f; integer <= (narrow ? 9.0f : 127.0f); integer += 0.25f)
      consider(extreme / integer, Floats{});
  }
  best.invert();
  refine<minima>(weights, columns, format, range, importance, best);
}

/// Writes the stored integers u of eight rows to |out|, in the layout of WeightFormat: for each row a dword of four
/// columns (in 4 bits: of eight, the second four in the high halves of the bytes). The dwords of the next columns
/// follow |width| dwords later.
ATTUNE_INLINE void writeIntegers(const Floats *weights, int64_t columns, const WeightFormat &format, const LaneGroups &groups,
                                 int64_t groupColumns, int64_t width, uint8_t *out) {
  IntegerRange range(format);
  Words zero = Words{} + int32_t(format.zero());
  auto codeAt = [&](int64_t k, Words &code) __attribute__((always_inline)) {
    code = zero;
    if (k >= columns)
      return;
    Floats integers;
    toIntegers<true>(weights[k], groups, range, integers);
    code += __builtin_convertvector(integers, Words);
  };
  constexpr int64_t kQuad = 4;
  int64_t step = format.bits == 4 ? 2 * kQuad : kQuad;
  for (int64_t column = 0; column < groupColumns; column += step, out += width * kQuad) {
    Words quad = {};
    for (int64_t i = 0; i < step; ++i) {
      Words code;
      codeAt(column + i, code);
      quad |= code << int32_t(i < kQuad ? 8 * i : 8 * (i - kQuad) + 4);
    }
    std::memcpy(out, &quad, sizeof(quad));
  }
}

/// Eight rows of a group: the address of their weights, where |weights|[k] has column k of the eight rows, and the
/// least and the largest weight of each row.
struct LaneRows {
  Floats *weights;
  int64_t columns;
  Floats least, largest;
};

/// Puts the weights of |count| rows, |pitch| elements apart, side by side into |rows|, and finds the least and the
/// largest weight of each row. Infinities and NaNs become zeros, and so do all weights of the lanes from |count| on.
ATTUNE_INLINE void gather(const float *weights, int64_t pitch, int64_t count, LaneRows &rows) {
  Floats least = {}, largest = {};
  for (int64_t k = 0; k < rows.columns; ++k) {
    float values[kLanes] = {};
    if (count == kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        values[lane] = weights[lane * pitch + k];
    else
      for (int64_t lane = 0; lane < count; ++lane)
        values[lane] = weights[lane * pitch + k];
    Words bits;
    std::memcpy(&bits, values, sizeof(bits));
    bits = (bits & 0x7f800000) == 0x7f800000 ? Words{} : bits;
    Floats all;
    std::memcpy(&all, &bits, sizeof(bits));
    rows.weights[k] = all;
    least = k == 0 || all < least ? all : least;
    largest = k == 0 || largest < all ? all : largest;
  }
  rows.least = least, rows.largest = largest;
}

/// The functions that are compiled for several instruction sets.
struct LaneFunctions {
  void (*gather)(const float *weights, int64_t pitch, int64_t count, LaneRows &rows);
  void (*search)(const LaneRows &rows, const WeightFormat &format, LaneGroups &best);
  void (*write)(const LaneRows &rows, const WeightFormat &format, const LaneGroups &groups, int64_t groupColumns, int64_t width,
                uint8_t *out);
};

#define ATTUNE_LANE_FUNCTIONS(NAME, ATTRIBUTE)                                                                                             \
  ATTRIBUTE void gather##NAME(const float *weights, int64_t pitch, int64_t count, LaneRows &rows) {                                        \
    gather(weights, pitch, count, rows);                                                                                                   \
  }                                                                                                                                        \
  ATTRIBUTE void search##NAME(const LaneRows &rows, const WeightFormat &format, LaneGroups &best) {                                        \
    if (format.minima)                                                                                                                     \
      search<true>(rows.weights, rows.columns, format, rows.least, rows.largest, best);                                                    \
    else                                                                                                                                   \
      search<false>(rows.weights, rows.columns, format, rows.least, rows.largest, best);                                                   \
  }                                                                                                                                        \
  ATTRIBUTE void write##NAME(const LaneRows &rows, const WeightFormat &format, const LaneGroups &groups, int64_t groupColumns,             \
                             int64_t width, uint8_t *out) {                                                                                \
    writeIntegers(rows.weights, rows.columns, format, groups, groupColumns, width, out);                                                   \
  }                                                                                                                                        \
  constexpr LaneFunctions k##NAME = {gather##NAME, search##NAME, write##NAME};
ATTUNE_FOR_INSTRUCTION_SETS(ATTUNE_LANE_FUNCTIONS)

} // namespace

/// Writes |number|, the scale or the minimum of row |row|, to |out|, the scales or the minima of all rows of a panel.
static void writeNumber(const WeightFormat &format, float number, int64_t row, uint8_t *out) {
  if (format.wideScales) {
    std::memcpy(out + row * sizeof(number), &number, sizeof(number));
  } else {
    uint16_t bits = bitsOfHalf(number);
    std::memcpy(out + row * sizeof(bits), &bits, sizeof(bits));
  }
}

/// The choice of the scales and minima of groups, eight rows at a time.
class WeightQuantizer::Chooser {
public:
  Chooser(WeightFormat format, int64_t columns)
      : format(format), exact(format), highest(IntegerRange(format).highest), lanes(columns), row(columns) {}

  /// Sets |rows| to the eight rows of |group| from |first| on; rows that |group| lacks are zeros. |rows| is valid until
  /// the next call.
  void gather(PanelWeights group, int64_t first, LaneRows &rows) {
    rows = LaneRows{lanes.data(), group.columns, Floats{}, Floats{}};
    functions().gather(group.weights + first * group.pitch, group.pitch, std::clamp<int64_t>(group.rows - first, 0, kLanes), rows);
  }

  /// Sets |scales| and |minima| for |rows|, which the last call of gather has set, except in lanes that are |known|.
  /// Sets |known| to true in lanes whose scale and minimum represent the weights exactly. Returns false if the format
  /// stores scales as f16 and one of the numbers may exceed the range of f16.
  bool choose(const LaneRows &rows, bool (&known)[kLanes], float (&scales)[kLanes], float (&minima)[kLanes]) {
    float least[kLanes], largest[kLanes];
    std::memcpy(least, &rows.least, sizeof(least));
    std::memcpy(largest, &rows.largest, sizeof(largest));
    bool needsSearch = false, fits = true;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      if (known[lane])
        continue;
      scales[lane] = minima[lane] = 0;
      float most = std::max(std::fabs(least[lane]), std::fabs(largest[lane]));
      // A minimum may be as large as the largest weight; a scale without a minimum is at most about the largest weight
      // divided by the largest integer.
      if (!format.wideScales && (format.minima ? most : most / highest) > kLargestHalf)
        fits = false;
      known[lane] = most == 0;
      if (most != 0 && exact.isPossible(largest[lane] > -least[lane] ? largest[lane] : least[lane])) {
        for (int64_t k = 0; k < rows.columns; ++k)
          row[k] = lanes[k][lane];
        QuantizedGroup numbers;
        known[lane] = exact.find(row, least[lane], largest[lane], numbers);
        scales[lane] = numbers.scale, minima[lane] = numbers.minimum;
      }
      needsSearch |= !known[lane];
    }
    if (needsSearch) {
      LaneGroups best;
      functions().search(rows, format, best);
      float bestScales[kLanes], bestMinima[kLanes];
      std::memcpy(bestScales, &best.scale, sizeof(bestScales));
      std::memcpy(bestMinima, &best.minimum, sizeof(bestMinima));
      for (int64_t lane = 0; lane < kLanes; ++lane)
        if (!known[lane])
          scales[lane] = bestScales[lane], minima[lane] = bestMinima[lane];
    }
    return fits;
  }

  static const LaneFunctions &functions() {
    static const LaneFunctions chosen = ATTUNE_CHOOSE_VERSION(k);
    return chosen;
  }

private:
  WeightFormat format;
  ExactScales exact;
  float highest;
  std::vector<Floats> lanes; // aligned, unlike memory of a SmallVector
  llvm::SmallVector<float, 128> row;
};

bool WeightQuantizer::quantize(PanelWeights group, int64_t width, int64_t groupColumns, uint8_t *out,
                               llvm::ArrayRef<const QuantizedGroup *> given) const {
  Chooser chooser(format, group.columns);
  uint8_t *integers = out + format.headBytes(width), *minima = out + width * format.scaleBytes();
  bool fits = true;
  for (int64_t first = 0; first < width; first += kLanes) {
    LaneRows rows;
    chooser.gather(group, first, rows);
    bool known[kLanes] = {};
    float scales[kLanes] = {}, minimum[kLanes] = {};
    for (int64_t lane = 0; lane < kLanes && first + lane < static_cast<int64_t>(given.size()); ++lane)
      if (const QuantizedGroup *numbers = given[first + lane])
        known[lane] = true, scales[lane] = numbers->scale, minimum[lane] = numbers->minimum;
    fits &= chooser.choose(rows, known, scales, minimum);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      writeNumber(format, scales[lane], first + lane, out);
      if (format.minima)
        writeNumber(format, minimum[lane], first + lane, minima);
    }
    LaneGroups found;
    std::memcpy(&found.scale, scales, sizeof(scales));
    std::memcpy(&found.minimum, minimum, sizeof(minimum));
    found.invert();
    Chooser::functions().write(rows, format, found, groupColumns, width, integers + first * 4);
  }
  return fits;
}

bool WeightQuantizer::choose(PanelWeights group, QuantizedGroup *numbers) const {
  Chooser chooser(format, group.columns);
  bool fits = true;
  for (int64_t first = 0; first < group.rows; first += kLanes) {
    LaneRows rows;
    chooser.gather(group, first, rows);
    bool known[kLanes] = {};
    float scales[kLanes] = {}, minima[kLanes] = {};
    fits &= chooser.choose(rows, known, scales, minima);
    for (int64_t lane = 0; lane < std::min(kLanes, group.rows - first); ++lane)
      numbers[first + lane] = {scales[lane], minima[lane]};
  }
  return fits;
}

float WeightQuantizer::integerOf(float weight, QuantizedGroup group) const {
  return toInteger(weight, group, inverseOf(group.scale), IntegerRange(format));
}
