//===- StringMethods.cpp - Methods of strings -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Methods of strings. The methods of an escaped string (Markup) return escaped strings, and escape the strings that
// they insert into it.
//===----------------------------------------------------------------------===//

#include "Filters.h"
#include "StringOperations.h"
#include "Unicode.h"

using namespace attune;
using namespace attune::chat;

//===--- Search and split --------------------------------------------------===//

/// Sets |found| to the offset in bytes of the last |part| in |text|, SIZE_MAX if there is none. At each position,
/// charges a step for every 16 bytes of |part| that match there, because the search may compare the same bytes of
/// |text| at many positions.
static attune_status findLastText(Machine &machine, Text text, Text part, size_t &found) {
  found = SIZE_MAX;
  if (part.bytes > text.bytes)
    return ATTUNE_OK;
  for (size_t i = text.bytes - part.bytes + 1; i-- > 0;) {
    size_t same = 0;
    while (same < part.bytes && text.data[i + same] == part.data[same])
      ++same;
    ATTUNE_TRY(machine.charge(same / 16));
    if (same == part.bytes) {
      found = i;
      return ATTUNE_OK;
    }
  }
  return ATTUNE_OK;
}

/// Sets |found| to the offset of the first |part| in |text|, or of the last one if |last|; to SIZE_MAX if there is
/// none.
static attune_status findEither(Machine &machine, Text text, Text part, bool last, size_t &found) {
  if (last)
    return findLastText(machine, text, part, found);
  found = findText(text, part);
  return ATTUNE_OK;
}

/// Splits |self| at white space, from the left or from the right, at most |limit| times (< 0: everywhere). Appends the
/// parts to |parts| in the order in which they are found: from the right, the last part first.
static attune_status splitSpaces(Machine &machine, const Value &self, int64_t limit, bool fromRight, Array *parts) {
  Text text = self.str();
  bool escaped = self.isEscaped();
  auto isSpaceAt = [&](size_t position) { return isSpace(decodeUtf8(text, position)); };
  auto after = [&](size_t position) {
    decodeUtf8(text, position);
    return position;
  };
  auto before = [&](size_t position) {
    previousCharacter(text, position);
    return position;
  };
  size_t begin = 0, end = text.bytes;
  for (;;) {
    if (fromRight)
      while (end > begin && isSpaceAt(before(end)))
        end = before(end);
    else
      while (begin < end && isSpaceAt(begin))
        begin = after(begin);
    if (begin == end)
      break;
    if (limit == 0) {
      // The rest is one part, and keeps the white space at the end that the splitting has not reached.
      ATTUNE_TRY(machine.push(*parts, Value::ofText({text.data + begin, end - begin}, escaped)));
      break;
    }
    size_t cut = fromRight ? end : begin;
    if (fromRight) {
      while (cut > begin && !isSpaceAt(before(cut)))
        cut = before(cut);
      ATTUNE_TRY(machine.push(*parts, Value::ofText({text.data + cut, end - cut}, escaped)));
      end = cut;
    } else {
      while (cut < end && !isSpaceAt(cut))
        cut = after(cut);
      ATTUNE_TRY(machine.push(*parts, Value::ofText({text.data + begin, cut - begin}, escaped)));
      begin = cut;
    }
    limit -= limit > 0;
  }
  return ATTUNE_OK;
}

static attune_status splitText(Machine &machine, const Value &self, const Arguments &arguments, bool fromRight, Value &result) {
  Value given[2];
  int64_t limit = -1;
  Array *parts;
  ATTUNE_TRY(bind(machine, "split", "sep maxsplit", arguments, given));
  if (!given[1].isMissing())
    ATTUNE_TRY(wantInteger(machine, given[1], "split", limit));
  if (limit < 0)
    limit = -1;
  ATTUNE_TRY(machine.makeArray(0, parts));
  ATTUNE_TRY(machine.charge(self.bytes / 16));
  if (given[0].isMissing() || given[0].is(Tag::None)) {
    ATTUNE_TRY(splitSpaces(machine, self, limit, fromRight, parts));
  } else {
    Text separator, rest = self.str();
    ATTUNE_TRY(wantText(machine, given[0], "split", separator));
    if (separator.bytes == 0)
      return machine.error("empty separator");
    for (size_t found; limit != 0; limit -= limit > 0) {
      ATTUNE_TRY(findEither(machine, rest, separator, fromRight, found));
      if (found == SIZE_MAX)
        break;
      ATTUNE_TRY(machine.charge(fromRight ? (rest.bytes - found) / 16 : found / 16));
      Text part = fromRight ? rest.from(found + separator.bytes) : Text(rest.data, found);
      ATTUNE_TRY(machine.push(*parts, Value::ofText(part, self.isEscaped())));
      rest = fromRight ? Text(rest.data, found) : rest.from(found + separator.bytes);
    }
    ATTUNE_TRY(machine.push(*parts, Value::ofText(rest, self.isEscaped())));
  }
  result = Value::ofArray(Tag::List, parts);
  if (!fromRight)
    return ATTUNE_OK;
  return getSlice(machine, result, Value::none(), Value::none(), Value::ofInt(-1), result);
}

