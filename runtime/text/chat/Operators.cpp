//===- Operators.cpp - Operators of chat templates ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators of Python for the types of templates. A rendering fails where Python would compute an integer beyond 64
// bits.
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cmath>

using namespace attune;
using namespace attune::chat;

/// Values inside values are compared and hashed up to this depth.
static constexpr unsigned MaxNesting = 200;

const char *chat::typeName(Tag tag) {
  switch (tag) {
  case Tag::Missing:
    return "missing";
  case Tag::Undefined:
    return "Undefined";
  case Tag::None:
    return "NoneType";
  case Tag::Bool:
    return "bool";
  case Tag::Int:
    return "int";
  case Tag::Float:
    return "float";
  case Tag::String:
    return "str";
  case Tag::List:
    return "list";
  case Tag::Tuple:
    return "tuple";
  case Tag::Dict:
    return "dict";
  case Tag::Namespace:
    return "Namespace";
  case Tag::Range:
    return "range";
  case Tag::View:
    return "dict_view";
  case Tag::Iterator:
    return "generator";
  case Tag::Loop:
    return "LoopContext";
  case Tag::Macro:
    return "Macro";
  case Tag::Method:
    return "method";
  case Tag::Function:
    return "function";
  case Tag::Cycler:
    return "Cycler";
  case Tag::Joiner:
    return "Joiner";
  case Tag::Capture:
    return "capture";
  }
  return "?";
}

bool chat::isTrue(Machine &, const Value &value) {
  switch (value.tag) {
  case Tag::Missing:
  case Tag::Undefined:
  case Tag::None:
    return false;
  case Tag::Bool:
  case Tag::Int:
    return value.integer != 0;
  case Tag::Float:
    return value.number != 0;
  case Tag::String:
    return value.bytes != 0;
  case Tag::List:
  case Tag::Tuple:
    return value.array->count != 0;
  case Tag::Dict:
  case Tag::View:
    return value.table->count != 0;
  case Tag::Range:
    return value.range->count != 0;
  default:
    return true;
  }
}

/// Compares |integer| with |number| exactly. Returns -1, 0 or 1 if it is less, equal or greater; 2 if |number| is NaN.
static int compareMixed(int64_t integer, double number) {
  if (std::isnan(number))
    return 2;
  if (number >= 9223372036854775808.0)
    return -1;
  if (number < -9223372036854775808.0)
    return 1;
  double whole = std::trunc(number);
  auto asInteger = static_cast<int64_t>(whole);
  if (integer != asInteger)
    return integer < asInteger ? -1 : 1;
  return number > whole ? -1 : number < whole ? 1 : 0;
}

/// Compares two numbers. Returns -1, 0 or 1 if |a| is less than, equal to or greater than |b|; 2 if one is NaN.
static int compareNumbers(const Value &a, const Value &b) {
  if (a.isInteger() && b.isInteger())
    return a.integer < b.integer ? -1 : a.integer > b.integer;
  if (a.isInteger())
    return compareMixed(a.integer, b.number);
  if (b.isInteger()) {
    int result = compareMixed(b.integer, a.number);
    return result == 2 ? 2 : -result;
  }
  if (std::isnan(a.number) || std::isnan(b.number))
    return 2;
  return a.number < b.number ? -1 : a.number > b.number;
}

static int compareTexts(Text a, Text b) {
  size_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
  int result = common ? memcmp(a.data, b.data, common) : 0;
  return result ? result : a.bytes < b.bytes ? -1 : a.bytes > b.bytes;
}

