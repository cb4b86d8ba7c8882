//===- TextFilters.cpp - Filters of text ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Filters.h"
#include "StringOperations.h"
#include "Unicode.h"

using namespace attune;
using namespace attune::chat;

/// Applies a filter that first converts |subject| to text: lower, upper, capitalize, safe, e, escape or string.
static attune_status applySimple(Machine &machine, FilterName filter, const Value &subject, Value &result) {
  Value text;
  ATTUNE_TRY(toText(machine, subject, text));
  switch (filter) {
  case FilterName::Lower:
    return lowerText(machine, text, result);
  case FilterName::Upper:
    return upperText(machine, text, result);
  case FilterName::Capitalize:
    return capitalizeText(machine, text, result);
  case FilterName::Safe:
    result = Value::ofText(text.str(), true);
    return ATTUNE_OK;
  case FilterName::E:
  case FilterName::Escape:
    return escape(machine, text, result);
  default:
    result = text;
    return ATTUNE_OK;
  }
}

/// Implements `title`. Words begin after white space, hyphens and opening brackets.
static attune_status titleWords(Machine &machine, const Value &subject, Value &result) {
  Value text, part;
  ATTUNE_TRY(toText(machine, subject, text));
  auto separates = [](uint32_t c) { return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || isSpace(c); };
  Builder builder(machine);
  Text whole = text.str();
  for (size_t begin = 0; begin < whole.bytes;) {
    size_t end = begin;
    bool separator = separates(decodeUtf8(whole, end));
    size_t first = end;
    for (size_t next = end; end < whole.bytes; end = next)
      if (separates(decodeUtf8(whole, next)) != separator)
        break;
    ATTUNE_TRY(upperText(machine, Value::ofText({whole.data + begin, first - begin}), part));
    ATTUNE_TRY(builder.add(part.str()));
    ATTUNE_TRY(lowerText(machine, Value::ofText({whole.data + first, end - first}), part));
    ATTUNE_TRY(builder.add(part.str()));
    begin = end;
  }
  result = builder.value();
  return ATTUNE_OK;
}

static attune_status indent(Machine &machine, const Value &subject, const Value *given, Value &result) {
  if (!subject.isString())
    return subject.isUndefined() ? machine.undefinedError(subject)
                                 : machine.error("indent: expected a string, got %s", typeName(subject.tag));
  Value indention = Value::ofText("    ");
  if (given[0].isString()) {
    indention = given[0];
  } else if (!given[0].isMissing()) {
    int64_t width;
    ATTUNE_TRY(wantInteger(machine, given[0], "indent", width));
    ATTUNE_TRY(arithmetic(machine, Operation::Multiply, Value::ofText(" "), Value::ofInt(width), indention));
  }
  bool escaped = subject.isEscaped(), blank = isTrue(machine, given[2]);
  if (escaped)
    indention.flag = 1;
  else if (indention.isEscaped())
    return machine.error("indent: expected a width that is not escaped");
  Array *lines;
  Value text;
  ATTUNE_TRY(add(machine, subject, Value::ofText("\n", escaped), text));
  ATTUNE_TRY(splitLines(machine, text.str(), false, escaped, lines));
  Builder builder(machine);
  if (isTrue(machine, given[1]))
    ATTUNE_TRY(builder.add(indention.str()));
  for (uint32_t i = 0; i < lines->count; ++i) {
    if (i) {
      ATTUNE_TRY(builder.add("\n"));
      if (blank || lines->items[i].bytes)
        ATTUNE_TRY(builder.add(indention.str()));
    }
    ATTUNE_TRY(builder.add(lines->items[i].str()));
  }
  result = builder.value(escaped);
  return ATTUNE_OK;
}