//===--- Methods -----------------------------------------------------------===//

/// Sets |text| to the string |value|, an argument of a method of |self|; escapes it for HTML if |self| is an escaped
/// string. Fails if |value| is not a string; |what| names the method in the message.
static attune_status textArgument(Machine &machine, const Value &self, const Value &value, const char *what, Text &text) {
  ATTUNE_TRY(wantText(machine, value, what, text));
  Value escaped = value;
  if (self.isEscaped())
    ATTUNE_TRY(escape(machine, value, escaped));
  text = escaped.str();
  return ATTUNE_OK;
}

static attune_status strip(Machine &machine, const Value &self, const Arguments &arguments, bool left, bool right, Value &result) {
  Value given[1];
  ATTUNE_TRY(bind(machine, "strip", "/chars", arguments, given));
  return stripText(machine, self, given[0], left, right, result);
}

/// Sets |text| to the slice of |self| from |given|[0] (start) to |given|[1] (end), and |offset| to the start in
/// characters. The limits count characters as in a Python slice; a limit that is Missing or None is the beginning or
/// the end of |self|. If the start is after the end, sets |valid| to false and leaves |text| unchanged; else sets
/// |valid| to true. Fails if a limit is of another type.
static attune_status window(Machine &machine, const Value &self, const Value *given, Text &text, int64_t &offset, bool &valid) {
  auto length = static_cast<int64_t>(countCharacters(self.str()));
  int64_t limits[2] = {0, length};
  for (int i = 0; i < 2; ++i) {
    if (given[i].isMissing() || given[i].is(Tag::None))
      continue;
    ATTUNE_TRY(wantInteger(machine, given[i], "the limit of a search", limits[i]));
    if (limits[i] < 0)
      limits[i] = limits[i] + length < 0 ? 0 : limits[i] + length;
  }
  if (limits[1] > length)
    limits[1] = length;
  valid = limits[0] <= limits[1];
  offset = limits[0];
  if (!valid)
    return ATTUNE_OK;
  size_t begin = characterOffset(self.str(), static_cast<size_t>(limits[0]));
  size_t bytes = characterOffset(self.str().from(begin), static_cast<size_t>(limits[1] - limits[0]));
  text = {self.text + begin, bytes};
  return machine.charge(self.bytes / 16);
}

static attune_status isAffix(Machine &machine, const Value &self, const Arguments &arguments, bool prefix, Value &result) {
  Value given[3];
  Text text;
  int64_t offset;
  bool valid, found = false;
  ATTUNE_TRY(bind(machine, prefix ? "startswith" : "endswith", "/prefix start end", arguments, given));
  ATTUNE_TRY(window(machine, self, given + 1, text, offset, valid));
  auto matches = [&](const Value &affix) {
    Text part;
    ATTUNE_TRY(wantText(machine, affix, prefix ? "startswith" : "endswith", part));
    found |= valid && part.bytes <= text.bytes && Text(text.data + (prefix ? 0 : text.bytes - part.bytes), part.bytes) == part;
    return ATTUNE_OK;
  };
  if (given[0].is(Tag::Tuple)) {
    for (uint32_t i = 0; i < given[0].array->count && !found; ++i)
      ATTUNE_TRY(matches(given[0].array->items[i]));
  } else {
    ATTUNE_TRY(matches(given[0]));
  }
  result = Value::boolean(found);
  return ATTUNE_OK;
}

