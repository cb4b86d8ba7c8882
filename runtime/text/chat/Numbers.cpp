//===- Numbers.cpp - Numbers as text --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between numbers and text. The C library writes and reads the decimal separator of the locale, but the
// text here always has a point. So functions take only the digits from the output of printf, and give strtod numbers
// without a separator, such as 15e-1.
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Unicode.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace attune;
using namespace attune::chat;

namespace {
/// A writer that appends to |text|, a buffer of |size| bytes that stays NUL-terminated. Drops what does not fit.
struct TextWriter {
  char *text;
  size_t size, used = 0;
  void add(char c) {
    if (used + 1 < size)
      text[used++] = c;
    text[used] = 0;
  }
  void add(const char *more) {
    while (*more)
      add(*more++);
  }
};
} // namespace

/// Replaces the locale's decimal separator in |text|, a number in ASCII but for the separator, by a point.
static void usePoint(char *text) {
  char *to = text;
  bool pointed = false;
  for (const char *from = text; *from; ++from) {
    bool plain = (*from >= '0' && *from <= '9') || *from == '-' || *from == '+' || *from == 'e';
    if (plain)
      *to++ = *from;
    else if (!pointed) {
      pointed = true;
      *to++ = '.';
    }
  }
  *to = 0;
}

/// Writes an infinity or NaN; returns false for finite numbers.
static bool formatSpecial(double number, TextWriter &writer) {
  if (std::isfinite(number))
    return false;
  writer.add(std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
  return true;
}

void chat::formatInt(int64_t number, NumberText &text) { snprintf(text, sizeof(text), "%lld", static_cast<long long>(number)); }

void chat::formatFixed(double number, int digits, NumberText &text) {
  TextWriter writer{text, sizeof(text)};
  text[0] = 0;
  if (formatSpecial(number, writer))
    return;
  snprintf(text, sizeof(text), "%.*f", digits, number);
  usePoint(text);
}

void chat::formatFloat(double number, NumberText &text) {
  TextWriter writer{text, sizeof(text)};
  text[0] = 0;
  if (formatSpecial(number, writer))
    return;
  char digits[40];
  int exponent = 0, count = 0;
  for (int precision = 0; precision <= 16; ++precision) {
    char buffer[64];
    snprintf(buffer, sizeof(buffer), "%.*e", precision, std::fabs(number));
    count = 0;
    const char *cursor = buffer;
    for (; *cursor && *cursor != 'e'; ++cursor)
      if (*cursor >= '0' && *cursor <= '9')
        digits[count++] = *cursor;
    digits[count] = 0;
    exponent = atoi(cursor + 1);
    char again[64];
    snprintf(again, sizeof(again), "%se%d", digits, exponent - (count - 1));
    if (strtod(again, nullptr) == std::fabs(number))
      break;
  }
  while (count > 1 && digits[count - 1] == '0')
    digits[--count] = 0;
  if (std::signbit(number))
    writer.add('-');
  if (exponent >= -4 && exponent < 16) {
    if (exponent < 0) {
      writer.add("0.");
      for (int i = -1; i > exponent; --i)
        writer.add('0');
      writer.add(digits);
      return;
    }
    for (int i = 0; i < count || i <= exponent; ++i) {
      if (i == exponent + 1)
        writer.add('.');
      writer.add(i < count ? digits[i] : '0');
    }
    if (count <= exponent + 1)
      writer.add(".0");
    return;
  }
  writer.add(digits[0]);
  if (count > 1)
    writer.add('.');
  writer.add(digits + 1);
  char tail[16];
  snprintf(tail, sizeof(tail), "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
  writer.add(tail);
}

/// Writes |text| without white space around it to |buffer|, with ASCII digits for the decimal digits of any script and
/// a NUL at the end. Sets |bytes| to the length without the NUL. Returns false for a text that has more than |size| - 1
/// bytes in this form, or has NUL or a character beyond ASCII that is no decimal digit.
static bool normalizeNumber(Text text, char *buffer, size_t size, size_t &bytes) {
  size_t begin = 0, end = text.bytes;
  while (begin < end) {
    size_t next = begin;
    if (!isSpace(decodeUtf8(text, next)))
      break;
    begin = next;
  }
  while (end > begin) {
    size_t before = end;
    previousCharacter(text, before);
    size_t position = before;
    if (!isSpace(decodeUtf8(text, position)))
      break;
    end = before;
  }
  bytes = 0;
  for (size_t i = begin; i < end;) {
    uint32_t character = decodeUtf8(text, i);
    if (character >= 0x80) {
      if (!isDecimal(character))
        return false;
      character = '0' + decimalValue(character);
    }
    if (character == 0 || bytes + 1 >= size)
      return false;
    buffer[bytes++] = static_cast<char>(character);
  }
  buffer[bytes] = 0;
  return true;
}

static bool isAsciiDigit(char c) { return c >= '0' && c <= '9'; }

static bool equalsIgnoringCase(const char *text, const char *lower) {
  for (; *text && *lower; ++text, ++lower)
    if ((*text | 0x20) != *lower)
      return false;
  return !*text && !*lower;
}

bool chat::parseFloat(Text text, double &number) {
  char buffer[1024], plain[1100];
  size_t bytes;
  if (!normalizeNumber(text, buffer, sizeof(buffer), bytes) || bytes == 0)
    return false;
  const char *cursor = buffer;
  bool negative = *cursor == '-';
  if (*cursor == '-' || *cursor == '+')
    ++cursor;
  if (equalsIgnoringCase(cursor, "inf") || equalsIgnoringCase(cursor, "infinity")) {
    number = negative ? -HUGE_VAL : HUGE_VAL;
    return true;
  }
  if (equalsIgnoringCase(cursor, "nan")) {
    number = std::copysign(std::nan(""), negative ? -1.0 : 1.0);
    return true;
  }
  size_t used = 0;
  int fraction = 0, digits = 0;
  // Digits may be separated by single underscores.
  auto takeDigits = [&](int *counter) {
    bool any = false;
    while (isAsciiDigit(*cursor) || (*cursor == '_' && any && isAsciiDigit(cursor[1]))) {
      if (*cursor != '_') {
        plain[used++] = *cursor;
        ++*counter;
      }
      any = true;
      ++cursor;
    }
  };
  takeDigits(&digits);
  if (*cursor == '.') {
    ++cursor;
    takeDigits(&fraction);
  }
  if (digits + fraction == 0)
    return false;
  long exponent = 0;
  if (*cursor == 'e' || *cursor == 'E') {
    ++cursor;
    bool minus = *cursor == '-';
    if (*cursor == '-' || *cursor == '+')
      ++cursor;
    if (!isAsciiDigit(*cursor))
      return false;
    for (bool any = false; isAsciiDigit(*cursor) || (*cursor == '_' && any && isAsciiDigit(cursor[1])); ++cursor, any = true)
      if (*cursor != '_' && exponent < 100000)
        exponent = exponent * 10 + (*cursor - '0');
    if (minus)
      exponent = -exponent;
  }
  if (*cursor)
    return false;
  snprintf(plain + used, sizeof(plain) - used, "e%ld", exponent - fraction);
  number = strtod(plain, nullptr);
  if (negative)
    number = -number;
  return true;
}

bool chat::parseInt(Text text, int64_t base, int64_t &number, bool &tooBig) {
  char buffer[1024];
  size_t bytes;
  tooBig = false;
  if (!normalizeNumber(text, buffer, sizeof(buffer), bytes))
    return false;
  const char *cursor = buffer;
  bool negative = *cursor == '-';
  if (*cursor == '-' || *cursor == '+')
    ++cursor;
  bool mayBeginWithUnderscore = false, leadingZero = false;
  char prefix = cursor[0] == '0' ? static_cast<char>(cursor[1] | 0x20) : 0;
  int64_t prefixBase = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 0;
  if (prefixBase && (base == prefixBase || base == 0)) {
    base = prefixBase;
    cursor += 2;
    mayBeginWithUnderscore = true;
  } else if (base == 0) {
    base = 10;
    leadingZero = cursor[0] == '0';
  }
  if (mayBeginWithUnderscore && *cursor == '_')
    ++cursor;
  uint64_t value = 0;
  bool any = false, nonZero = false;
  for (; *cursor; ++cursor) {
    if (*cursor == '_' && any && cursor[1] && cursor[1] != '_')
      ++cursor;
    char c = *cursor;
    int digit = isAsciiDigit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10 : 99;
    if (digit >= base)
      return false;
    any = true;
    nonZero |= digit != 0;
    if (__builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value))
      tooBig = true;
  }
  if (!any || (leadingZero && nonZero))
    return false;
  tooBig |= value > static_cast<uint64_t>(INT64_MAX) + negative;
  number = static_cast<int64_t>(negative ? 0 - value : value);
  return true;
}

double chat::roundTo(double number, int64_t digits) {
  if (!std::isfinite(number) || digits > 330)
    return number;
  if (digits < -310)
    return std::copysign(0.0, number);
  if (digits >= 0) {
    char text[704]; // a sign, at most 309 digits, the point, at most 330 digits
    snprintf(text, sizeof(text), "%.*f", static_cast<int>(digits), number);
    usePoint(text);
    double result;
    return parseFloat(text, result) ? result : number;
  }
  // printf rounds to a digit before the point only in the form with an exponent.
  char probe[64];
  snprintf(probe, sizeof(probe), "%.17e", number);
  const char *e = strchr(probe, 'e');
  int precision = static_cast<int>((e ? atoi(e + 1) : 0) + digits);
  if (precision >= 0) {
    NumberText text;
    snprintf(text, sizeof(text), "%.*e", precision > 40 ? 40 : precision, number);
    usePoint(text);
    double result;
    return parseFloat(text, result) ? result : number;
  }
  // |number| is less than the unit 10 ** -digits: above half a unit the result is the unit, else 0.
  double unit = std::pow(10.0, static_cast<double>(-digits));
  return std::fabs(number) > unit / 2 ? std::copysign(unit, number) : std::copysign(0.0, number);
}
