//===- NumberFilters.cpp - Filters of numbers -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Filters.h"

#include <cmath>

using namespace attune;
using namespace attune::chat;

static attune_status tooLarge() { return fail(ATTUNE_LIMIT_EXCEEDED, "the template makes an integer of more than 64 bits"); }

static attune_status fromFloat(double number, Value &result) {
  double whole = std::trunc(number);
  if (!(whole >= -9223372036854775808.0 && whole < 9223372036854775808.0))
    return tooLarge();
  result = Value::ofInt(static_cast<int64_t>(whole));
  return ATTUNE_OK;
}

static attune_status toInt(Machine &machine, const Value &subject, const Value *given, Value &result) {
  result = given[0].isMissing() ? Value::ofInt(0) : given[0];
  int64_t base = 10, number;
  if (!given[1].isMissing())
    ATTUNE_TRY(wantInteger(machine, given[1], "int", base));
  if (subject.isUndefined())
    return machine.undefinedError(subject);
  if (subject.isInteger()) {
    result = Value::ofInt(subject.integer);
    return ATTUNE_OK;
  }
  if (subject.is(Tag::Float)) {
    if (std::isnan(subject.number))
      return ATTUNE_OK;
    return std::isinf(subject.number) ? machine.error("cannot convert float infinity to integer") : fromFloat(subject.number, result);
  }
  if (!subject.isString())
    return ATTUNE_OK;
  if (subject.bytes > 1000)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the template reads a number of more than 1000 characters");
  bool tooBig;
  if ((base == 0 || (base >= 2 && base <= 36)) && parseInt(subject.str(), base, number, tooBig)) {
    if (tooBig)
      return tooLarge();
    result = Value::ofInt(number);
    return ATTUNE_OK;
  }
  double value;
  if (parseFloat(subject.str(), value) && std::isfinite(value))
    return fromFloat(value, result);
  return ATTUNE_OK;
}

static attune_status toFloat(Machine &machine, const Value &subject, const Value *given, Value &result) {
  result = given[0].isMissing() ? Value::ofFloat(0) : given[0];
  if (subject.isUndefined())
    return machine.undefinedError(subject);
  double number;
  if (subject.isNumber()) {
    result = Value::ofFloat(subject.asDouble());
  } else if (subject.isString()) {
    if (subject.bytes > 1000)
      return fail(ATTUNE_LIMIT_EXCEEDED, "the template reads a number of more than 1000 characters");
    if (parseFloat(subject.str(), number))
      result = Value::ofFloat(number);
  }
  return ATTUNE_OK;
}

/// Sets |result| to |number| rounded to a multiple of 10 ** -digits, half to even; unchanged if digits >= 0.
static attune_status roundInteger(Machine &machine, int64_t number, int64_t digits, Value &result) {
  result = Value::ofInt(number);
  if (digits >= 0)
    return ATTUNE_OK;
  if (digits < -18) {
    if (digits == -19 && (number > 5000000000000000000 || number < -5000000000000000000))
      return tooLarge();
    result = Value::ofInt(0);
    return ATTUNE_OK;
  }
  int64_t unit = 1;
  for (int64_t i = 0; i > digits; --i)
    unit *= 10;
  Value floor, rest;
  ATTUNE_TRY(arithmetic(machine, Operation::FloorDivide, result, Value::ofInt(unit), floor));
  ATTUNE_TRY(arithmetic(machine, Operation::Remainder, result, Value::ofInt(unit), rest));
  int64_t quotient = floor.integer, half = unit / 2;
  quotient += rest.integer > half || (rest.integer == half && (quotient & 1));
  return arithmetic(machine, Operation::Multiply, Value::ofInt(quotient), Value::ofInt(unit), result);
}

static attune_status round(Machine &machine, const Value &subject, const Value *given, Value &result) {
  int64_t digits = 0;
  Text method = "common";
  if (!given[0].isMissing())
    ATTUNE_TRY(wantInteger(machine, given[0], "round", digits));
  if (!given[1].isMissing())
    ATTUNE_TRY(wantText(machine, given[1], "round", method));
  bool common = method == "common", up = method == "ceil";
  if (!common && !up && method != "floor")
    return machine.error("method must be common, ceil or floor");
  if (!subject.isNumber())
    return subject.isUndefined() ? machine.undefinedError(subject)
                                 : machine.error("round: expected a number, got %s", typeName(subject.tag));
  if (common && subject.isInteger())
    return roundInteger(machine, subject.integer, digits, result);
  if (common) {
    double rounded = roundTo(subject.number, digits);
    if (std::isinf(rounded) && !std::isinf(subject.number))
      return machine.error("rounded value too large to represent");
    result = Value::ofFloat(rounded);
    return ATTUNE_OK;
  }
  // Jinja2 computes func(value * 10 ** digits) / 10 ** digits, where func is ceil or floor.
  Value power, scaled;
  ATTUNE_TRY(arithmetic(machine, Operation::Power, Value::ofInt(10), Value::ofInt(digits), power));
  ATTUNE_TRY(arithmetic(machine, Operation::Multiply, subject, power, scaled));
  if (scaled.is(Tag::Float)) {
    if (!std::isfinite(scaled.number))
      return machine.error("round: cannot convert %s to an integer", std::isnan(scaled.number) ? "nan" : "infinity");
    ATTUNE_TRY(fromFloat(up ? std::ceil(scaled.number) : std::floor(scaled.number), scaled));
  }
  return arithmetic(machine, Operation::Divide, scaled, power, result);
}

attune_status chat::applyNumberFilter(Machine &machine, uint16_t filter, const Value &subject, const Arguments &arguments, Value &result,
                                      bool &known) {
  Value given[2];
  switch (static_cast<FilterName>(filter)) {
  case FilterName::Abs:
    ATTUNE_TRY(bind(machine, "abs", "", arguments, given));
    if (!subject.isNumber())
      return machine.error("bad operand type for abs(): '%s'", typeName(subject.tag));
    if (subject.is(Tag::Float)) {
      result = Value::ofFloat(std::fabs(subject.number));
      return ATTUNE_OK;
    }
    return negate(machine, subject, subject.integer < 0, result);
  case FilterName::Int:
    ATTUNE_TRY(bind(machine, "int", "default base", arguments, given));
    return toInt(machine, subject, given, result);
  case FilterName::Float:
    ATTUNE_TRY(bind(machine, "float", "default", arguments, given));
    return toFloat(machine, subject, given, result);
  case FilterName::Round:
    ATTUNE_TRY(bind(machine, "round", "precision method", arguments, given));
    return round(machine, subject, given, result);
  default:
    known = false;
    return ATTUNE_OK;
  }
}
