//===- Functions.cpp - Global functions of chat templates -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cstdio>

using namespace attune;
using namespace attune::chat;

static attune_status makeRange(Machine &machine, const Arguments &arguments, Value &result) {
  constexpr int64_t MaxCount = 100000; // the limit of the sandbox of Jinja2
  Value given[3];
  ATTUNE_TRY(bind(machine, "range", "/start stop step", arguments, given));
  int64_t start = 0, stop, step = 1;
  ATTUNE_TRY(wantInteger(machine, given[0], "range", stop));
  if (!given[1].isMissing()) {
    start = stop;
    ATTUNE_TRY(wantInteger(machine, given[1], "range", stop));
  }
  if (!given[2].isMissing())
    ATTUNE_TRY(wantInteger(machine, given[2], "range", step));
  if (step == 0)
    return machine.error("range() arg 3 must not be zero");
  if (step == INT64_MIN)
    step = -INT64_MAX;
  uint64_t span = step > 0 ? (stop > start ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) : 0)
                           : (start > stop ? static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) : 0);
  uint64_t count = span ? (span - 1) / static_cast<uint64_t>(step > 0 ? step : -step) + 1 : 0;
  if (count > MaxCount)
    return machine.error("Range too big. The sandbox blocks ranges larger than %lld.", static_cast<long long>(MaxCount));
  Range *range;
  ATTUNE_TRY(machine.take(1, range));
  *range = {start, stop, step, static_cast<int64_t>(count)};
  result = Value::ofTag(Tag::Range);
  result.range = range;
  return ATTUNE_OK;
}

/// Implements dict(mapping or pairs, key=value…) if |tag| is Dict, and namespace(…) with the same arguments if |tag| is
/// Namespace.
static attune_status makeDict(Machine &machine, Tag tag, const Arguments &arguments, Value &result) {
  Table *table;
  const char *what = tag == Tag::Dict ? "dict" : "namespace";
  ATTUNE_TRY(machine.makeTable(arguments.numKeywords, table));
  if (arguments.count > 1)
    return machine.error("%s: expected at most 1 argument, got %u", what, arguments.count);
  if (arguments.count && arguments.values[0].isUndefined())
    return machine.undefinedError(arguments.values[0]);
  if (arguments.count && (arguments.values[0].is(Tag::Dict) || arguments.values[0].is(Tag::Namespace))) {
    if (arguments.values[0].is(Tag::Namespace))
      return machine.error("'Namespace' object is not iterable");
    for (uint32_t i = 0; i < arguments.values[0].table->count; ++i)
      ATTUNE_TRY(machine.set(*table, arguments.values[0].table->pairs[i].key, arguments.values[0].table->pairs[i].value));
  } else if (arguments.count) {
    Array *items, *pair;
    ATTUNE_TRY(collect(machine, arguments.values[0], items));
    for (uint32_t i = 0; i < items->count; ++i) {
      ATTUNE_TRY(collect(machine, items->items[i], pair));
      if (pair->count != 2)
        return machine.error("dictionary update sequence element #%u has length %u; 2 is required", i, pair->count);
      ATTUNE_TRY(machine.set(*table, pair->items[0], pair->items[1]));
    }
  }
  for (uint32_t i = 0; i < arguments.numKeywords; ++i)
    ATTUNE_TRY(machine.set(*table, arguments.keywords[i], arguments.keywordValues[i]));
  for (uint32_t i = 0; tag == Tag::Namespace && i < table->count; ++i)
    if (table->pairs[i].key.isString() && table->pairs[i].key.bytes && table->pairs[i].key.text[0] == '_')
      return machine.error("cannot store an attribute whose name begins with an underscore on a namespace");
  result = Value::ofTable(tag, table);
  return ATTUNE_OK;
}

/// Implements cycler(items…). A cycler is an array: the position of its current item, then the items.
static attune_status makeCycler(Machine &machine, const Arguments &arguments, Value &result) {
  Array *items;
  if (arguments.count == 0 || arguments.numKeywords)
    return machine.error("at least one item has to be provided");
  ATTUNE_TRY(machine.makeArray(arguments.count + 1, items));
  ATTUNE_TRY(machine.push(*items, Value::ofInt(0)));
  for (uint32_t i = 0; i < arguments.count; ++i)
    ATTUNE_TRY(machine.push(*items, arguments.values[i]));
  result = Value::ofArray(Tag::Cycler, items);
  return ATTUNE_OK;
}

