//===- Filters.cpp - Filters and tests by name ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Filters.h"

#include "Unicode.h"

#include <initializer_list>

using namespace attune;
using namespace attune::chat;

template <size_t N>
static bool findName(const char *const (&names)[N], Text name, uint16_t &number) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i]) {
      number = static_cast<uint16_t>(i);
      return true;
    }
  return false;
}

bool chat::findFilter(Text name, uint16_t &filter) { return findName(filterNames, name, filter); }
bool chat::findTest(Text name, uint16_t &test) { return findName(testNames, name, test); }

attune_status chat::bind(Machine &machine, const char *what, const char *names, const Arguments &arguments, Value *values) {
  bool positional = names[0] == '/';
  names += positional;
  uint32_t count = 0, used = 0;
  for (const char *cursor = names; *cursor; ++count) {
    const char *end = strchr(cursor, ' ');
    size_t bytes = end ? static_cast<size_t>(end - cursor) : strlen(cursor);
    Value value = count < arguments.count ? arguments.values[count] : Value();
    for (uint32_t i = 0; i < arguments.numKeywords && !positional; ++i) {
      if (arguments.keywords[i].str() != Text(cursor, bytes))
        continue;
      if (!value.isMissing())
        return machine.error("%s: the argument '%.*s' is given twice", what, static_cast<int>(bytes), cursor);
      value = arguments.keywordValues[i];
      ++used;
    }
    values[count] = value;
    cursor = end ? end + 1 : cursor + bytes;
  }
  if (arguments.count > count)
    return machine.error("%s: expected at most %u arguments, got %u", what, count, arguments.count);
  if (used != arguments.numKeywords)
    return machine.error("%s: unexpected keyword argument (expected %s)", what, positional || !*names ? "none" : names);
  return ATTUNE_OK;
}

attune_status chat::wantInteger(Machine &machine, const Value &value, const char *what, int64_t &result) {
  if (value.isUndefined())
    return machine.undefinedError(value);
  if (!value.isInteger())
    return machine.error("%s: expected an integer, got %s", what, typeName(value.tag));
  result = value.integer;
  return ATTUNE_OK;
}

attune_status chat::wantText(Machine &machine, const Value &value, const char *what, Text &result) {
  if (value.isUndefined())
    return machine.undefinedError(value);
  if (!value.isString())
    return machine.error("%s: expected a string, got %s", what, typeName(value.tag));
  result = value.str();
  return ATTUNE_OK;
}

attune_status chat::sortBy(Machine &machine, Value *items, Value *keys, uint32_t count, bool reverse) {
  struct Entry {
    Value item, key;
  };
  Entry *from, *to;
  ATTUNE_TRY(machine.take(count, from));
  ATTUNE_TRY(machine.take(count, to));
  for (uint32_t i = 0; i < count; ++i)
    from[i] = {items[i], keys[i]};
  // Merges sorted runs of |width| entries from |from| to |to|; of entries with equal keys the left one goes first.
  for (uint64_t width = 1; width < count; width *= 2) {
    for (uint64_t begin = 0; begin < count; begin += 2 * width) {
      uint64_t middle = begin + width < count ? begin + width : count, end = begin + 2 * width < count ? begin + 2 * width : count;
      uint64_t left = begin, right = middle;
      for (uint64_t out = begin; out < end; ++out) {
        bool takeRight = left == middle;
        if (left < middle && right < end)
          ATTUNE_TRY(reverse ? less(machine, from[left].key, from[right].key, false, takeRight)
                             : less(machine, from[right].key, from[left].key, false, takeRight));
        to[out] = from[takeRight ? right++ : left++];
      }
    }
    Entry *swap = from;
    from = to;
    to = swap;
  }
  for (uint32_t i = 0; i < count; ++i) {
    items[i] = from[i].item;
    keys[i] = from[i].key;
  }
  return ATTUNE_OK;
}

attune_status chat::applyFilter(Machine &machine, uint16_t filter, const Value &subject, const Arguments &arguments, Value &result) {
  bool known = false;
  for (auto apply : {applyTextFilter, applySequenceFilter, applyNumberFilter}) {
    if (known)
      break;
    known = true;
    ATTUNE_TRY(apply(machine, filter, subject, arguments, result, known));
  }
  return known ? ATTUNE_OK : fail(ATTUNE_CORRUPT, "the chat template is damaged: filter %u", filter);
}

/// Returns str.isupper of |text| if |upper|, else str.islower: true if |text| has a character of this case and none of
/// another case.
static bool hasOnlyCase(Text text, bool upper) {
  bool any = false;
  for (size_t i = 0; i < text.bytes;) {
    uint32_t character = decodeUtf8(text, i);
    if (upper ? isLowerCase(character) : isUpperCase(character))
      return false;
    if (isTitleCase(character))
      return false;
    any |= upper ? isUpperCase(character) : isLowerCase(character);
  }
  return any;
}