static attune_status truncate(Machine &machine, const Value &subject, const Value *given, Value &result) {
  Text text = subject.str(), end = "...";
  int64_t length = 255, leeway = 5;
  if (!given[0].isMissing())
    ATTUNE_TRY(wantInteger(machine, given[0], "truncate", length));
  if (!given[2].isMissing())
    ATTUNE_TRY(wantText(machine, given[2], "truncate", end));
  if (!given[3].isMissing() && !given[3].is(Tag::None))
    ATTUNE_TRY(wantInteger(machine, given[3], "truncate", leeway));
  auto endLength = static_cast<int64_t>(countCharacters(end));
  if (length < endLength || leeway < 0)
    return machine.error("truncate: expected a length of at least %lld, and a leeway of at least 0", static_cast<long long>(endLength));
  result = subject;
  int64_t count = lengthOf(subject);
  if (subject.is(Tag::Loop))
    ATTUNE_TRY(loopLength(machine, *subject.loop, count));
  if (count < 0)
    return machine.error("truncate: object of type '%s' has no len()", typeName(subject.tag));
  // Does not add length and leeway, whose sum may overflow.
  if (count <= length || count - length <= leeway)
    return ATTUNE_OK;
  if (!subject.isString() || subject.isEscaped())
    return machine.error("truncate: expected a string that is not escaped, got %s", typeName(subject.tag));
  size_t bytes = characterOffset(text, static_cast<size_t>(length - endLength));
  if (!isTrue(machine, given[1]))
    for (size_t i = bytes; i-- > 0;)
      if (text.data[i] == ' ') {
        bytes = i;
        break;
      }
  return add(machine, Value::ofText({text.data, bytes}), Value::ofText(end), result);
}

static attune_status replace(Machine &machine, const Value &subject, const Value *given, Value &result) {
  if (given[0].isMissing() || given[1].isMissing())
    return machine.error("replace: expected two arguments");
  Value text, from, to;
  ATTUNE_TRY(toText(machine, subject, text));
  ATTUNE_TRY(toText(machine, given[0], from));
  ATTUNE_TRY(toText(machine, given[1], to));
  int64_t count = -1;
  if (!given[2].isMissing() && !given[2].is(Tag::None))
    ATTUNE_TRY(wantInteger(machine, given[2], "replace", count));
  return replaceText(machine, text.str(), from.str(), to.str(), count, false, result);
}

attune_status chat::applyTextFilter(Machine &machine, uint16_t filter, const Value &subject, const Arguments &arguments, Value &result,
                                    bool &known) {
  auto name = static_cast<FilterName>(filter);
  Value given[4], text;
  switch (name) {
  case FilterName::Lower:
  case FilterName::Upper:
  case FilterName::Capitalize:
  case FilterName::String:
  case FilterName::Safe:
  case FilterName::E:
  case FilterName::Escape:
    ATTUNE_TRY(bind(machine, "the filter", "", arguments, given));
    return applySimple(machine, name, subject, result);
  case FilterName::Title:
    ATTUNE_TRY(bind(machine, "title", "", arguments, given));
    return titleWords(machine, subject, result);
  case FilterName::Trim:
    ATTUNE_TRY(bind(machine, "trim", "chars", arguments, given));
    ATTUNE_TRY(toText(machine, subject, text));
    return stripText(machine, text, given[0], true, true, result);
  case FilterName::Center: {
    ATTUNE_TRY(bind(machine, "center", "width", arguments, given));
    int64_t width = 80;
    if (!given[0].isMissing())
      ATTUNE_TRY(wantInteger(machine, given[0], "center", width));
    ATTUNE_TRY(toText(machine, subject, text));
    return centerText(machine, text, width, " ", result);
  }
  case FilterName::Replace:
    ATTUNE_TRY(bind(machine, "replace", "old new count", arguments, given));
    return replace(machine, subject, given, result);
  case FilterName::Indent:
    ATTUNE_TRY(bind(machine, "indent", "width first blank", arguments, given));
    return indent(machine, subject, given, result);
  case FilterName::Truncate:
    ATTUNE_TRY(bind(machine, "truncate", "length killwords end leeway", arguments, given));
    return truncate(machine, subject, given, result);
  case FilterName::Format: {
    if (arguments.numKeywords)
      return machine.error("format: keyword arguments are not supported");
    ATTUNE_TRY(toText(machine, subject, text));
    Array *values;
    ATTUNE_TRY(machine.makeArray(arguments.count, values));
    for (uint32_t i = 0; i < arguments.count; ++i)
      ATTUNE_TRY(machine.push(*values, arguments.values[i]));
    return formatPercent(machine, text, Value::ofArray(Tag::Tuple, values), result);
  }
  case FilterName::ToJson:
    ATTUNE_TRY(bind(machine, "tojson", "ensure_ascii indent separators sort_keys", arguments, given));
    return toJson(machine, subject, given[0], given[1], given[2], given[3], result);
  default:
    known = false;
    return ATTUNE_OK;
  }
}
