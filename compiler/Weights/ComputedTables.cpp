//===- ComputedTables.cpp - Weights that follow from a formula ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Computes the tables that `#xfmr.computed` names; the attribute's description has their formulas. Every element is
// computed in double and rounded to f32; ALiBi slopes with the parameter rounding = "bf16" are then rounded to bf16.
//
//===----------------------------------------------------------------------===//

#include "compiler/Weights/SourceReader.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attune;

namespace {

/// The parameters of one table. If a parameter is missing or wrong, the function that reads it records the error in
/// |status|, unless an earlier one is there, and returns a substitute.
class Params {
public:
  Params(StringRef kind, DictionaryAttr attrs) : kind(kind), attrs(attrs) {}

  double number(StringRef name, std::optional<double> fallback = std::nullopt) {
    if (auto value = attrs.getAs<FloatAttr>(name))
      return value.getValueAsDouble();
    if (!fallback || attrs.contains(name))
      fail("parameter '" + name.str() + "' that is a float");
    return fallback.value_or(1);
  }
  StringRef choice(StringRef name, ArrayRef<StringRef> choices, StringRef fallback = "") {
    auto value = attrs.getAs<StringAttr>(name);
    StringRef text = value ? value.getValue() : fallback;
    if (llvm::is_contained(choices, text))
      return text;
    fail("parameter '" + name.str() + "' to be one of " + llvm::join(choices, ", "));
    return choices.front();
  }
  SmallVector<double> numbers(StringRef name, int64_t count) {
    SmallVector<double> values;
    if (auto list = attrs.getAs<ArrayAttr>(name))
      for (auto value : list.getAsRange<FloatAttr>())
        values.push_back(value.getValueAsDouble());
    if (int64_t(values.size()) != count)
      fail("parameter '" + name.str() + "' that is a list of " + std::to_string(count) + " floats");
    values.resize(count, 1);
    return values;
  }
  void fail(const std::string &expected) {
    if (!status.failed())
      status = Status::error("computed weight '" + kind.str() + "': expected " + expected);
  }

  Status status;

private:
  StringRef kind;
  DictionaryAttr attrs;
};

} // namespace

/// Writes elements |begin| … |begin| + |count| - 1 of a table of |type|, in row-major order, to |out|. |element|
/// returns the element at a row and a column; a vector is one row.
static void fillTable(RankedTensorType type, int64_t begin, int64_t count, float *out,
                      llvm::function_ref<double(int64_t, int64_t)> element) {
  int64_t columns = type.getShape().back();
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(element((begin + i) / columns, (begin + i) % columns));
}

/// Computes elements of a sinusoidal table, `[positions, columns]`: sines and cosines of angles, interleaved or with
/// all sines before all cosines. With the layout `constant`, every row repeats the sine and the cosine of the angle -1.
static Status fillSinusoidal(DictionaryAttr attrs, RankedTensorType type, int64_t begin, int64_t count, float *out) {
  Params params("sinusoidal", attrs);
  StringRef layout = params.choice("layout", {"interleaved", "half", "constant"});
  double base = params.number("base", 10000);
  int64_t columns = type.getShape().back(), sines = (columns + 1) / 2;
  if (type.getRank() != 2)
    params.fail("a matrix");
  if (params.status.failed())
    return params.status;
  fillTable(type, begin, count, out, [&](int64_t position, int64_t column) {
    bool isSine = layout == "half" ? column < sines : column % 2 == 0;
    int64_t pair = layout == "half" ? (isSine ? column : column - sines) : column / 2;
    if (layout == "constant")
      return isSine ? -std::sin(1.0) : std::cos(1.0);
    double angle = static_cast<double>(position) / std::pow(base, 2.0 * static_cast<double>(pair) / static_cast<double>(columns));
    return isSine ? std::sin(angle) : std::cos(angle);
  });
  return {};
}

/// Computes elements of a rotary table, `[positions, columns]`: the cosines of the angles of a position, then their
/// sines. The parameter `scaling` scales frequencies for contexts that are longer than in training.
static Status fillRotary(DictionaryAttr attrs, RankedTensorType type, int64_t begin, int64_t count, float *out) {
  Params params("rotary", attrs);
  StringRef scaling = params.choice("scaling", {"none", "linear", "llama3", "yarn", "longrope"}, "none");
  bool isGiven = attrs.contains("frequencies");
  double base = isGiven ? 1 : params.number("base"), factor = scaling == "none" || scaling == "longrope" ? 1 : params.number("factor");
  double low = 0, high = 1, original = 1, amplitude = params.number("attention_factor", 1);
  if (scaling == "yarn") {
    low = params.number("ramp_begin");
    high = params.number("ramp_end");
  }
  if (scaling == "llama3") {
    low = params.number("low_freq_factor");
    high = params.number("high_freq_factor");
    original = params.number("original_length");
  }
  int64_t columns = type.getShape().back();
  if (type.getRank() != 2 || columns % 2 != 0)
    params.fail("a matrix with an even number of columns");
  SmallVector<double> given, factors;
  if (isGiven)
    given = params.numbers("frequencies", columns / 2);
  if (scaling == "longrope")
    factors = params.numbers("factors", columns / 2);
  if (params.status.failed())
    return params.status;
  auto frequency = [&](int64_t pair) {
    double f = isGiven ? given[pair] : std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(columns));
    if (scaling == "longrope")
      return f / factors[pair];
    if (scaling == "yarn") {
      double interpolate = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
      return f * (1 - interpolate) + f / factor * interpolate;
    }
    if (scaling != "llama3")
      return f / factor;
    double keep = std::clamp((original * f / (2 * M_PI) - low) / (high - low), 0.0, 1.0);
    return (1 - keep) * f / factor + keep * f;
  };
  fillTable(type, begin, count, out, [&](int64_t position, int64_t column) {
    bool isCosine = column < columns / 2;
    double angle = static_cast<double>(position) * frequency(isCosine ? column : column - columns / 2);
    return amplitude * (isCosine ? std::cos(angle) : std::sin(angle));
  });
  return {};
}

/// Computes ALiBi slopes, one for each head. The first n heads, where n is the largest power of two that does not
/// exceed the number of heads, have a geometric sequence; the other heads have the first, third, … slope of the
/// sequence for 2 n heads.
static Status fillAlibiSlopes(DictionaryAttr attrs, RankedTensorType type, int64_t begin, int64_t count, float *out) {
  Params params("alibi_slopes", attrs);
  bool rounds = params.choice("rounding", {"none", "bf16"}, "none") == "bf16";
  if (type.getRank() != 1)
    params.fail("a vector");
  if (params.status.failed())
    return params.status;
  int64_t heads = type.getDimSize(0), most = 1;
  while (2 * most <= heads)
    most *= 2;
  fillTable(type, begin, count, out, [&](int64_t, int64_t head) {
    double n = static_cast<double>(most);
    double slope = head < most ? std::exp2(-8.0 * static_cast<double>(head + 1) / n)
                               : std::exp2(-4.0 * static_cast<double>(2 * (head - most) + 1) / n);
    if (!rounds)
      return slope;
    llvm::APFloat rounded(static_cast<float>(slope));
    bool inexact;
    rounded.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return rounded.convertToDouble();
  });
  return {};
}

ComputedTableFn attune::findComputedTable(StringRef kind) {
  static constexpr std::pair<const char *, ComputedTableFn> tables[] = {
      {"alibi_slopes", fillAlibiSlopes}, {"rotary", fillRotary}, {"sinusoidal", fillSinusoidal}};
  for (auto [name, table] : tables)
    if (kind == name)
      return table;
  return nullptr;
}
