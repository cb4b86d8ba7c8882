//===- Algorithm.cpp - Halide functions of the stages of a kernel ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Algorithm.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace attune;
using Halide::Expr;

namespace {

/// What the words of one kernel mean.
struct Scope {
  std::map<std::string, Expr> scalars;
  std::map<std::string, Halide::ImageParam> inputs;
  std::map<std::string, Halide::Func> stages;
};

/// Makes expressions of the terms of one stage.
class ExpressionBuilder {
public:
  ExpressionBuilder(const Scope &scope, std::vector<Expr> indices, Expr accumulator)
      : scope(scope), indices(std::move(indices)), accumulator(std::move(accumulator)) {}

  Expr build(const Term &term);
  /// Names of the stages that were read.
  std::vector<std::string> reads;

private:
  Expr word(const std::string &text);
  Expr load(const Term &term);

  const Scope &scope;
  std::vector<Expr> indices;
  Expr accumulator;
};

} // namespace

static Halide::Type typeOf(const std::string &name) {
  if (name == "f32")
    return Halide::Float(32);
  return name == "i64" ? Halide::Int(64) : name == "i32" ? Halide::Int(32) : Halide::UInt(8);
}

/// Halide's own tanh is a call of libm. Near zero the difference of exponentials would lose digits.
static Expr tanhOf(const Expr &x) {
  Expr decay = Halide::exp(-2.0f * Halide::abs(x)), far = (1.0f - decay) / (1.0f + decay), square = x * x;
  Expr near = x * (1.0f + square * (-1.0f / 3 + square * (2.0f / 15 - square * (17.0f / 315))));
  return Halide::select(Halide::abs(x) < 0.15f, near, x < 0.0f, -far, far);
}

/// Halide's exp, with arguments beyond those it is exact for kept away from it: it takes infinities for numbers.
static Expr expOf(const Expr &x) { return Halide::select(x < -87.0f, 0.0f, Halide::exp(Halide::clamp(x, -87.0f, 88.0f))); }

/// An operation on as many operands as it wants.
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
  char *end = nullptr;
  if (text.find_first_of(".einfa") == std::string::npos) {
    int64_t value = std::strtoll(text.c_str(), &end, 10);
    if (!*end && !text.empty())
      return Expr(static_cast<int32_t>(value));
  } else {
    float value = std::strtof(text.c_str(), &end);
    if (!*end)
      return Expr(value);
  }
  throw DescriptionError("expected a number, a loop or a scalar, got '" + text + "'");
}

/// Whether |term| reads a buffer.
static bool loads(const Term &term) { return term.word == "load" || std::any_of(term.operands.begin(), term.operands.end(), loads); }