static attune_status search(Machine &machine, const Value &self, const Arguments &arguments, bool last, bool must, Value &result) {
  Value given[3];
  Text text, part;
  int64_t offset;
  bool valid;
  ATTUNE_TRY(bind(machine, "find", "/sub start end", arguments, given));
  ATTUNE_TRY(wantText(machine, given[0], "find", part));
  ATTUNE_TRY(window(machine, self, given + 1, text, offset, valid));
  size_t found = SIZE_MAX;
  if (valid)
    ATTUNE_TRY(findEither(machine, text, part, last, found));
  if (found == SIZE_MAX && must)
    return machine.error("substring not found");
  result = Value::ofInt(found == SIZE_MAX ? -1 : offset + static_cast<int64_t>(countCharacters({text.data, found})));
  return ATTUNE_OK;
}

static attune_status count(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value given[3];
  Text text, part;
  int64_t offset, times = 0;
  bool valid;
  ATTUNE_TRY(bind(machine, "count", "/sub start end", arguments, given));
  ATTUNE_TRY(wantText(machine, given[0], "count", part));
  ATTUNE_TRY(window(machine, self, given + 1, text, offset, valid));
  if (valid && part.bytes == 0)
    times = static_cast<int64_t>(countCharacters(text)) + 1;
  else if (valid)
    for (size_t at = findText(text, part); at != SIZE_MAX; at = findText(text, part, at + part.bytes))
      ++times;
  result = Value::ofInt(times);
  return ATTUNE_OK;
}

static attune_status replace(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value given[3];
  Text from, to;
  int64_t limit = -1;
  ATTUNE_TRY(bind(machine, "replace", "/old new count", arguments, given));
  ATTUNE_TRY(wantText(machine, given[0], "replace", from));
  ATTUNE_TRY(textArgument(machine, self, given[1], "replace", to));
  if (!given[2].isMissing())
    ATTUNE_TRY(wantInteger(machine, given[2], "replace", limit));
  return replaceText(machine, self.str(), from, to, limit, self.isEscaped(), result);
}

static attune_status join(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value given[1], part;
  Iterator *iterator;
  ATTUNE_TRY(bind(machine, "join", "/iterable", arguments, given));
  ATTUNE_TRY(iterate(machine, given[0], iterator));
  Builder builder(machine);
  for (uint32_t i = 0;; ++i) {
    Value item;
    bool done;
    Text text;
    ATTUNE_TRY(next(machine, *iterator, item, done));
    if (done)
      break;
    if (self.isEscaped()) {
      ATTUNE_TRY(escape(machine, item, part));
      text = part.str();
    } else if (item.isString()) {
      text = item.str();
    } else {
      return machine.error("sequence item %u: expected str instance, %s found", i, typeName(item.tag));
    }
    if (i)
      ATTUNE_TRY(builder.add(self.str()));
    ATTUNE_TRY(builder.add(text));
  }
  result = builder.value(self.isEscaped());
  return ATTUNE_OK;
}

static attune_status partition(Machine &machine, const Value &self, const Arguments &arguments, bool last, Value &result) {
  Value given[1];
  Text separator, text = self.str();
  Array *parts;
  bool escaped = self.isEscaped();
  ATTUNE_TRY(bind(machine, "partition", "/sep", arguments, given));
  ATTUNE_TRY(wantText(machine, given[0], "partition", separator));
  if (separator.bytes == 0)
    return machine.error("empty separator");
  ATTUNE_TRY(machine.makeArray(3, parts));
  ATTUNE_TRY(machine.charge(text.bytes / 16));
  size_t found;
  ATTUNE_TRY(findEither(machine, text, separator, last, found));
  Text texts[3] = {text, "", ""};
  if (found == SIZE_MAX && last) {
    texts[0] = "";
    texts[2] = text;
  } else if (found != SIZE_MAX) {
    texts[0] = {text.data, found};
    texts[1] = separator;
    texts[2] = text.from(found + separator.bytes);
  }
  for (Text part : texts)
    ATTUNE_TRY(machine.push(*parts, Value::ofText(part, escaped)));
  result = Value::ofArray(Tag::Tuple, parts);
  return ATTUNE_OK;
}

