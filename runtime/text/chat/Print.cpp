//===- Print.cpp - Values as text -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Unicode.h"

#include <cstdio>

using namespace attune;
using namespace attune::chat;

/// The largest number of values that may enclose a value that is printed.
static constexpr unsigned MaxNesting = 200;

/// Appends |text| as Python's repr writes a string: in quotes, with escape sequences.
static attune_status representText(Machine &machine, Text text, Builder &builder) {
  bool single = text.bytes && memchr(text.data, '\'', text.bytes), twofold = text.bytes && memchr(text.data, '"', text.bytes);
  char quote = single && !twofold ? '"' : '\'';
  ATTUNE_TRY(machine.charge(text.bytes / 8));
  ATTUNE_TRY(builder.add(quote));
  for (size_t i = 0; i < text.bytes;) {
    size_t begin = i;
    uint32_t character = decodeUtf8(text, i);
    char escape[16];
    if (character == static_cast<unsigned char>(quote) || character == '\\')
      snprintf(escape, sizeof(escape), "\\%c", static_cast<char>(character));
    else if (character == '\n')
      snprintf(escape, sizeof(escape), "\\n");
    else if (character == '\r')
      snprintf(escape, sizeof(escape), "\\r");
    else if (character == '\t')
      snprintf(escape, sizeof(escape), "\\t");
    else if (isPrintable(character)) {
      ATTUNE_TRY(builder.add({text.data + begin, i - begin}));
      continue;
    } else
      snprintf(escape, sizeof(escape), character < 0x100 ? "\\x%02x" : character < 0x10000 ? "\\u%04x" : "\\U%08x", character);
    ATTUNE_TRY(builder.add(escape));
  }
  return builder.add(quote);
}

static attune_status representItems(Machine &machine, const Array &array, const char *open, const char *close, Builder &builder,
                                    unsigned depth) {
  ATTUNE_TRY(builder.add(open));
  for (uint32_t i = 0; i < array.count; ++i) {
    if (i)
      ATTUNE_TRY(builder.add(", "));
    ATTUNE_TRY(represent(machine, array.items[i], builder, depth + 1));
  }
  return builder.add(close);
}

static attune_status representTable(Machine &machine, const Table &table, Builder &builder, unsigned depth) {
  ATTUNE_TRY(builder.add("{"));
  for (uint32_t i = 0; i < table.count; ++i) {
    if (i)
      ATTUNE_TRY(builder.add(", "));
    ATTUNE_TRY(represent(machine, table.pairs[i].key, builder, depth + 1));
    ATTUNE_TRY(builder.add(": "));
    ATTUNE_TRY(represent(machine, table.pairs[i].value, builder, depth + 1));
  }
  return builder.add("}");
}

static attune_status representView(Machine &machine, const Value &value, Builder &builder, unsigned depth) {
  static const char *const names[] = {"dict_items([", "dict_keys([", "dict_values(["};
  ATTUNE_TRY(builder.add(names[value.flag]));
  for (uint32_t i = 0; i < value.table->count; ++i) {
    const Pair &pair = value.table->pairs[i];
    bool items = value.flag == static_cast<uint8_t>(ViewKind::Items);
    if (i)
      ATTUNE_TRY(builder.add(", "));
    if (items)
      ATTUNE_TRY(builder.add("("));
    if (value.flag != static_cast<uint8_t>(ViewKind::Values))
      ATTUNE_TRY(represent(machine, pair.key, builder, depth + 1));
    if (items)
      ATTUNE_TRY(builder.add(", "));
    if (value.flag != static_cast<uint8_t>(ViewKind::Keys))
      ATTUNE_TRY(represent(machine, pair.value, builder, depth + 1));
    if (items)
      ATTUNE_TRY(builder.add(")"));
  }
  return builder.add("])");
}