bool chat::isLowerText(Text text) { return hasOnlyCase(text, false); }
bool chat::isUpperText(Text text) { return hasOnlyCase(text, true); }

/// Returns the result of |test| if it takes no argument and asks for the type of |value|, or for one of the values True
/// and False. For other tests sets |known| to false and returns false.
static bool applyKindTest(TestName test, const Value &value, bool &known) {
  switch (test) {
  case TestName::Boolean:
    return value.is(Tag::Bool);
  case TestName::Callable:
    return value.is(Tag::Macro) || value.is(Tag::Method) || value.is(Tag::Function) || value.is(Tag::Joiner) || value.is(Tag::Loop) ||
           value.isUndefined();
  case TestName::Defined:
    return !value.isUndefined();
  case TestName::Undefined:
    return value.isUndefined();
  case TestName::Escaped:
    return value.isEscaped();
  case TestName::False:
    return value.is(Tag::Bool) && !value.integer;
  case TestName::True:
    return value.is(Tag::Bool) && value.integer;
  case TestName::Float:
    return value.is(Tag::Float);
  case TestName::Integer:
    return value.is(Tag::Int);
  case TestName::Iterable:
    return isIterable(value) || value.is(Tag::Loop);
  case TestName::Mapping:
    return value.is(Tag::Dict);
  case TestName::None:
    return value.is(Tag::None);
  case TestName::Number:
    return value.isNumber();
  case TestName::Sequence:
    return lengthOf(value) >= 0 && !value.is(Tag::View);
  case TestName::String:
    return value.isString();
  default:
    known = false;
    return false;
  }
}

/// Sets |result| to true if the remainder of |value| divided by |divisor| is |rest|, else to false.
static attune_status leaves(Machine &machine, const Value &value, const Value &divisor, int64_t rest, bool &result) {
  Value remainder;
  ATTUNE_TRY(arithmetic(machine, Operation::Remainder, value, divisor, remainder));
  return equals(machine, remainder, Value::ofInt(rest), result);
}

static bool isSame(const Value &a, const Value &b) {
  if (a.tag != b.tag)
    return false;
  switch (a.tag) {
  case Tag::None:
    return true;
  case Tag::Bool:
  case Tag::Int:
    return a.integer == b.integer;
  case Tag::String:
    return a.text == b.text && a.bytes == b.bytes;
  case Tag::Undefined:
    return false;
  default:
    return a.table == b.table && a.flag == b.flag;
  }
}

attune_status chat::applyTest(Machine &machine, uint16_t test, const Value &subject, const Arguments &arguments, bool &result) {
  if (test >= sizeof(testNames) / sizeof(testNames[0]))
    return fail(ATTUNE_CORRUPT, "the chat template is damaged: test %u", test);
  auto name = static_cast<TestName>(test);
  Value other;
  bool known = true;
  result = applyKindTest(name, subject, known);
  if (known)
    return bind(machine, testNames[test], "", arguments, &other);
  bool unary = name == TestName::Odd || name == TestName::Even || name == TestName::Lower || name == TestName::Upper;
  const char *parameters = unary                           ? ""
                           : name == TestName::DivisibleBy ? "num"
                           : name == TestName::In          ? "seq"
                           : name == TestName::SameAs      ? "other"
                                                           : "/other";
  ATTUNE_TRY(bind(machine, testNames[test], parameters, arguments, &other));
  if (!unary && other.isMissing())
    return machine.error("%s: expected an argument", testNames[test]);
  switch (name) {
  case TestName::Lower:
  case TestName::Upper: {
    Value text;
    ATTUNE_TRY(toText(machine, subject, text));
    result = hasOnlyCase(text.str(), name == TestName::Upper);
    return ATTUNE_OK;
  }
  case TestName::Odd:
  case TestName::Even:
    return leaves(machine, subject, Value::ofInt(2), name == TestName::Odd, result);
  case TestName::DivisibleBy:
    return leaves(machine, subject, other, 0, result);
  case TestName::In:
    return contains(machine, subject, other, result);
  case TestName::SameAs:
    result = isSame(subject, other);
    return ATTUNE_OK;
  case TestName::Eq:
  case TestName::Eq1:
  case TestName::EqualTo:
    return compare(machine, ATTUNE_CHAT_EQ, subject, other, result);
  case TestName::Ne:
  case TestName::Ne1:
    return compare(machine, ATTUNE_CHAT_NE, subject, other, result);
  case TestName::Lt:
  case TestName::Lt1:
  case TestName::LessThan:
    return compare(machine, ATTUNE_CHAT_LT, subject, other, result);
  case TestName::Le:
  case TestName::Le1:
    return compare(machine, ATTUNE_CHAT_LE, subject, other, result);
  case TestName::Gt:
  case TestName::Gt1:
  case TestName::GreaterThan:
    return compare(machine, ATTUNE_CHAT_GT, subject, other, result);
  default:
    return compare(machine, ATTUNE_CHAT_GE, subject, other, result);
  }
}
