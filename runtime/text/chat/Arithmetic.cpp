//===- Arithmetic.cpp - Arithmetic of chat templates ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic operators of Python for the types of templates. A rendering fails where Python would compute an
// integer beyond 64 bits.
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cmath>

using namespace attune;
using namespace attune::chat;

static attune_status unsupported(Machine &machine, const char *sign, const Value &a, const Value &b) {
  if (a.isUndefined())
    return machine.undefinedError(a);
  if (b.isUndefined())
    return machine.undefinedError(b);
  return machine.error("unsupported operand types for %s: '%s' and '%s'", sign, typeName(a.tag), typeName(b.tag));
}

static attune_status tooLarge() { return fail(ATTUNE_LIMIT_EXCEEDED, "the template computes an integer of more than 64 bits"); }

/// Sets |result| to the string |a| followed by the string |b|. If one of them is escaped, escapes the other one first,
/// as Python's Markup does.
static attune_status addTexts(Machine &machine, Value a, Value b, Value &result) {
  bool escaped = a.isEscaped() || b.isEscaped();
  if (escaped) {
    ATTUNE_TRY(escape(machine, a, a));
    ATTUNE_TRY(escape(machine, b, b));
  }
  if (static_cast<uint64_t>(a.bytes) + b.bytes > UINT32_MAX / 2)
    return machine.outOfMemory();
  // The left string is often the newest allocation, and is then extended in place. The value |a| keeps its length, so
  // it stays the beginning of |result|.
  if (a.bytes && machine.memory.extend(a.text + a.bytes, b.bytes)) {
    ATTUNE_TRY(machine.charge(b.bytes / 64));
    memcpy(const_cast<char *>(a.text) + a.bytes, b.text, b.bytes);
    result = Value::ofText({a.text, static_cast<size_t>(a.bytes) + b.bytes}, escaped);
    return ATTUNE_OK;
  }
  char *data;
  ATTUNE_TRY(machine.takeText(static_cast<size_t>(a.bytes) + b.bytes, data));
  memcpy(data, a.text, a.bytes);
  memcpy(data + a.bytes, b.text, b.bytes);
  result = Value::ofText({data, static_cast<size_t>(a.bytes) + b.bytes}, escaped);
  return ATTUNE_OK;
}

attune_status chat::add(Machine &machine, const Value &a, const Value &b, Value &result) {
  if (a.isString() && b.isString())
    return addTexts(machine, a, b, result);
  if (a.isInteger() && b.isInteger()) {
    int64_t sum;
    if (__builtin_add_overflow(a.integer, b.integer, &sum))
      return tooLarge();
    result = Value::ofInt(sum);
    return ATTUNE_OK;
  }
  if (a.isNumber() && b.isNumber()) {
    result = Value::ofFloat(a.asDouble() + b.asDouble());
    return ATTUNE_OK;
  }
  if (a.isArray() && a.tag == b.tag) {
    size_t count = static_cast<size_t>(a.array->count) + b.array->count;
    Array *array;
    ATTUNE_TRY(machine.makeArray(count, array));
    for (uint32_t i = 0; i < a.array->count; ++i)
      array->items[i] = a.array->items[i];
    for (uint32_t i = 0; i < b.array->count; ++i)
      array->items[a.array->count + i] = b.array->items[i];
    array->count = static_cast<uint32_t>(count);
    result = Value::ofArray(a.tag, array);
    return ATTUNE_OK;
  }
  return unsupported(machine, "+", a, b);
}

/// Sets |result| to |value|, a string, list or tuple, repeated |times| times; to an empty one if |times| is not
/// positive.
static attune_status repeat(Machine &machine, const Value &value, int64_t times, Value &result) {
  size_t count = times > 0 ? static_cast<size_t>(times) : 0;
  size_t length = value.isString() ? value.bytes : value.array->count;
  if (length && count > (SIZE_MAX / 64) / length)
    return machine.outOfMemory();
  if (value.isString()) {
    char *data;
    ATTUNE_TRY(machine.takeText(length * count, data));
    if (length)
      for (size_t i = 0; i < count; ++i)
        memcpy(data + i * length, value.text, length);
    result = Value::ofText({data, length * count}, value.isEscaped());
    return ATTUNE_OK;
  }
  Array *array;
  ATTUNE_TRY(machine.makeArray(length * count, array));
  for (size_t i = 0; i < length * count; ++i)
    array->items[i] = value.array->items[i % length];
  array->count = static_cast<uint32_t>(length * count);
  result = Value::ofArray(value.tag, array);
  return ATTUNE_OK;
}

static attune_status divisionByZero(Machine &machine) { return machine.error("division by zero"); }

static attune_status integerPower(int64_t base, int64_t exponent, Value &result) {
  int64_t power = 1;
  for (; exponent; exponent >>= 1) {
    if ((exponent & 1) && __builtin_mul_overflow(power, base, &power))
      return tooLarge();
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base))
      return tooLarge();
  }
  result = Value::ofInt(power);
  return ATTUNE_OK;
}

/// Returns Python's a % b of floats, which has the sign of |b|, unlike the result of fmod.
static double floatRemainder(double a, double b) {
  double remainder = std::fmod(a, b);
  if (remainder != 0)
    return (b < 0) != (remainder < 0) ? remainder + b : remainder;
  return std::copysign(0.0, b);
}

