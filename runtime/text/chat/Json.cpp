//===- Json.cpp - The filter tojson ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The filter tojson as transformers defines it in place of Jinja2's own: Python's json.dumps, with ensure_ascii false
// by default.
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Unicode.h"

#include <cmath>
#include <cstdio>

using namespace attune;
using namespace attune::chat;

namespace {
class JsonWriter {
public:
  JsonWriter(Machine &machine, Builder &builder) : machine(machine), builder(builder) {}
  bool ensureAscii = false, sortKeys = false, lines = false;
  Text indent, itemSeparator = ", ", keySeparator = ": ";

  attune_status write(const Value &value, unsigned depth);

private:
  Machine &machine;
  Builder &builder;

  attune_status writeText(Text text);
  attune_status writeNumber(double number);
  attune_status writeTable(const Table &table, unsigned depth);
  attune_status newLine(unsigned depth);
};
} // namespace

attune_status JsonWriter::newLine(unsigned depth) {
  if (!lines)
    return ATTUNE_OK;
  ATTUNE_TRY(builder.add('\n'));
  for (unsigned i = 0; i < depth; ++i)
    ATTUNE_TRY(builder.add(indent));
  return ATTUNE_OK;
}

attune_status JsonWriter::writeText(Text text) {
  ATTUNE_TRY(machine.charge(text.bytes / 8));
  ATTUNE_TRY(builder.add('"'));
  for (size_t i = 0; i < text.bytes;) {
    size_t begin = i;
    uint32_t character = decodeUtf8(text, i);
    char escape[16];
    const char *name = character == '"'    ? "\\\""
                       : character == '\\' ? "\\\\"
                       : character == '\n' ? "\\n"
                       : character == '\r' ? "\\r"
                       : character == '\t' ? "\\t"
                       : character == '\f' ? "\\f"
                       : character == '\b' ? "\\b"
                                           : nullptr;
    if (name) {
      ATTUNE_TRY(builder.add(name));
    } else if (character >= 0x20 && (character < 0x7F || !ensureAscii)) {
      ATTUNE_TRY(builder.add({text.data + begin, i - begin}));
    } else {
      if (character < 0x10000)
        snprintf(escape, sizeof(escape), "\\u%04x", character);
      else
        snprintf(escape, sizeof(escape), "\\u%04x\\u%04x", 0xD800 + ((character - 0x10000) >> 10),
                 0xDC00 + ((character - 0x10000) & 0x3FF));
      ATTUNE_TRY(builder.add(escape));
    }
  }
  return builder.add('"');
}

attune_status JsonWriter::writeNumber(double number) {
  if (std::isnan(number))
    return builder.add("NaN");
  if (std::isinf(number))
    return builder.add(number < 0 ? "-Infinity" : "Infinity");
  NumberText text;
  formatFloat(number, text);
  return builder.add(text);
}

attune_status JsonWriter::writeTable(const Table &table, unsigned depth) {
  if (table.count == 0)
    return builder.add("{}");
  Value *keys = nullptr, *values = nullptr;
  ATTUNE_TRY(machine.take(table.count, keys));
  ATTUNE_TRY(machine.take(table.count, values));
  for (uint32_t i = 0; i < table.count; ++i) {
    keys[i] = table.pairs[i].key;
    values[i] = table.pairs[i].value;
  }
  if (sortKeys)
    ATTUNE_TRY(sortBy(machine, values, keys, table.count, false));
  ATTUNE_TRY(builder.add('{'));
  for (uint32_t i = 0; i < table.count; ++i) {
    if (i)
      ATTUNE_TRY(builder.add(itemSeparator));
    ATTUNE_TRY(newLine(depth + 1));
    const Value &key = keys[i];
    if (key.isString()) {
      ATTUNE_TRY(writeText(key.str()));
    } else if (key.isNumber() || key.is(Tag::None)) {
      ATTUNE_TRY(builder.add('"'));
      ATTUNE_TRY(write(key, depth + 1));
      ATTUNE_TRY(builder.add('"'));
    } else {
      return machine.error("keys must be str, int, float, bool or None, not %s", typeName(key.tag));
    }
    ATTUNE_TRY(builder.add(keySeparator));
    ATTUNE_TRY(write(values[i], depth + 1));
  }
  ATTUNE_TRY(newLine(depth));
  return builder.add('}');
}

attune_status JsonWriter::write(const Value &value, unsigned depth) {
  constexpr unsigned MaxNesting = 200;
  if (depth > MaxNesting)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the template prints values that are nested more than %u deep", MaxNesting);
  ATTUNE_TRY(machine.charge(1));
  NumberText number;
  switch (value.tag) {
  case Tag::None:
    return builder.add("null");
  case Tag::Bool:
    return builder.add(value.integer ? "true" : "false");
  case Tag::Int:
    formatInt(value.integer, number);
    return builder.add(number);
  case Tag::Float:
    return writeNumber(value.number);
  case Tag::String:
    return writeText(value.str());
  case Tag::List:
  case Tag::Tuple:
    if (value.array->count == 0)
      return builder.add("[]");
    ATTUNE_TRY(builder.add('['));
    for (uint32_t i = 0; i < value.array->count; ++i) {
      if (i)
        ATTUNE_TRY(builder.add(itemSeparator));
      ATTUNE_TRY(newLine(depth + 1));
      ATTUNE_TRY(write(value.array->items[i], depth + 1));
    }
    ATTUNE_TRY(newLine(depth));
    return builder.add(']');
  case Tag::Dict:
    return writeTable(*value.table, depth);
  default:
    return machine.error("Object of type %s is not JSON serializable", typeName(value.tag));
  }
}

attune_status chat::toJson(Machine &machine, const Value &value, const Value &ensureAscii, const Value &indent, const Value &separators,
                           const Value &sortKeys, Value &result) {
  Builder builder(machine);
  JsonWriter writer(machine, builder);
  writer.ensureAscii = isTrue(machine, ensureAscii);
  writer.sortKeys = isTrue(machine, sortKeys);
  if (indent.isString()) {
    writer.lines = true;
    writer.indent = indent.str();
  } else if (indent.isInteger()) {
    static const char blanks[] = "                                                                ";
    writer.lines = true;
    if (indent.integer > 64)
      return machine.error("tojson: expected an indent of at most 64, got %lld", static_cast<long long>(indent.integer));
    writer.indent = {blanks, indent.integer > 0 ? static_cast<size_t>(indent.integer) : 0};
  } else if (!indent.isMissing() && !indent.is(Tag::None)) {
    return machine.error("tojson: expected an indent of type int or str, got %s", typeName(indent.tag));
  }
  if (writer.lines)
    writer.itemSeparator = ",";
  if (!separators.isMissing() && !separators.is(Tag::None)) {
    if (!separators.isArray() || separators.array->count != 2 || !separators.array->items[0].isString() ||
        !separators.array->items[1].isString())
      return machine.error("tojson: expected two strings as separators");
    writer.itemSeparator = separators.array->items[0].str();
    writer.keySeparator = separators.array->items[1].str();
  }
  ATTUNE_TRY(writer.write(value, 0));
  result = builder.value();
  return ATTUNE_OK;
}
