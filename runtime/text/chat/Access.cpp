//===- Access.cpp - Attributes, items and slices of chat templates --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes and items. `x.name` finds an attribute or method first, then an item; `x[name]` finds an item first. A
// missing attribute or item is an undefined value. So is a method that would change a list or dictionary: a call of it
// fails with the message that the access is unsafe.
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Unicode.h"

using namespace attune;
using namespace attune::chat;

/// Sets |result| to attribute |name| of |loop|; leaves |result| if there is none.
static attune_status loopAttribute(Machine &machine, Loop &loop, Text name, Value &result) {
  int64_t length;
  if (name == "index" || name == "index0") {
    result = Value::ofInt(loop.index + (name == "index"));
  } else if (name == "first") {
    result = Value::boolean(loop.index == 0);
  } else if (name == "depth" || name == "depth0") {
    result = Value::ofInt(name == "depth");
  } else if (name == "last" || name == "nextitem") {
    ATTUNE_TRY(loopPeek(machine, loop));
    result = name == "last"           ? Value::boolean(loop.after.isMissing())
             : loop.after.isMissing() ? Value::undefined(Missed::Message, "there is no next item")
                                      : loop.after;
  } else if (name == "previtem") {
    result = loop.index == 0 ? Value::undefined(Missed::Message, "there is no previous item") : loop.before;
  } else if (name == "length" || name == "revindex" || name == "revindex0") {
    ATTUNE_TRY(loopLength(machine, loop, length));
    result = Value::ofInt(name == "length" ? length : length - loop.index - (name == "revindex0"));
  }
  return ATTUNE_OK;
}

static attune_status macroAttribute(Machine &machine, const Macro &macro, Text name, Value &result) {
  const Program &program = machine.program;
  const attune_chat_function &function = program.functions[macro.function];
  if (name == "name")
    result = program.constant(function.name);
  else if (name == "caller" || name == "catch_kwargs" || name == "catch_varargs")
    result = Value::boolean(function.flags & (name == "caller"         ? ATTUNE_CHAT_TAKES_CALLER
                                              : name == "catch_kwargs" ? ATTUNE_CHAT_TAKES_KEYWORDS
                                                                       : ATTUNE_CHAT_TAKES_MORE));
  if (name != "arguments")
    return ATTUNE_OK;
  Array *names;
  ATTUNE_TRY(machine.makeArray(function.num_parameters, names));
  for (uint32_t i = 0; i < function.num_parameters; ++i)
    ATTUNE_TRY(machine.push(*names, program.constant(program.names[function.first_name + i])));
  result = Value::ofArray(Tag::Tuple, names);
  return ATTUNE_OK;
}