static attune_status removeAffix(Machine &machine, const Value &self, const Arguments &arguments, bool prefix, Value &result) {
  Value given[1];
  Text affix, text = self.str();
  ATTUNE_TRY(bind(machine, "removeprefix", "/prefix", arguments, given));
  ATTUNE_TRY(wantText(machine, given[0], "removeprefix", affix));
  bool has = affix.bytes <= text.bytes && Text(text.data + (prefix ? 0 : text.bytes - affix.bytes), affix.bytes) == affix;
  if (has)
    text = prefix ? text.from(affix.bytes) : Text(text.data, text.bytes - affix.bytes);
  result = Value::ofText(text, self.isEscaped());
  return ATTUNE_OK;
}

/// Returns the number of characters by which |text| is shorter than |width|; 0 or less if it is not shorter.
static int64_t roomIn(int64_t width, Text text) { return (width > 0 ? width : 0) - static_cast<int64_t>(countCharacters(text)); }

/// Implements the methods center, ljust and rjust, for |side| 0, 1 and 2.
static attune_status pad(Machine &machine, const Value &self, const Arguments &arguments, int side, Value &result) {
  Value given[2];
  Text fill = " ";
  int64_t width;
  ATTUNE_TRY(bind(machine, "center", "/width fillchar", arguments, given));
  ATTUNE_TRY(wantInteger(machine, given[0], "center", width));
  if (!given[1].isMissing())
    ATTUNE_TRY(textArgument(machine, self, given[1], "center", fill));
  if (countCharacters(fill) != 1)
    return machine.error("The fill character must be exactly one character long");
  if (side == 0)
    return centerText(machine, self, width, fill, result);
  Value padding;
  int64_t room = roomIn(width, self.str());
  ATTUNE_TRY(arithmetic(machine, Operation::Multiply, Value::ofText(fill, self.isEscaped()), Value::ofInt(room), padding));
  return side == 1 ? add(machine, self, padding, result) : add(machine, padding, self, result);
}

static attune_status zeroFill(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value given[1], zeros;
  int64_t width;
  ATTUNE_TRY(bind(machine, "zfill", "/width", arguments, given));
  ATTUNE_TRY(wantInteger(machine, given[0], "zfill", width));
  int64_t room = roomIn(width, self.str());
  ATTUNE_TRY(arithmetic(machine, Operation::Multiply, Value::ofText("0"), Value::ofInt(room), zeros));
  bool sign = room > 0 && self.bytes && (self.text[0] == '-' || self.text[0] == '+');
  Builder builder(machine);
  ATTUNE_TRY(builder.add({self.text, sign}));
  ATTUNE_TRY(builder.add(zeros.str()));
  ATTUNE_TRY(builder.add(self.str().from(sign)));
  result = builder.value(self.isEscaped());
  return ATTUNE_OK;
}

/// Sets |result| to true if |self| is not empty and |isOne| is true for all its characters, else to false.
static attune_status areAll(Machine &machine, const Value &self, const Arguments &arguments, bool (*isOne)(uint32_t), Value &result) {
  Value none;
  ATTUNE_TRY(bind(machine, "the method", "", arguments, &none));
  ATTUNE_TRY(machine.charge(self.bytes / 8));
  bool all = self.bytes != 0;
  for (size_t i = 0; i < self.bytes && all;)
    all = isOne(decodeUtf8(self.str(), i));
  result = Value::boolean(all);
  return ATTUNE_OK;
}

using Call = attune_status (*)(Machine &, const Value &, const Arguments &, Value &);

/// Implements a method that takes no arguments: fails if there are any, else calls |function|.
template <attune_status (*function)(Machine &, const Value &, Value &)>
static attune_status plain(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value none;
  ATTUNE_TRY(bind(machine, "the method", "", arguments, &none));
  return function(machine, self, result);
}

static bool isAlphanumeric(uint32_t c) { return isAlphabetic(c) || isDecimal(c) || isDigit(c) || isNumeric(c); }
static attune_status isLower(Machine &, const Value &self, Value &result) {
  result = Value::boolean(isLowerText(self.str()));
  return ATTUNE_OK;
}
static attune_status isUpper(Machine &, const Value &self, Value &result) {
  result = Value::boolean(isUpperText(self.str()));
  return ATTUNE_OK;
}
static attune_status isAscii(Machine &, const Value &self, Value &result) {
  bool ascii = true;
  for (uint32_t i = 0; i < self.bytes; ++i)
    ascii &= !(self.text[i] & 0x80);
  result = Value::boolean(ascii);
  return ATTUNE_OK;
}