Expr ExpressionBuilder::load(const Term &term) {
  if (term.operands.empty() || term.operands[0].isList)
    throw DescriptionError("expected a name in '(load'");
  const std::string &name = term.operands[0].word;
  std::vector<Expr> at;
  for (size_t i = term.operands.size(); i-- > 1;) { // innermost first
    at.push_back(Halide::cast<int32_t>(build(term.operands[i])));
    if (loads(term.operands[i])) // Halide wants to know how far a buffer is read
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
  auto it = scope.stages.find(name);
  if (it == scope.stages.end())
    throw DescriptionError("expected an input or an earlier stage, got '" + name + "'");
  check(it->second.dimensions());
  reads.push_back(name);
  return it->second(at);
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

/// The functions of |stage|; adds what |indices| it has.
static void define(StageFunc &result, const Scope &scope) {
  const Stage &stage = *result.stage;
  std::vector<Expr> indices(stage.loops.size());
  Halide::Region ranges;
  std::vector<size_t> reduced;
  for (size_t i = stage.loops.size(); i-- > 0;) { // innermost first
    Expr extent = ExpressionBuilder(scope, {}, Expr()).build(stage.loops[i].extent);
    if (stage.loops[i].isReduction) {
      ranges.emplace_back(0, extent);
      reduced.push_back(i);
      continue;
    }
    result.vars.emplace_back("d" + std::to_string(i));
    result.extents.push_back(extent);
    indices[i] = result.vars.back();
  }
  result.func = Halide::Func(stage.name);
  auto build = [&](const Term &term, Expr accumulator) {
    ExpressionBuilder builder(scope, indices, std::move(accumulator));
    Expr value = builder.build(term);
    result.reads.insert(result.reads.end(), builder.reads.begin(), builder.reads.end());
    return value;
  };
  if (!stage.isReduction()) {
    result.func(result.vars) = build(stage.body, Expr());
    return;
  }
  result.func(result.vars) = build(*stage.init, Expr());
  result.reduction = Halide::RDom(ranges, stage.name + "_r");
  for (size_t i = 0; i < reduced.size(); ++i)
    indices[reduced[i]] = result.reduction[i];
  std::vector<Expr> at(result.vars.begin(), result.vars.end());
  result.func(result.vars) = build(stage.body, result.func(at));
}

Algorithm::Algorithm(const Description &description) : description(description) {
  Scope scope;
  std::vector<Halide::Argument> strides;
  auto strideOf = [&](const Buffer &buffer, size_t dim) -> Expr {
    if (buffer.strides[dim])
      return Expr(static_cast<int32_t>(*buffer.strides[dim]));
    Halide::Param<int32_t> stride(buffer.name + "_stride_" + std::to_string(dim));
    strides.push_back(stride);
    return stride;
  };
  for (const Buffer &buffer : description.inputs) {
    int rank = static_cast<int>(buffer.strides.size());
    Halide::ImageParam input(typeOf(buffer.type), rank, buffer.name);
    for (int dim = 0; dim < rank; ++dim)
      input.dim(rank - 1 - dim).set_min(0).set_stride(strideOf(buffer, dim));
    scope.inputs.emplace(buffer.name, input);
    arguments.push_back(input);
  }
  for (const Scalar &scalar : description.scalars) {
    Halide::Param<int32_t> param(scalar.name);
    arguments.push_back(param);
    Expr value = param;
    if (scalar.isExtent)
      value = Halide::unsafe_promise_clamped(value, 0, scalar.most ? Expr(static_cast<int32_t>(*scalar.most)) : Expr(1 << 30));
    scope.scalars.emplace(scalar.name, value);
  }
  stages.resize(description.stages.size());
  for (size_t i = 0; i < stages.size(); ++i) {
    stages[i].stage = &description.stages[i];
    define(stages[i], scope);
    if (!scope.stages.emplace(stages[i].stage->name, stages[i].func).second)
      throw DescriptionError("stage '" + stages[i].stage->name + "' is there twice");
  }
  for (const Output &output : description.outputs) {
    StageFunc &stage = at(output.stage);
    if (stage.vars.size() != output.buffer.strides.size())
      throw DescriptionError("expected output '" + output.buffer.name + "' of rank " + std::to_string(stage.vars.size()) + ", got " +
                             std::to_string(output.buffer.strides.size()));
    if (stage.func.value().type() != typeOf(output.buffer.type))
      throw DescriptionError("expected output '" + output.buffer.name + "' to have the type of stage '" + output.stage + "'");
    stage.isOutput = true;
    int rank = static_cast<int>(stage.vars.size());
    for (int dim = 0; dim < rank; ++dim)
      stage.func.output_buffer().dim(rank - 1 - dim).set_bounds(0, stage.extents[rank - 1 - dim]).set_stride(strideOf(output.buffer, dim));
    outputs.push_back(stage.func);
  }
  for (StageFunc &stage : stages)
    for (size_t dim = 0; dim < stage.vars.size(); ++dim)
      if (stage.isOutput)
        stage.func.bound(stage.vars[dim], 0, stage.extents[dim]);
  arguments.insert(arguments.end(), strides.begin(), strides.end());
}

StageFunc &Algorithm::at(const std::string &name) {
  for (StageFunc &stage : stages)
    if (stage.stage->name == name)
      return stage;
  throw DescriptionError("expected a stage, got '" + name + "'");
}

/// Whether |term| multiplies anything.
static bool multiplies(const Term &term) {
  if (term.word == "mul")
    return true;
  for (const Term &operand : term.operands)
    if (multiplies(operand))
      return true;
  return false;
}

bool attune::isContraction(const Stage &stage) {
  const Term &body = stage.body;
  if (!stage.isReduction() || stage.parallelLoops() < 2)
    return false;
  if (body.word == "fma")
    return body.operands.size() == 3 && body.operands[2].word == "acc";
  return body.word == "add" && body.operands.size() == 2 && (body.operands[0].word == "acc" || body.operands[1].word == "acc") &&
         multiplies(body);
}