/// Returns true if |name| is a method of values of |tag| that changes a list or dictionary.
static bool isChange(Tag tag, Text name) {
  static const char *const ofLists[] = {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"};
  static const char *const ofDicts[] = {"clear", "pop", "popitem", "setdefault", "update"};
  if (tag == Tag::List)
    for (const char *change : ofLists)
      if (name == change)
        return true;
  if (tag == Tag::Dict)
    for (const char *change : ofDicts)
      if (name == change)
        return true;
  return false;
}

/// Returns true for names such as `__class__`, which the sandbox of Jinja2 hides.
static bool isInternal(Text name) {
  return name.bytes > 4 && memcmp(name.data, "__", 2) == 0 && memcmp(name.data + name.bytes - 2, "__", 2) == 0;
}

/// Sets |result| to attribute |name| of |object|, as Python's getattr finds it, or to Missing if there is none. An
/// attribute that the sandbox forbids is an undefined value.
static attune_status ownAttribute(Machine &machine, const Value &object, Text name, Value &result) {
  result = Value();
  if (isInternal(name)) {
    result = Value::undefined(Missed::Unsafe, name, object.tag);
    return ATTUNE_OK;
  }
  switch (object.tag) {
  case Tag::Namespace:
    if (Pair *pair = find(*object.table, name))
      result = pair->value;
    return machine.charge(object.table->count / 4);
  case Tag::Loop:
    ATTUNE_TRY(loopAttribute(machine, *object.loop, name, result));
    break;
  case Tag::Macro:
    return macroAttribute(machine, *object.macro, name, result);
  case Tag::Cycler:
    if (name == "current")
      result = object.array->items[1 + object.array->items[0].integer];
    break;
  default:
    break;
  }
  if (isChange(object.tag, name)) {
    result = Value::undefined(Missed::Unsafe, name, object.tag);
    return ATTUNE_OK;
  }
  if (!result.isMissing())
    return ATTUNE_OK;
  const MethodEntry *entry = findMethod(object.tag, name);
  if (!entry)
    return ATTUNE_OK;
  Method *method;
  ATTUNE_TRY(machine.take(1, method));
  *method = {object, entry};
  result = Value::ofTag(Tag::Method);
  result.method = method;
  return ATTUNE_OK;
}

/// Sets |result| to object[key] as Python finds it, or to Missing if there is none.
static attune_status ownItem(Machine &machine, const Value &object, const Value &key, Value &result) {
  result = Value();
  if (object.is(Tag::Dict)) {
    if (!isHashable(key))
      return ATTUNE_OK;
    Pair *pair;
    ATTUNE_TRY(find(machine, *object.table, key, pair));
    if (pair)
      result = pair->value;
    return ATTUNE_OK;
  }
  if (!key.isInteger())
    return ATTUNE_OK;
  int64_t length = object.isString() || object.isArray() || object.is(Tag::Range) ? lengthOf(object) : 0;
  int64_t index = key.integer < 0 ? key.integer + length : key.integer;
  if (index < 0 || index >= length)
    return ATTUNE_OK;
  if (object.isArray()) {
    result = object.array->items[index];
  } else if (object.is(Tag::Range)) {
    result = Value::ofInt(object.range->at(index));
  } else {
    ATTUNE_TRY(machine.charge(object.bytes / 16));
    size_t begin = characterOffset(object.str(), static_cast<size_t>(index)), end = begin;
    decodeUtf8(object.str(), end);
    result = Value::ofText({object.text + begin, end - begin}, object.isEscaped());
  }
  return ATTUNE_OK;
}

attune_status chat::getAttribute(Machine &machine, const Value &object, Text name, Value &result) {
  if (object.isUndefined() && !isInternal(name))
    return machine.undefinedError(object);
  ATTUNE_TRY(ownAttribute(machine, object, name, result));
  if (result.isMissing())
    ATTUNE_TRY(ownItem(machine, object, Value::ofText(name), result));
  if (result.isMissing())
    result = Value::undefined(Missed::Attribute, name, object.tag);
  return ATTUNE_OK;
}

attune_status chat::getItem(Machine &machine, const Value &object, const Value &key, Value &result) {
  if (object.isUndefined())
    return machine.undefinedError(object);
  ATTUNE_TRY(ownItem(machine, object, key, result));
  if (result.isMissing() && key.isString())
    ATTUNE_TRY(ownAttribute(machine, object, key.str(), result));
  if (result.isMissing())
    result =
        key.isString() ? Value::undefined(Missed::Attribute, key.str(), object.tag) : Value::undefined(Missed::Element, "", object.tag);
  return ATTUNE_OK;
}

/// Sets |limit| to |value|, a limit of a slice, or to |fallback| if |value| is None. Fails if |value| is neither None
/// nor an integer.
static attune_status sliceLimit(Machine &machine, const Value &value, int64_t fallback, int64_t &limit) {
  limit = fallback;
  if (value.is(Tag::None))
    return ATTUNE_OK;
  if (!value.isInteger())
    return machine.error("slice indices must be integers or None, not %s", typeName(value.tag));
  limit = value.integer;
  return ATTUNE_OK;
}

/// Sets |limit| to item |index| of |range|. The |index| -1 gives the first item less the step, and range.count the last
/// item plus the step. Returns false if |limit| would have more than 64 bits.
static bool rangeLimit(const Range &range, int64_t index, int64_t &limit) {
  if (index < 0)
    return !__builtin_sub_overflow(range.start, range.step, &limit);
  if (index > 0 && index == range.count)
    return !__builtin_add_overflow(range.at(index - 1), range.step, &limit);
  limit = range.at(index);
  return true;
}

attune_status chat::getSlice(Machine &machine, const Value &object, const Value &start, const Value &stop, const Value &step,
                             Value &result) {
  if (object.isUndefined())
    return machine.undefinedError(object);
  if (!object.isString() && !object.isArray() && !object.is(Tag::Range))
    return machine.error("'%s' object cannot be sliced", typeName(object.tag));
  int64_t length = lengthOf(object), by, from, to;
  ATTUNE_TRY(sliceLimit(machine, step, 1, by));
  if (by == 0)
    return machine.error("slice step cannot be zero");
  if (by == INT64_MIN)
    by = -INT64_MAX;
  ATTUNE_TRY(sliceLimit(machine, start, by < 0 ? length - 1 : 0, from));
  ATTUNE_TRY(sliceLimit(machine, stop, by < 0 ? -1 : length, to));
  auto clamp = [&](int64_t &limit, const Value &given) {
    if (given.is(Tag::None))
      return;
    if (limit < 0)
      limit += length;
    int64_t least = by < 0 ? -1 : 0, most = by < 0 ? length - 1 : length;
    limit = limit < least ? least : limit > most ? most : limit;
  };
  clamp(from, start);
  clamp(to, stop);
  uint64_t span = by > 0 ? (to > from ? static_cast<uint64_t>(to - from) : 0) : from > to ? static_cast<uint64_t>(from - to) : 0;
  auto distance = static_cast<uint64_t>(by > 0 ? by : -by);
  auto count = static_cast<int64_t>(span ? (span - 1) / distance + 1 : 0);
  if (object.is(Tag::Range)) {
    Range *range;
    ATTUNE_TRY(machine.take(1, range));
    const Range &whole = *object.range;
    if (__builtin_mul_overflow(whole.step, by, &range->step) || !rangeLimit(whole, from, range->start) ||
        !rangeLimit(whole, to, range->stop))
      return fail(ATTUNE_LIMIT_EXCEEDED, "the template computes an integer of more than 64 bits");
    range->count = count;
    result = Value::ofTag(Tag::Range);
    result.range = range;
    return ATTUNE_OK;
  }
  if (object.isArray()) {
    Array *array;
    ATTUNE_TRY(machine.makeArray(static_cast<size_t>(count), array));
    for (int64_t i = 0; i < count; ++i)
      array->items[i] = object.array->items[from + i * by];
    array->count = static_cast<uint32_t>(count);
    result = Value::ofArray(object.tag, array);
    return ATTUNE_OK;
  }
  ATTUNE_TRY(machine.charge(object.bytes / 16));
  Text text = object.str();
  if (by == 1) {
    size_t begin = characterOffset(text, static_cast<size_t>(from));
    size_t bytes = count ? characterOffset(text.from(begin), static_cast<size_t>(count)) : 0;
    result = Value::ofText({text.data + begin, bytes}, object.isEscaped());
    return ATTUNE_OK;
  }
  Builder builder(machine);
  bool bytewise = static_cast<size_t>(length) == text.bytes;
  size_t offset = 0;
  if (count && !bytewise)
    offset = characterOffset(text, static_cast<size_t>(from));
  for (int64_t i = 0; i < count; ++i) {
    size_t begin = bytewise ? static_cast<size_t>(from + i * by) : offset, end = begin;
    decodeUtf8(text, end);
    ATTUNE_TRY(builder.add({text.data + begin, end - begin}));
    if (bytewise || i + 1 == count)
      continue;
    ATTUNE_TRY(machine.charge(distance / 16 + 1));
    for (uint64_t skip = 0; skip < distance; ++skip) {
      if (by > 0)
        decodeUtf8(text, offset);
      else
        previousCharacter(text, offset);
    }
  }
  result = builder.value(object.isEscaped());
  return ATTUNE_OK;
}

attune_status chat::getPath(Machine &machine, const Value &object, const Value &path, const Value &fallback, Value &result) {
  result = object;
  auto step = [&](const Value &part) {
    Value item;
    ATTUNE_TRY(getItem(machine, result, part, item));
    result = item.isUndefined() && !fallback.isMissing() && !fallback.is(Tag::None) ? fallback : item;
    return ATTUNE_OK;
  };
  if (path.isMissing() || path.is(Tag::None))
    return ATTUNE_OK;
  if (!path.isString())
    return step(path);
  Text text = path.str();
  for (size_t begin = 0; begin <= text.bytes;) {
    size_t end = begin;
    bool digitsOnly = true;
    int64_t number = 0;
    for (; end < text.bytes && text.data[end] != '.'; ++end) {
      bool digit = text.data[end] >= '0' && text.data[end] <= '9';
      digitsOnly &= digit;
      if (digit && number < INT32_MAX)
        number = number * 10 + (text.data[end] - '0');
    }
    Value part = digitsOnly && end > begin ? Value::ofInt(number) : Value::ofText({text.data + begin, end - begin});
    ATTUNE_TRY(step(part));
    begin = end + 1;
  }
  return ATTUNE_OK;
}
