//===- Formatting.cpp - Formatting of strings -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of Python's two kinds of formatting that templates use: `%s %r %d %i %f %%` with flags, width and (not for
// %d and %i) precision, and `{}`, `{0}`, `{name}` without a format specification. A rendering fails for other formats.
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Unicode.h"

#include <cmath>
#include <cstdio>

using namespace attune;
using namespace attune::chat;

/// Appends |text|, filled up to |width| characters. If |left|, blanks follow |text|. Else, if |zeros|, zeros stand
/// between the sign of |text| and the rest; else blanks precede |text|.
static attune_status addPadded(Machine &machine, Text text, int width, bool left, bool zeros, Builder &builder) {
  auto length = static_cast<int>(countCharacters(text));
  int room = width > length ? width - length : 0;
  size_t sign = zeros && text.bytes && (text.data[0] == '-' || text.data[0] == '+' || text.data[0] == ' ');
  ATTUNE_TRY(machine.charge(static_cast<uint64_t>(room) / 16));
  if (sign)
    ATTUNE_TRY(builder.add(Text(text.data, sign)));
  for (int i = 0; i < room && !left; ++i)
    ATTUNE_TRY(builder.add(zeros ? '0' : ' '));
  ATTUNE_TRY(builder.add(text.from(sign)));
  for (int i = 0; i < room && left; ++i)
    ATTUNE_TRY(builder.add(' '));
  return ATTUNE_OK;
}

namespace {
/// A conversion, such as `%-08.3f`. |precision| is -1 if the format has none.
struct Conversion {
  bool left = false, zeros = false, plus = false, blank = false;
  int width = 0, precision = -1;
  char kind = 0;
};
} // namespace

static attune_status readNumber(Machine &machine, Text format, size_t &i, int &number) {
  for (number = 0; i < format.bytes && format.data[i] >= '0' && format.data[i] <= '9'; ++i) {
    number = number * 10 + (format.data[i] - '0');
    if (number > 100000)
      return machine.error("a width or precision of a format is above 100000");
  }
  return ATTUNE_OK;
}

static attune_status readConversion(Machine &machine, Text format, size_t &i, Conversion &conversion) {
  for (; i < format.bytes; ++i) {
    char c = format.data[i];
    bool &flag = c == '-' ? conversion.left : c == '0' ? conversion.zeros : c == '+' ? conversion.plus : conversion.blank;
    if (c != '-' && c != '0' && c != '+' && c != ' ')
      break;
    flag = true;
  }
  ATTUNE_TRY(readNumber(machine, format, i, conversion.width));
  if (i < format.bytes && format.data[i] == '.') {
    ++i;
    ATTUNE_TRY(readNumber(machine, format, i, conversion.precision));
  }
  if (i == format.bytes)
    return machine.error("incomplete format");
  conversion.kind = format.data[i++];
  return ATTUNE_OK;
}

static attune_status convertNumber(Machine &machine, const Conversion &conversion, const Value &value, Builder &builder) {
  if (value.isUndefined())
    return machine.undefinedError(value);
  if (!value.isNumber())
    return machine.error("%%%c format: a number is required, not %s", conversion.kind, typeName(value.tag));
  NumberText number;
  if (conversion.kind == 'f') {
    if (conversion.precision > 100)
      return machine.error("a precision of a format is above 100");
    formatFixed(value.asDouble(), conversion.precision < 0 ? 6 : conversion.precision, number);
  } else {
    if (conversion.precision >= 0)
      return machine.error("a precision of %%%c is not supported", conversion.kind);
    double whole = std::trunc(value.asDouble());
    if (value.is(Tag::Float) && !(std::fabs(whole) < 9.2e18))
      return machine.error("%%%c format: expected a finite number of at most 64 bits", conversion.kind);
    formatInt(value.is(Tag::Float) ? static_cast<int64_t>(whole) : value.integer, number);
  }
  char text[sizeof(NumberText) + 1];
  bool sign = number[0] != '-' && (conversion.plus || conversion.blank);
  snprintf(text, sizeof(text), "%s%s", sign ? (conversion.plus ? "+" : " ") : "", number);
  bool finite = std::isfinite(value.asDouble());
  return addPadded(machine, text, conversion.width, conversion.left, conversion.zeros && !conversion.left && finite, builder);
}

/// Appends str(|value|) for `%s` or repr(|value|) for `%r`, escaped for HTML if |escaped|.
static attune_status convertText(Machine &machine, const Conversion &conversion, const Value &value, bool escaped, Builder &builder) {
  Value part = value;
  if (conversion.kind == 'r') {
    Builder representation(machine);
    ATTUNE_TRY(represent(machine, value, representation));
    part = representation.value();
  }
  ATTUNE_TRY(escaped ? escape(machine, part, part) : toText(machine, part, part));
  Text text = part.str();
  if (conversion.precision >= 0)
    text.bytes = characterOffset(text, static_cast<size_t>(conversion.precision));
  return addPadded(machine, text, conversion.width, conversion.left, false, builder);
}