attune_status chat::equals(Machine &machine, const Value &a, const Value &b, bool &result, unsigned depth) {
  result = false;
  if (depth > MaxNesting)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the template compares values that are nested more than %u deep", MaxNesting);
  ATTUNE_TRY(machine.charge(1));
  if (a.isNumber() && b.isNumber()) {
    result = compareNumbers(a, b) == 0;
    return ATTUNE_OK;
  }
  if (a.tag != b.tag)
    return ATTUNE_OK;
  switch (a.tag) {
  case Tag::Undefined:
  case Tag::None:
  case Tag::Missing:
    result = true;
    return ATTUNE_OK;
  case Tag::String:
    ATTUNE_TRY(machine.charge(a.bytes / 64));
    result = a.str() == b.str();
    return ATTUNE_OK;
  case Tag::List:
  case Tag::Tuple:
    if (a.array->count != b.array->count)
      return ATTUNE_OK;
    for (uint32_t i = 0; i < a.array->count; ++i) {
      ATTUNE_TRY(equals(machine, a.array->items[i], b.array->items[i], result, depth + 1));
      if (!result)
        return ATTUNE_OK;
    }
    result = true;
    return ATTUNE_OK;
  case Tag::Dict:
    if (a.table->count != b.table->count)
      return ATTUNE_OK;
    for (uint32_t i = 0; i < a.table->count; ++i) {
      Pair *pair;
      ATTUNE_TRY(find(machine, *b.table, a.table->pairs[i].key, pair));
      result = false;
      if (!pair)
        return ATTUNE_OK;
      ATTUNE_TRY(equals(machine, a.table->pairs[i].value, pair->value, result, depth + 1));
      if (!result)
        return ATTUNE_OK;
    }
    result = true;
    return ATTUNE_OK;
  case Tag::Range:
    result = a.range->count == b.range->count &&
             (a.range->count == 0 || (a.range->start == b.range->start && (a.range->count == 1 || a.range->step == b.range->step)));
    return ATTUNE_OK;
  case Tag::Function:
    result = a.flag == b.flag;
    return ATTUNE_OK;
  default:
    result = a.table == b.table && a.flag == b.flag;
    return ATTUNE_OK;
  }
}

attune_status chat::less(Machine &machine, const Value &a, const Value &b, bool orEqual, bool &result, unsigned depth) {
  if (depth > MaxNesting)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the template compares values that are nested more than %u deep", MaxNesting);
  ATTUNE_TRY(machine.charge(1));
  if (a.isUndefined())
    return machine.undefinedError(a);
  if (b.isUndefined())
    return machine.undefinedError(b);
  if (a.isNumber() && b.isNumber()) {
    int order = compareNumbers(a, b);
    result = order == -1 || (orEqual && order == 0);
    return ATTUNE_OK;
  }
  if (a.isString() && b.isString()) {
    ATTUNE_TRY(machine.charge((a.bytes < b.bytes ? a.bytes : b.bytes) / 64));
    int order = compareTexts(a.str(), b.str());
    result = order < 0 || (orEqual && order == 0);
    return ATTUNE_OK;
  }
  if (a.isArray() && a.tag == b.tag) {
    for (uint32_t i = 0; i < a.array->count && i < b.array->count; ++i) {
      bool same;
      ATTUNE_TRY(equals(machine, a.array->items[i], b.array->items[i], same, depth + 1));
      if (!same)
        return less(machine, a.array->items[i], b.array->items[i], orEqual, result, depth + 1);
    }
    result = orEqual ? a.array->count <= b.array->count : a.array->count < b.array->count;
    return ATTUNE_OK;
  }
  return machine.error("'%s' and '%s' cannot be ordered", typeName(a.tag), typeName(b.tag));
}

attune_status chat::compare(Machine &machine, uint32_t comparison, const Value &a, const Value &b, bool &result) {
  switch (comparison) {
  case ATTUNE_CHAT_EQ:
    return equals(machine, a, b, result);
  case ATTUNE_CHAT_NE:
    ATTUNE_TRY(equals(machine, a, b, result));
    result = !result;
    return ATTUNE_OK;
  case ATTUNE_CHAT_LT:
    return less(machine, a, b, false, result);
  case ATTUNE_CHAT_LE:
    return less(machine, a, b, true, result);
  case ATTUNE_CHAT_GT:
    return less(machine, b, a, false, result);
  case ATTUNE_CHAT_GE:
    return less(machine, b, a, true, result);
  case ATTUNE_CHAT_IN:
    return contains(machine, a, b, result);
  default:
    ATTUNE_TRY(contains(machine, a, b, result));
    result = !result;
    return ATTUNE_OK;
  }
}

