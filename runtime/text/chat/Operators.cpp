//===- Operators.cpp - Truth, comparison and lookup of values -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators of Python that compare and find values of templates.
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cmath>

using namespace attune;
using namespace attune::chat;

/// The largest number of values that may enclose a value that is compared or hashed.
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

/// Compares |integer| with |number| exactly. Returns -1, 0 or 1 if |integer| is less than, equal to or greater than
/// |number|; 2 if |number| is NaN.
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