static attune_status integerArithmetic(Machine &machine, Operation operation, int64_t a, int64_t b, Value &result) {
  int64_t value;
  switch (operation) {
  case Operation::Subtract:
    if (__builtin_sub_overflow(a, b, &value))
      return tooLarge();
    break;
  case Operation::Multiply:
    if (__builtin_mul_overflow(a, b, &value))
      return tooLarge();
    break;
  case Operation::Divide: {
    constexpr int64_t exact = int64_t(1) << 53;
    if (b == 0)
      return divisionByZero(machine);
    if (a > exact || a < -exact || b > exact || b < -exact)
      return fail(ATTUNE_LIMIT_EXCEEDED, "the template divides an integer of more than 53 bits");
    result = Value::ofFloat(static_cast<double>(a) / static_cast<double>(b));
    return ATTUNE_OK;
  }
  case Operation::FloorDivide:
  case Operation::Remainder: {
    if (b == 0)
      return machine.error("integer division or modulo by zero");
    if (b == -1) {
      if (operation == Operation::FloorDivide && a == INT64_MIN)
        return tooLarge();
      value = operation == Operation::FloorDivide ? -a : 0;
      break;
    }
    int64_t quotient = a / b, remainder = a % b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) {
      --quotient;
      remainder += b;
    }
    value = operation == Operation::FloorDivide ? quotient : remainder;
    break;
  }
  default:
    if (b >= 0)
      return integerPower(a, b, result);
    if (a == 0)
      return machine.error("0.0 cannot be raised to a negative power");
    result = Value::ofFloat(std::pow(static_cast<double>(a), static_cast<double>(b)));
    return ATTUNE_OK;
  }
  result = Value::ofInt(value);
  return ATTUNE_OK;
}

static attune_status floatArithmetic(Machine &machine, Operation operation, double a, double b, Value &result) {
  double value;
  switch (operation) {
  case Operation::Subtract:
    value = a - b;
    break;
  case Operation::Multiply:
    value = a * b;
    break;
  case Operation::Divide:
    if (b == 0)
      return machine.error("float division by zero");
    value = a / b;
    break;
  case Operation::Remainder:
    if (b == 0)
      return machine.error("float modulo");
    value = floatRemainder(a, b);
    break;
  case Operation::FloorDivide: {
    if (b == 0)
      return machine.error("float floor division by zero");
    double remainder = std::fmod(a, b), quotient = (a - remainder) / b;
    if (remainder != 0 && (b < 0) != (remainder < 0))
      quotient -= 1;
    value = quotient != 0 ? std::floor(quotient) : std::copysign(0.0, a / b);
    if (quotient != 0 && quotient - value > 0.5)
      value += 1;
    break;
  }
  default:
    if (a == 0 && b < 0)
      return machine.error("0.0 cannot be raised to a negative power");
    value = std::pow(a, b);
    if (std::isnan(value) && !std::isnan(a) && !std::isnan(b))
      return machine.error("a negative number cannot be raised to a fractional power: complex numbers are not supported");
    if (std::isinf(value) && !std::isinf(a) && !std::isinf(b))
      return machine.error("the result of ** is too large");
  }
  result = Value::ofFloat(value);
  return ATTUNE_OK;
}

attune_status chat::arithmetic(Machine &machine, Operation operation, const Value &a, const Value &b, Value &result) {
  if (a.isInteger() && b.isInteger())
    return integerArithmetic(machine, operation, a.integer, b.integer, result);
  if (a.isNumber() && b.isNumber())
    return floatArithmetic(machine, operation, a.asDouble(), b.asDouble(), result);
  if (operation == Operation::Multiply) {
    if ((a.isString() || a.isArray()) && b.isInteger())
      return repeat(machine, a, b.integer, result);
    if ((b.isString() || b.isArray()) && a.isInteger())
      return repeat(machine, b, a.integer, result);
  }
  // As in Python, formatting accepts an undefined value on the right: %s prints it as an empty text, and only a number
  // format such as %d rejects it.
  if (operation == Operation::Remainder && a.isString())
    return formatPercent(machine, a, b, result);
  const char *sign = operation == Operation::Subtract      ? "-"
                     : operation == Operation::Multiply    ? "*"
                     : operation == Operation::Divide      ? "/"
                     : operation == Operation::FloorDivide ? "//"
                     : operation == Operation::Remainder   ? "%"
                                                           : "**";
  return unsupported(machine, sign, a, b);
}

attune_status chat::negate(Machine &machine, const Value &value, bool minus, Value &result) {
  if (value.isInteger()) {
    if (minus && value.integer == INT64_MIN)
      return tooLarge();
    result = Value::ofInt(minus ? -value.integer : value.integer);
    return ATTUNE_OK;
  }
  if (value.is(Tag::Float)) {
    result = Value::ofFloat(minus ? -value.number : value.number);
    return ATTUNE_OK;
  }
  if (value.isUndefined())
    return machine.undefinedError(value);
  return machine.error("bad operand type for unary %c: '%s'", minus ? '-' : '+', typeName(value.tag));
}