attune_status chat::contains(Machine &machine, const Value &item, const Value &container, bool &result) {
  result = false;
  switch (container.tag) {
  case Tag::String:
    if (!item.isString())
      return machine.error("'in <string>' requires string as left operand, not %s", typeName(item.tag));
    ATTUNE_TRY(machine.charge(container.bytes / 16));
    result = item.bytes == 0 || memmem(container.text, container.bytes, item.text, item.bytes);
    return ATTUNE_OK;
  case Tag::Dict: {
    Pair *pair;
    ATTUNE_TRY(find(machine, *container.table, item, pair));
    result = pair != nullptr;
    return ATTUNE_OK;
  }
  default:
    break;
  }
  if (container.is(Tag::Loop))
    return machine.error("the items of the variable 'loop' are not supported");
  if (!isIterable(container))
    return machine.error("argument of type '%s' is not iterable", typeName(container.tag));
  if (container.is(Tag::View) && container.flag == static_cast<uint8_t>(ViewKind::Keys))
    return contains(machine, item, Value::ofTable(Tag::Dict, container.table), result);
  Iterator *iterator;
  ATTUNE_TRY(iterate(machine, container, iterator));
  for (bool done = false; !result;) {
    Value candidate;
    ATTUNE_TRY(next(machine, *iterator, candidate, done));
    if (done)
      return ATTUNE_OK;
    ATTUNE_TRY(equals(machine, candidate, item, result));
  }
  return ATTUNE_OK;
}

bool chat::isHashable(const Value &key, unsigned depth) {
  if (key.is(Tag::Tuple)) {
    for (uint32_t i = 0; i < key.array->count; ++i)
      if (depth > MaxNesting || !isHashable(key.array->items[i], depth + 1))
        return false;
    return true;
  }
  return !key.is(Tag::List) && !key.is(Tag::Dict) && !(key.is(Tag::View) && key.flag != static_cast<uint8_t>(ViewKind::Values));
}

attune_status chat::find(Machine &machine, const Table &table, const Value &key, Pair *&pair) {
  pair = nullptr;
  if (!isHashable(key))
    return machine.error("unhashable type: '%s'", typeName(key.tag));
  ATTUNE_TRY(machine.charge(table.count / 4));
  if (key.isString()) {
    pair = find(table, key.str());
    return ATTUNE_OK;
  }
  for (uint32_t i = 0; i < table.count; ++i) {
    bool same;
    ATTUNE_TRY(equals(machine, table.pairs[i].key, key, same));
    if (same) {
      pair = &table.pairs[i];
      return ATTUNE_OK;
    }
  }
  return ATTUNE_OK;
}

Pair *chat::find(const Table &table, Text key) {
  for (uint32_t i = 0; i < table.count; ++i)
    if (table.pairs[i].key.isString() && table.pairs[i].key.str() == key)
      return &table.pairs[i];
  return nullptr;
}

static attune_status unsupported(Machine &machine, const char *sign, const Value &a, const Value &b) {
  if (a.isUndefined())
    return machine.undefinedError(a);
  if (b.isUndefined())
    return machine.undefinedError(b);
  return machine.error("unsupported operand types for %s: '%s' and '%s'", sign, typeName(a.tag), typeName(b.tag));
}

static attune_status tooLarge() { return fail(ATTUNE_LIMIT_EXCEEDED, "the template computes an integer of more than 64 bits"); }

/// Joins two strings. An escaped string escapes the other one, as Markup does.
static attune_status addTexts(Machine &machine, Value a, Value b, Value &result) {
  bool escaped = a.isEscaped() || b.isEscaped();
  if (escaped) {
    ATTUNE_TRY(escape(machine, a, a));
    ATTUNE_TRY(escape(machine, b, b));
  }
  if (static_cast<uint64_t>(a.bytes) + b.bytes > UINT32_MAX / 2)
    return machine.outOfMemory();
  // The left string often is the newest one in memory: it is extended in place, and its old value remains a part of it.
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

/// Returns Python's remainder of floats, which has the sign of the divisor.
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
