//===- Expression.cpp - Halide expressions of terms -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Expression.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace attune;
using Halide::Expr;

/// Returns the hyperbolic tangent of |x| by exponentials, since Halide's own tanh is a call of libm. Near zero the
/// difference 1 - exp(-2 abs(x)) would lose digits, so a polynomial is used there.
static Expr tanhOf(const Expr &x) {
  Expr decay = Halide::exp(-2.0f * Halide::abs(x)), far = (1.0f - decay) / (1.0f + decay), square = x * x;
  Expr near = x * (1.0f + square * (-1.0f / 3 + square * (2.0f / 15 - square * (17.0f / 315))));
  return Halide::select(Halide::abs(x) < 0.15f, near, x < 0.0f, -far, far);
}

/// Returns 0 if |x| is below -87, else Halide's exp of the smaller of |x| and 88. Halide's exp has no case for
/// infinities.
static Expr expOf(const Expr &x) { return Halide::select(x < -87.0f, 0.0f, Halide::exp(Halide::clamp(x, -87.0f, 88.0f))); }

/// Returns |x| with minus infinity replaced by the lowest finite float. The expression must be strict_float: other
/// expressions are compiled as if there were no infinities, which would remove the maximum.
static Expr finiteOf(const Expr &x) { return Halide::strict_float(Halide::max(x, std::numeric_limits<float>::lowest())); }

/// A word of the description language that computes a value: its number of operands, and the function that builds the
/// value's expression.
struct Operation {
  size_t operands;
  std::function<Expr(const std::vector<Expr> &)> make;
};

static const std::map<std::string, Operation> &operations() {
  using Es = const std::vector<Expr> &;
  static const std::map<std::string, Operation> table = {
      {"add", {2, [](Es x) { return x[0] + x[1]; }}},
      {"sub", {2, [](Es x) { return x[0] - x[1]; }}},
      {"mul", {2, [](Es x) { return x[0] * x[1]; }}},
      {"div", {2, [](Es x) { return x[0] / x[1]; }}},
      {"mod", {2, [](Es x) { return x[0] % x[1]; }}},
      {"max", {2, [](Es x) { return Halide::max(x[0], x[1]); }}},
      {"min", {2, [](Es x) { return Halide::min(x[0], x[1]); }}},
      {"neg", {1, [](Es x) { return -x[0]; }}},
      {"fma", {3, [](Es x) { return x[0] * x[1] + x[2]; }}},
      {"finite", {1, [](Es x) { return finiteOf(x[0]); }}},
      {"sqrt", {1, [](Es x) { return Halide::sqrt(x[0]); }}},
      {"abs", {1, [](Es x) { return Halide::abs(x[0]); }}},
      {"exp", {1, [](Es x) { return expOf(x[0]); }}},
      {"exp2", {1, [](Es x) { return expOf(x[0] * 0.69314718f); }}},
      {"log", {1, [](Es x) { return Halide::log(x[0]); }}},
      {"erf", {1, [](Es x) { return Halide::erf(x[0]); }}},
      {"tanh", {1, [](Es x) { return tanhOf(x[0]); }}},
      {"select", {3, [](Es x) { return Halide::select(x[0], x[1], x[2]); }}},
      {"eq", {2, [](Es x) { return x[0] == x[1]; }}},
      {"ne", {2, [](Es x) { return x[0] != x[1]; }}},
      {"lt", {2, [](Es x) { return x[0] < x[1]; }}},
      {"le", {2, [](Es x) { return x[0] <= x[1]; }}},
      {"gt", {2, [](Es x) { return x[0] > x[1]; }}},
      {"ge", {2, [](Es x) { return x[0] >= x[1]; }}},
      {"and", {2, [](Es x) { return x[0] && x[1]; }}},
      {"or", {2, [](Es x) { return x[0] || x[1]; }}},
      {"xor", {2, [](Es x) { return x[0] != x[1]; }}},
      {"not", {1, [](Es x) { return !x[0]; }}},
      {"int", {1, [](Es x) { return Halide::cast<int32_t>(x[0]); }}},
      {"float", {1, [](Es x) { return Halide::cast<float>(x[0]); }}},
  };
  return table;
}

Expr ExpressionBuilder::word(const std::string &text) {
  if (text == "acc" && accumulator.defined())
    return accumulator;
  if (text == "true" || text == "false")
    return Halide::Internal::make_bool(text == "true");
  if (auto it = scope.scalars.find(text); it != scope.scalars.end())
    return it->second;
  if (text.size() > 1 && text[0] == 'd') {
    size_t index = std::strtoul(text.c_str() + 1, nullptr, 10);
    if (text == "d" + std::to_string(index) && index < indices.size())
      return indices[index];
  }
  if (text.find_first_of(".einfa") == std::string::npos) {
    if (std::optional<int32_t> value = parseInteger(text))
      return Expr(*value);
  } else {
    char *end = nullptr;
    float value = std::strtof(text.c_str(), &end);
    constexpr float largest = std::numeric_limits<float>::max();
    if (!*end)
      return Expr(std::clamp(value, -largest, largest)); // no infinities: see finiteOf
  }
  throw DescriptionError("expected a number, a loop or a scalar, got '" + text + "'");
}

/// Returns true if |term| has a load, of an input or of a stage.
static bool loads(const Term &term) { return term.word == "load" || std::any_of(term.operands.begin(), term.operands.end(), loads); }

Expr ExpressionBuilder::load(const Term &term) {
  const std::string &name = term.operands[0].word;
  if (auto it = scope.values.find(name); it != scope.values.end())
    return it->second;
  std::vector<Expr> at;
  for (size_t i = term.operands.size(); i-- > 1;) { // innermost first
    at.push_back(Halide::cast<int32_t>(build(term.operands[i])));
    if (loads(term.operands[i])) // Halide needs an upper bound of indices that are read from a buffer
      at.back() = Halide::unsafe_promise_clamped(at.back(), 0, 1 << 30);
  }
  auto check = [&](size_t dimensions) {
    if (dimensions != at.size())
      throw DescriptionError("expected " + std::to_string(dimensions) + " indices for '" + name + "', got " + std::to_string(at.size()));
  };
  if (auto it = scope.inputs.find(name); it != scope.inputs.end()) {
    check(it->second.dimensions());
    Expr value = it->second(at);
    return value.type() == Halide::UInt(8) ? value != Halide::cast<uint8_t>(0) : value;
  }
  const auto &stage = scope.stages.at(name);
  check(stage.dimensions());
  return stage(at);
}

Expr ExpressionBuilder::build(const Term &term) {
  if (!term.isList)
    return word(term.word);
  if (term.word == "load")
    return load(term);
  auto it = operations().find(term.word);
  if (it == operations().end())
    throw DescriptionError("unknown operation '" + term.word + "'");
  if (it->second.operands != term.operands.size())
    throw DescriptionError("expected " + std::to_string(it->second.operands) + " operands of '" + term.word + "', got " +
                           std::to_string(term.operands.size()));
  std::vector<Expr> operands;
  for (const Term &operand : term.operands)
    operands.push_back(build(operand));
  return it->second.make(operands);
}