attune_status chat::formatPercent(Machine &machine, const Value &text, const Value &values, Value &result) {
  const Text format = text.str();
  Builder builder(machine);
  bool tuple = values.is(Tag::Tuple);
  uint32_t count = tuple ? values.array->count : 1, used = 0;
  for (size_t i = 0; i < format.bytes;) {
    if (format.data[i] != '%') {
      size_t begin = i;
      while (i < format.bytes && format.data[i] != '%')
        ++i;
      ATTUNE_TRY(builder.add({format.data + begin, i - begin}));
      continue;
    }
    ++i;
    Conversion conversion;
    if (i < format.bytes && format.data[i] == '(')
      return machine.error("formats with names, as '%%(name)s', are not supported");
    ATTUNE_TRY(readConversion(machine, format, i, conversion));
    if (conversion.kind == '%') {
      ATTUNE_TRY(builder.add('%'));
      continue;
    }
    if (used == count)
      return machine.error("not enough arguments for format string");
    const Value &value = tuple ? values.array->items[used] : values;
    ++used;
    if (conversion.kind == 'd' || conversion.kind == 'i' || conversion.kind == 'f') {
      ATTUNE_TRY(convertNumber(machine, conversion, value, builder));
      continue;
    }
    if (conversion.kind != 's' && conversion.kind != 'r')
      return machine.error("the format '%%%c' is not supported: expected %%s, %%r, %%d, %%i, %%f or %%%%",
                           conversion.kind & 0x80 ? '?' : conversion.kind);
    ATTUNE_TRY(convertText(machine, conversion, value, text.isEscaped(), builder));
  }
  // Python takes any value with items, other than a tuple or a string, for a mapping, and does not require that the
  // format uses a mapping.
  bool mapping = values.is(Tag::Dict) || values.is(Tag::List) || values.is(Tag::Range) || values.isUndefined();
  if (used < count && !mapping)
    return machine.error("not all arguments converted during string formatting");
  result = builder.value(text.isEscaped());
  return ATTUNE_OK;
}

attune_status chat::formatBraces(Machine &machine, Text format, const Arguments &arguments, Value &result) {
  Builder builder(machine);
  uint32_t automatic = 0;
  bool usesNumbers = false;
  for (size_t i = 0; i < format.bytes; ++i) {
    char c = format.data[i];
    if (c != '{' && c != '}') {
      ATTUNE_TRY(builder.add(c));
      continue;
    }
    if (i + 1 < format.bytes && format.data[i + 1] == c) {
      ATTUNE_TRY(builder.add(c));
      ++i;
      continue;
    }
    const void *close = c == '{' ? memchr(format.data + i, '}', format.bytes - i) : nullptr;
    if (!close)
      return machine.error("Single '%c' encountered in format string", c);
    Text field(format.data + i + 1, static_cast<size_t>(static_cast<const char *>(close) - format.data) - i - 1);
    i += field.bytes + 1;
    bool digits = true;
    for (size_t j = 0; j < field.bytes; ++j) {
      if (strchr(".[]!:{", field.data[j]) && field.data[j])
        return machine.error("format: only {}, {number} and {name} are supported");
      digits &= field.data[j] >= '0' && field.data[j] <= '9';
    }
    const Value *value = nullptr;
    if (digits) {
      uint64_t index = 0;
      for (size_t j = 0; j < field.bytes && index < 100000; ++j)
        index = index * 10 + static_cast<uint64_t>(field.data[j] - '0');
      if (field.bytes ? automatic > 0 : usesNumbers)
        return machine.error("cannot switch between numbered and automatic fields of a format");
      usesNumbers |= field.bytes > 0;
      if (field.bytes == 0)
        index = automatic++;
      if (index >= arguments.count)
        return machine.error("Replacement index %llu out of range for positional args tuple", static_cast<unsigned long long>(index));
      value = &arguments.values[index];
    } else {
      for (uint32_t k = 0; k < arguments.numKeywords; ++k)
        if (arguments.keywords[k].str() == field)
          value = &arguments.keywordValues[k];
      if (!value)
        return machine.error("format: there is no argument '%.*s'", static_cast<int>(field.bytes < 100 ? field.bytes : 100), field.data);
    }
    ATTUNE_TRY(print(machine, *value, builder));
  }
  result = builder.value();
  return ATTUNE_OK;
}