#define ATTUNE_METHOD(...) [](Machine &m, const Value &self, const Arguments &a, Value &result) -> attune_status { return __VA_ARGS__; }
static const MethodEntry stringMethods[] = {
    {"capitalize", plain<capitalizeText>},
    {"casefold", nullptr},
    {"center", ATTUNE_METHOD(pad(m, self, a, 0, result))},
    {"count", count},
    {"encode", nullptr},
    {"endswith", ATTUNE_METHOD(isAffix(m, self, a, false, result))},
    {"expandtabs", nullptr},
    {"find", ATTUNE_METHOD(search(m, self, a, false, false, result))},
    {"format",
     ATTUNE_METHOD(self.isEscaped() ? m.error("format of escaped text is not supported") : formatBraces(m, self.str(), a, result))},
    {"format_map", nullptr},
    {"index", ATTUNE_METHOD(search(m, self, a, false, true, result))},
    {"isalnum", ATTUNE_METHOD(areAll(m, self, a, isAlphanumeric, result))},
    {"isalpha", ATTUNE_METHOD(areAll(m, self, a, isAlphabetic, result))},
    {"isascii", plain<isAscii>},
    {"isdecimal", ATTUNE_METHOD(areAll(m, self, a, isDecimal, result))},
    {"isdigit", ATTUNE_METHOD(areAll(m, self, a, isDigit, result))},
    {"isidentifier", nullptr},
    {"islower", plain<isLower>},
    {"isnumeric", ATTUNE_METHOD(areAll(m, self, a, isNumeric, result))},
    {"isprintable", nullptr},
    {"isspace", ATTUNE_METHOD(areAll(m, self, a, isSpace, result))},
    {"istitle", nullptr},
    {"isupper", plain<isUpper>},
    {"join", join},
    {"ljust", ATTUNE_METHOD(pad(m, self, a, 1, result))},
    {"lower", plain<lowerText>},
    {"lstrip", ATTUNE_METHOD(strip(m, self, a, true, false, result))},
    {"maketrans", nullptr},
    {"partition", ATTUNE_METHOD(partition(m, self, a, false, result))},
    {"removeprefix", ATTUNE_METHOD(removeAffix(m, self, a, true, result))},
    {"removesuffix", ATTUNE_METHOD(removeAffix(m, self, a, false, result))},
    {"replace", replace},
    {"rfind", ATTUNE_METHOD(search(m, self, a, true, false, result))},
    {"rindex", ATTUNE_METHOD(search(m, self, a, true, true, result))},
    {"rjust", ATTUNE_METHOD(pad(m, self, a, 2, result))},
    {"rpartition", ATTUNE_METHOD(partition(m, self, a, true, result))},
    {"rsplit", ATTUNE_METHOD(splitText(m, self, a, true, result))},
    {"rstrip", ATTUNE_METHOD(strip(m, self, a, false, true, result))},
    {"split", ATTUNE_METHOD(splitText(m, self, a, false, result))},
    {"splitlines",
     [](Machine &m, const Value &self, const Arguments &a, Value &result) -> attune_status {
       Value given[1];
       Array *lines;
       ATTUNE_TRY(bind(m, "splitlines", "keepends", a, given));
       ATTUNE_TRY(splitLines(m, self.str(), isTrue(m, given[0]), self.isEscaped(), lines));
       result = Value::ofArray(Tag::List, lines);
       return ATTUNE_OK;
     }},
    {"startswith", ATTUNE_METHOD(isAffix(m, self, a, true, result))},
    {"strip", ATTUNE_METHOD(strip(m, self, a, true, true, result))},
    {"swapcase", nullptr},
    {"title", plain<titleText>},
    {"translate", nullptr},
    {"upper", plain<upperText>},
    {"zfill", zeroFill},
};
#undef ATTUNE_METHOD

const MethodEntry *chat::findStringMethod(Text name) {
  for (const MethodEntry &entry : stringMethods)
    if (name == entry.name)
      return &entry;
  return nullptr;
}
