//===- Machine.cpp - Memory, text and errors of a rendering ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Unicode.h"

#include <cstdarg>
#include <cstdio>

using namespace attune;
using namespace attune::chat;

attune_status Machine::error(const char *format, ...) {
  char message[900];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  return fail(ATTUNE_INVALID_ARGUMENT, "%s", message);
}

attune_status Machine::outOfMemory() {
  return fail(ATTUNE_OUT_OF_MEMORY, "the conversation needs more than the %zu bytes of memory_bytes", memory.getRoom());
}

attune_status Machine::stepsExceeded() {
  steps = 0;
  return fail(ATTUNE_LIMIT_EXCEEDED, "the template takes more than max_steps steps");
}

attune_status Machine::undefinedError(const Value &value) {
  int length = static_cast<int>(value.bytes < 400 ? value.bytes : 400);
  switch (static_cast<Missed>(value.flag)) {
  case Missed::Name:
    return error("'%.*s' is undefined", length, value.text);
  case Missed::Attribute:
    return error("'%s object' has no attribute '%.*s'", typeName(static_cast<Tag>(value.other)), length, value.text);
  case Missed::Element:
    return error("%s object has no such element", typeName(static_cast<Tag>(value.other)));
  case Missed::Unsafe:
    return error("access to attribute '%.*s' of '%s' object is unsafe", length, value.text, typeName(static_cast<Tag>(value.other)));
  case Missed::Message:
    break;
  }
  return error("%.*s", length, value.text);
}

attune_status Machine::takeText(size_t bytes, char *&result) {
  if (bytes > UINT32_MAX / 2)
    return outOfMemory();
  ATTUNE_TRY(charge(bytes / 64));
  result = static_cast<char *>(memory.take(bytes));
  return result ? ATTUNE_OK : outOfMemory();
}

attune_status Machine::makeArray(size_t capacity, Array *&array) {
  if (capacity > UINT32_MAX / 32)
    return outOfMemory();
  ATTUNE_TRY(take(1, array));
  array->count = 0;
  array->capacity = static_cast<uint32_t>(capacity);
  ATTUNE_TRY(charge(capacity / 8));
  return take(capacity, array->items);
}

/// Makes room for one more element after the |count| of |elements|: if |count| is |capacity|, moves them to a larger
/// array and sets |capacity| to its capacity.
template <typename T>
static attune_status grow(Machine &machine, T *&elements, uint32_t count, uint32_t &capacity) {
  if (count < capacity)
    return ATTUNE_OK;
  uint32_t wanted = capacity < 4 ? 4 : capacity * 2;
  if (wanted > UINT32_MAX / (2 * sizeof(T)))
    return machine.outOfMemory();
  T *moved;
  ATTUNE_TRY(machine.take(wanted, moved));
  if (count)
    memcpy(static_cast<void *>(moved), elements, count * sizeof(T));
  elements = moved;
  capacity = wanted;
  return ATTUNE_OK;
}

attune_status Machine::push(Array &array, const Value &value) {
  ATTUNE_TRY(charge(1));
  ATTUNE_TRY(grow(*this, array.items, array.count, array.capacity));
  array.items[array.count++] = value;
  return ATTUNE_OK;
}

attune_status Machine::makeTable(size_t capacity, Table *&table) {
  if (capacity > UINT32_MAX / 64)
    return outOfMemory();
  ATTUNE_TRY(take(1, table));
  table->count = 0;
  table->capacity = static_cast<uint32_t>(capacity);
  return take(capacity, table->pairs);
}

attune_status Machine::set(Table &table, const Value &key, const Value &value) {
  Pair *pair;
  ATTUNE_TRY(chat::find(*this, table, key, pair));
  if (pair) {
    pair->value = value;
    return ATTUNE_OK;
  }
  ATTUNE_TRY(grow(*this, table.pairs, table.count, table.capacity));
  table.pairs[table.count].key = key;
  table.pairs[table.count++].value = value;
  return ATTUNE_OK;
}

attune_status Machine::makePair(const Value &first, const Value &second, Value &result) {
  Array *array;
  ATTUNE_TRY(makeArray(2, array));
  array->items[0] = first;
  array->items[1] = second;
  array->count = 2;
  result = Value::ofArray(Tag::Tuple, array);
  return ATTUNE_OK;
}

attune_status Machine::copyText(Text text, Value &result, bool escaped) {
  char *data;
  ATTUNE_TRY(takeText(text.bytes, data));
  if (text.bytes)
    memcpy(data, text.data, text.bytes);
  result = Value::ofText({data, text.bytes}, escaped);
  return ATTUNE_OK;
}

attune_status Machine::write(Text text) {
  // One byte of the output stays free for the NUL after the text.
  if (text.bytes >= output.limit - output.bytes)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the text has more than the %zu bytes of output_bytes", output.limit - 1);
  ATTUNE_TRY(charge(text.bytes / 64));
  if (text.bytes)
    memcpy(output.data + output.bytes, text.data, text.bytes);
  output.bytes += text.bytes;
  return ATTUNE_OK;
}

attune_status Machine::makeFrame(uint32_t function, Frame *outer, Frame *&frame) {
  uint32_t count = program.functions[function].num_slots;
  ATTUNE_TRY(take(1, frame));
  frame->outer = outer;
  frame->numSlots = count;
  ATTUNE_TRY(charge(count / 8));
  ATTUNE_TRY(take(count, frame->slots));
  for (uint32_t i = 0; i < count; ++i)
    frame->slots[i] = Value();
  return ATTUNE_OK;
}

attune_status Builder::add(Text more) {
  if (more.bytes > capacity - bytes) {
    size_t missing = more.bytes - (capacity - bytes);
    if (data && machine.memory.extend(data + capacity, missing)) {
      capacity += missing;
    } else {
      size_t wanted = bytes + more.bytes;
      wanted += wanted / 2 + 32;
      char *moved;
      ATTUNE_TRY(machine.takeText(wanted, moved));
      if (bytes)
        memcpy(moved, data, bytes);
      data = moved;
      capacity = wanted;
    }
  }
  ATTUNE_TRY(machine.charge(more.bytes / 64));
  if (more.bytes)
    memcpy(data + bytes, more.data, more.bytes);
  bytes += more.bytes;
  return bytes > UINT32_MAX / 2 ? machine.outOfMemory() : ATTUNE_OK;
}

attune_status Builder::addCharacter(uint32_t character) {
  char buffer[4];
  return add(Text(buffer, encodeUtf8(character, buffer)));
}