attune_status chat::represent(Machine &machine, const Value &value, Builder &builder, unsigned depth) {
  if (depth > MaxNesting)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the template prints values that are nested more than %u deep", MaxNesting);
  ATTUNE_TRY(machine.charge(1));
  NumberText number;
  switch (value.tag) {
  case Tag::Undefined:
    return builder.add("Undefined");
  case Tag::None:
    return builder.add("None");
  case Tag::Bool:
    return builder.add(value.integer ? "True" : "False");
  case Tag::Int:
    formatInt(value.integer, number);
    return builder.add(number);
  case Tag::Float:
    formatFloat(value.number, number);
    return builder.add(number);
  case Tag::String:
    if (!value.isEscaped())
      return representText(machine, value.str(), builder);
    ATTUNE_TRY(builder.add("Markup("));
    ATTUNE_TRY(representText(machine, value.str(), builder));
    return builder.add(")");
  case Tag::List:
    return representItems(machine, *value.array, "[", "]", builder, depth);
  case Tag::Tuple:
    return representItems(machine, *value.array, "(", value.array->count == 1 ? ",)" : ")", builder, depth);
  case Tag::Dict:
    return representTable(machine, *value.table, builder, depth);
  case Tag::Namespace:
    ATTUNE_TRY(builder.add("<Namespace "));
    ATTUNE_TRY(representTable(machine, *value.table, builder, depth));
    return builder.add(">");
  case Tag::Range: {
    const Range &range = *value.range;
    snprintf(number, sizeof(number), range.step == 1 ? "range(%lld, %lld)" : "range(%lld, %lld, %lld)", static_cast<long long>(range.start),
             static_cast<long long>(range.stop), static_cast<long long>(range.step));
    return builder.add(number);
  }
  case Tag::View:
    return representView(machine, value, builder, depth);
  case Tag::Loop: {
    int64_t length;
    ATTUNE_TRY(loopLength(machine, *value.loop, length));
    snprintf(number, sizeof(number), "<LoopContext %lld/%lld>", static_cast<long long>(value.loop->index + 1),
             static_cast<long long>(length));
    return builder.add(number);
  }
  case Tag::Macro: {
    Text name = machine.program.name(machine.program.functions[value.macro->function].name);
    if (name.bytes == 0)
      return builder.add("<Macro anonymous>");
    ATTUNE_TRY(builder.add("<Macro "));
    ATTUNE_TRY(representText(machine, name, builder));
    return builder.add(">");
  }
  default:
    return machine.error("a %s cannot be printed: its text would differ from run to run", typeName(value.tag));
  }
}

attune_status chat::print(Machine &machine, const Value &value, Builder &builder) {
  if (value.isString())
    return builder.add(value.str());
  if (value.isUndefined())
    return ATTUNE_OK;
  return represent(machine, value, builder);
}

attune_status chat::toText(Machine &machine, const Value &value, Value &result) {
  if (value.isString()) {
    result = value;
    return ATTUNE_OK;
  }
  Builder builder(machine);
  ATTUNE_TRY(print(machine, value, builder));
  result = builder.value();
  return ATTUNE_OK;
}

attune_status chat::escape(Machine &machine, const Value &value, Value &result) {
  if (value.isEscaped()) {
    result = value;
    return ATTUNE_OK;
  }
  Value text;
  ATTUNE_TRY(toText(machine, value, text));
  ATTUNE_TRY(machine.charge(text.bytes / 16));
  Builder builder(machine);
  size_t begin = 0;
  for (size_t i = 0; i < text.bytes; ++i) {
    const char *entity = nullptr;
    switch (text.text[i]) {
    case '&':
      entity = "&amp;";
      break;
    case '<':
      entity = "&lt;";
      break;
    case '>':
      entity = "&gt;";
      break;
    case '\'':
      entity = "&#39;";
      break;
    case '"':
      entity = "&#34;";
      break;
    default:
      continue;
    }
    ATTUNE_TRY(builder.add({text.text + begin, i - begin}));
    ATTUNE_TRY(builder.add(entity));
    begin = i + 1;
  }
  ATTUNE_TRY(builder.add({text.text + begin, text.bytes - begin}));
  result = builder.value(true);
  return ATTUNE_OK;
}