static attune_status makeJoiner(Machine &machine, const Arguments &arguments, Value &result) {
  Array *state;
  Value given[1];
  ATTUNE_TRY(bind(machine, "joiner", "sep", arguments, given));
  ATTUNE_TRY(machine.makeArray(2, state));
  ATTUNE_TRY(machine.push(*state, given[0].isMissing() ? Value::ofText(", ") : given[0]));
  ATTUNE_TRY(machine.push(*state, Value::boolean(false)));
  result = Value::ofArray(Tag::Joiner, state);
  return ATTUNE_OK;
}

static attune_status raiseException(Machine &machine, const Arguments &arguments) {
  Value given[1], text;
  ATTUNE_TRY(bind(machine, "raise_exception", "message", arguments, given));
  if (given[0].isMissing())
    return machine.error("raise_exception: expected a message");
  ATTUNE_TRY(toText(machine, given[0], text));
  return machine.error("%.*s", static_cast<int>(text.bytes < 800 ? text.bytes : 800), text.text);
}

//===--- Dates -------------------------------------------------------------===//

static const char *const monthNames[] = {"January", "February", "March",     "April",   "May",      "June",
                                         "July",    "August",   "September", "October", "November", "December"};
static const char *const dayNames[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

static bool isLeap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

/// The number of days before each month of a common year, and before the next year.
static const int daysBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

bool chat::isDate(const attune_chat_date &date) {
  auto within = [](int value, int least, int most) { return value >= least && value <= most; };
  if (!within(date.year, 1, 9999) || !within(date.month, 1, 12))
    return false;
  int days = daysBefore[date.month] - daysBefore[date.month - 1] + (date.month == 2 && isLeap(date.year));
  return within(date.day, 1, days) && within(date.hour, 0, 23) && within(date.minute, 0, 59) && within(date.second, 0, 59);
}

/// Returns the number of days of the year before |date|: 0 for January 1.
static int dayOfYear(const attune_chat_date &date) {
  return daysBefore[date.month - 1] + date.day - 1 + (date.month > 2 && isLeap(date.year));
}

/// Returns the day of the week, 0 = Sunday.
static int dayOfWeek(const attune_chat_date &date) {
  int past = date.year - 1;
  return (past * 365 + past / 4 - past / 100 + past / 400 + dayOfYear(date) + 1) % 7;
}

/// Writes |number| to |text|, a buffer of |size| bytes, padded to |width| characters: with zeros for '0', with blanks
/// for '_', not at all for '-'. |pad| is this flag in the format, as '-' in `%-d`, or 0 if there is none; then |usual|
/// is the flag.
static void writeField(char *text, size_t size, char pad, char usual, int width, int number) {
  char fill = pad ? pad : usual;
  if (fill == '-')
    snprintf(text, size, "%d", number);
  else
    snprintf(text, size, fill == '0' ? "%0*d" : "%*d", width, number);
}

attune_status chat::formatDate(Machine &machine, Text format, const attune_chat_date &date, Value &result) {
  Builder builder(machine);
  int weekDay = dayOfWeek(date), yearDay = dayOfYear(date), hour12 = date.hour % 12 ? date.hour % 12 : 12;
  for (size_t i = 0; i < format.bytes; ++i) {
    if (format.data[i] != '%' || i + 1 == format.bytes) {
      ATTUNE_TRY(builder.add(format.data[i]));
      continue;
    }
    char pad = 0;
    ++i;
    if (format.data[i] == '-' || format.data[i] == '_' || format.data[i] == '0') {
      pad = format.data[i];
      if (++i == format.bytes)
        return machine.error("strftime_now: the format ends within a conversion");
    }
    char text[40] = "";
    const char *composed = nullptr;
    auto field = [&](char usual, int width, int number) { writeField(text, sizeof(text), pad, usual, width, number); };
    switch (format.data[i]) {
    case 'a':
      snprintf(text, sizeof(text), "%.3s", dayNames[weekDay]);
      break;
    case 'A':
      snprintf(text, sizeof(text), "%s", dayNames[weekDay]);
      break;
    case 'b':
    case 'h':
      snprintf(text, sizeof(text), "%.3s", monthNames[date.month - 1]);
      break;
    case 'B':
      snprintf(text, sizeof(text), "%s", monthNames[date.month - 1]);
      break;
    case 'd':
      field('0', 2, date.day);
      break;
    case 'e':
      field('_', 2, date.day);
      break;
    case 'm':
      field('0', 2, date.month);
      break;
    case 'Y':
      field('-', 4, date.year);
      break;
    case 'y':
      field('0', 2, date.year % 100);
      break;
    case 'H':
      field('0', 2, date.hour);
      break;
    case 'I':
      field('0', 2, hour12);
      break;
    case 'k':
      field('_', 2, date.hour);
      break;
    case 'l':
      field('_', 2, hour12);
      break;
    case 'M':
      field('0', 2, date.minute);
      break;
    case 'S':
      field('0', 2, date.second);
      break;
    case 'j':
      field('0', 3, yearDay + 1);
      break;
    case 'u':
      field('-', 1, weekDay ? weekDay : 7);
      break;
    case 'w':
      field('-', 1, weekDay);
      break;
    case 'U':
      field('0', 2, (yearDay + 7 - weekDay) / 7);
      break;
    case 'W':
      field('0', 2, (yearDay + 7 - (weekDay + 6) % 7) / 7);
      break;
    case 'p':
      snprintf(text, sizeof(text), "%s", date.hour < 12 ? "AM" : "PM");
      break;
    case 'n':
      snprintf(text, sizeof(text), "\n");
      break;
    case 't':
      snprintf(text, sizeof(text), "\t");
      break;
    case '%':
      snprintf(text, sizeof(text), "%%");
      break;
    case 'z':
    case 'Z':
      break; // transformers formats a time without a zone, for which Python writes nothing
    case 'D':
    case 'x':
      composed = "%m/%d/%y";
      break;
    case 'F':
      composed = "%Y-%m-%d";
      break;
    case 'T':
    case 'X':
      composed = "%H:%M:%S";
      break;
    case 'R':
      composed = "%H:%M";
      break;
    case 'c':
      composed = "%a %b %e %H:%M:%S %Y";
      break;
    default:
      return machine.error("strftime_now: the conversion '%%%c' is not supported", format.data[i] & 0x80 ? '?' : format.data[i]);
    }
    if (composed) {
      Value part;
      ATTUNE_TRY(formatDate(machine, composed, date, part));
      ATTUNE_TRY(builder.add(part.str()));
    } else {
      ATTUNE_TRY(builder.add(text));
    }
  }
  result = builder.value();
  return ATTUNE_OK;
}

static attune_status strftimeNow(Machine &machine, const Arguments &arguments, Value &result) {
  Value given[1];
  Text format;
  ATTUNE_TRY(bind(machine, "strftime_now", "format", arguments, given));
  ATTUNE_TRY(wantText(machine, given[0], "strftime_now", format));
  if (!machine.date)
    return machine.error("the template prints the date, and none is given (attune_chat_set_date)");
  return formatDate(machine, format, *machine.date, result);
}

//===--- The table ---------------------------------------------------------===//

enum class FunctionName : uint8_t { Range, Dict, Namespace, Cycler, Joiner, RaiseException, StrftimeNow, Count };
static const char *const functionNames[] = {"range", "dict", "namespace", "cycler", "joiner", "raise_exception", "strftime_now"};

Value chat::findGlobal(Text name) {
  for (uint8_t i = 0; i < static_cast<uint8_t>(FunctionName::Count); ++i)
    if (name == functionNames[i]) {
      Value value = Value::ofTag(Tag::Function);
      value.flag = i;
      return value;
    }
  return Value();
}

attune_status chat::callFunction(Machine &machine, uint8_t function, const Arguments &arguments, Value &result) {
  switch (static_cast<FunctionName>(function)) {
  case FunctionName::Range:
    return makeRange(machine, arguments, result);
  case FunctionName::Dict:
    return makeDict(machine, Tag::Dict, arguments, result);
  case FunctionName::Namespace:
    return makeDict(machine, Tag::Namespace, arguments, result);
  case FunctionName::Cycler:
    return makeCycler(machine, arguments, result);
  case FunctionName::Joiner:
    return makeJoiner(machine, arguments, result);
  case FunctionName::RaiseException:
    return raiseException(machine, arguments);
  default:
    return strftimeNow(machine, arguments, result);
  }
}
