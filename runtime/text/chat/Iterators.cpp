//===- Iterators.cpp - Sequences of chat templates ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterators and generators. The filters map, select, reject, selectattr, rejectattr, items, unique, batch and slice
// compute their items on demand, like Python's generators. So an item that is not requested raises no error, and a
// generator returns each item once.
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Unicode.h"

using namespace attune;
using namespace attune::chat;

int64_t chat::lengthOf(const Value &value) {
  switch (value.tag) {
  case Tag::Undefined:
    return 0;
  case Tag::String:
    return static_cast<int64_t>(countCharacters(value.str()));
  case Tag::List:
  case Tag::Tuple:
    return value.array->count;
  case Tag::Dict:
  case Tag::View:
    return value.table->count;
  case Tag::Range:
    return value.range->count;
  default:
    return -1;
  }
}

bool chat::isIterable(const Value &value) { return value.is(Tag::Iterator) || lengthOf(value) >= 0; }

attune_status chat::iterate(Machine &machine, const Value &value, Iterator *&iterator) {
  if (value.is(Tag::Iterator)) {
    iterator = value.iterator;
    return ATTUNE_OK;
  }
  if (value.is(Tag::Loop))
    return machine.error("the items of the variable 'loop' are not supported");
  if (!isIterable(value))
    return machine.error("'%s' object is not iterable", typeName(value.tag));
  ATTUNE_TRY(machine.take(1, iterator));
  *iterator = Iterator{IteratorKind::Empty, ViewKind::Items, 0, 0, {nullptr}};
  switch (value.tag) {
  case Tag::String:
    iterator->kind = IteratorKind::Characters;
    iterator->text = value.text;
    iterator->bytes = value.bytes;
    iterator->view = value.isEscaped() ? ViewKind::Keys : ViewKind::Items;
    break;
  case Tag::List:
  case Tag::Tuple:
    iterator->kind = IteratorKind::Array;
    iterator->array = value.array;
    break;
  case Tag::Dict:
    iterator->kind = IteratorKind::Keys;
    iterator->table = value.table;
    break;
  case Tag::View:
    iterator->kind = IteratorKind::View;
    iterator->view = static_cast<ViewKind>(value.flag);
    iterator->table = value.table;
    break;
  case Tag::Range:
    iterator->kind = IteratorKind::Range;
    iterator->range = value.range;
    break;
  default:
    break;
  }
  return ATTUNE_OK;
}

/// Sets |item| to element |index| of the view |view| of |table|.
static attune_status viewItem(Machine &machine, const Table &table, ViewKind view, uint32_t index, Value &item) {
  const Pair &pair = table.pairs[index];
  if (view == ViewKind::Items)
    return machine.makePair(pair.key, pair.value, item);
  item = view == ViewKind::Keys ? pair.key : pair.value;
  return ATTUNE_OK;
}

/// Sets |result| to true if |generator|, of kind Select, keeps |item|, else to false. The generator tests |item|, or
/// the attribute of |item| at |path| if |byAttribute| is set. If |target| is NoTarget, the value passes if it is true.
/// If |reject| is set, the generator keeps the items that do not pass.
static attune_status selects(Machine &machine, const Generator &generator, const Value &item, bool &result) {
  Value subject = item;
  if (generator.byAttribute)
    ATTUNE_TRY(getPath(machine, item, generator.path, Value(), subject));
  if (generator.target == NoTarget)
    result = isTrue(machine, subject);
  else
    ATTUNE_TRY(applyTest(machine, generator.target, subject, generator.arguments, result));
  result = result != generator.reject;
  return ATTUNE_OK;
}

static attune_status nextUnique(Machine &machine, Generator &generator, Value &item, bool &done) {
  for (;;) {
    ATTUNE_TRY(next(machine, *generator.source, item, done));
    if (done)
      return ATTUNE_OK;
    Value key;
    ATTUNE_TRY(getPath(machine, item, generator.path, Value(), key));
    if (key.isString() && !generator.caseSensitive) {
      uint16_t lower;
      findFilter("lower", lower);
      Value lowered;
      ATTUNE_TRY(applyFilter(machine, lower, key, {}, lowered));
      key = lowered;
    }
    if (!isHashable(key))
      return machine.error("unhashable type: '%s'", typeName(key.tag));
    bool seen = false;
    for (uint32_t i = 0; i < generator.seen->count && !seen; ++i)
      ATTUNE_TRY(equals(machine, generator.seen->items[i], key, seen));
    if (!seen)
      return machine.push(*generator.seen, key);
  }
}

/// Sets |item| to the next list of items of `batch` or `slice`, or |done| to true after the last list.
static attune_status nextPart(Machine &machine, Generator &generator, Value &item, bool &done) {
  Array *part;
  ATTUNE_TRY(machine.makeArray(0, part));
  bool fills = !generator.fill.isMissing() && !generator.fill.is(Tag::None);
  if (generator.kind == GeneratorKind::Slice) {
    // start has collected the items in |seen|.
    int64_t length = generator.seen->count, each = length / generator.count, extra = length % generator.count;
    if ((done = generator.index >= generator.count))
      return ATTUNE_OK;
    int64_t index = generator.index++;
    int64_t begin = index * each + (index < extra ? index : extra), end = begin + each + (index < extra);
    for (int64_t i = begin; i < end; ++i)
      ATTUNE_TRY(machine.push(*part, generator.seen->items[i]));
    if (fills && index >= extra)
      ATTUNE_TRY(machine.push(*part, generator.fill));
  } else {
    // A list never reaches a negative number of items, so all items go into one list.
    while (generator.count != static_cast<int64_t>(part->count)) {
      Value next;
      ATTUNE_TRY(chat::next(machine, *generator.source, next, done));
      if (done)
        break;
      ATTUNE_TRY(machine.push(*part, next));
    }
    if ((done = part->count == 0))
      return ATTUNE_OK;
    if (fills)
      for (int64_t i = part->count; i < generator.count; ++i)
        ATTUNE_TRY(machine.push(*part, generator.fill));
  }
  item = Value::ofArray(Tag::List, part);
  return ATTUNE_OK;
}

/// Runs the condition of a loop for |item|. The condition is a function that returns the item for the loop, or Missing
/// if the loop skips it. Sets |item| to this value and |result| to true unless it is Missing.
static attune_status passes(Machine &machine, const Generator &generator, Value &item, bool &result) {
  Frame *frame;
  ATTUNE_TRY(machine.makeFrame(generator.function, generator.frame, frame));
  frame->slots[0] = item;
  Value value;
  ATTUNE_TRY(machine.run(generator.function, *frame, value));
  result = !value.isMissing();
  item = value;
  return ATTUNE_OK;
}

/// Begins the iteration over the subject of |generator|, whose first item was requested. For Slice, collects the items
/// of the subject in |seen|; else sets |source| to an iterator over them.
static attune_status start(Machine &machine, Generator &generator) {
  generator.started = true;
  const Value &value = generator.value;
  bool wantsTruth =
      generator.kind == GeneratorKind::Map || generator.kind == GeneratorKind::MapPath || generator.kind == GeneratorKind::Select;
  Value subject = value;
  if (wantsTruth && !isTrue(machine, value))
    subject = Value::undefined(Missed::Message, "");
  if (generator.kind == GeneratorKind::Items) {
    if (!value.isUndefined() && !value.is(Tag::Dict))
      return machine.error("Can only get item pairs from a mapping.");
    if (value.is(Tag::Dict)) {
      subject = Value::ofTable(Tag::View, value.table);
      subject.flag = static_cast<uint8_t>(ViewKind::Items);
    }
  }
  if (generator.kind == GeneratorKind::Slice)
    return collect(machine, subject, generator.seen);
  return iterate(machine, subject, generator.source);
}

static attune_status nextGenerated(Machine &machine, Generator &generator, Value &item, bool &done) {
  if (!generator.started)
    ATTUNE_TRY(start(machine, generator));
  Value source;
  switch (generator.kind) {
  case GeneratorKind::Items:
    return next(machine, *generator.source, item, done);
  case GeneratorKind::Unique:
    return nextUnique(machine, generator, item, done);
  case GeneratorKind::Batch:
  case GeneratorKind::Slice:
    return nextPart(machine, generator, item, done);
  case GeneratorKind::Map:
  case GeneratorKind::MapPath:
    ATTUNE_TRY(next(machine, *generator.source, source, done));
    if (done)
      return ATTUNE_OK;
    if (generator.kind == GeneratorKind::MapPath)
      return getPath(machine, source, generator.path, generator.fallback, item);
    return applyFilter(machine, generator.target, source, generator.arguments, item);
  case GeneratorKind::Select:
  case GeneratorKind::LoopFilter:
    for (bool found = false; !found;) {
      ATTUNE_TRY(next(machine, *generator.source, item, done));
      if (done)
        return ATTUNE_OK;
      if (generator.kind == GeneratorKind::Select)
        ATTUNE_TRY(selects(machine, generator, item, found));
      else
        ATTUNE_TRY(passes(machine, generator, item, found));
    }
    return ATTUNE_OK;
  }
  return ATTUNE_OK;
}

attune_status chat::next(Machine &machine, Iterator &iterator, Value &item, bool &done) {
  ATTUNE_TRY(machine.charge(1));
  done = false;
  uint32_t index = static_cast<uint32_t>(iterator.index);
  auto past = [&](int64_t count) {
    done = iterator.index >= count;
    iterator.index += !done;
    return done;
  };
  switch (iterator.kind) {
  case IteratorKind::Empty:
    done = true;
    return ATTUNE_OK;
  case IteratorKind::Array:
    if (!past(iterator.array->count))
      item = iterator.array->items[index];
    return ATTUNE_OK;
  case IteratorKind::Characters: {
    Text text(iterator.text, iterator.bytes);
    size_t begin = static_cast<size_t>(iterator.index), end = begin;
    if ((done = begin >= text.bytes))
      return ATTUNE_OK;
    decodeUtf8(text, end);
    iterator.index = static_cast<int64_t>(end);
    item = Value::ofText({text.data + begin, end - begin}, iterator.view == ViewKind::Keys);
    return ATTUNE_OK;
  }
  case IteratorKind::Keys:
    if (!past(iterator.table->count))
      item = iterator.table->pairs[index].key;
    return ATTUNE_OK;
  case IteratorKind::View:
    return past(iterator.table->count) ? ATTUNE_OK : viewItem(machine, *iterator.table, iterator.view, index, item);
  case IteratorKind::Range:
    if (!past(iterator.range->count))
      item = Value::ofInt(iterator.range->at(static_cast<int64_t>(index)));
    return ATTUNE_OK;
  case IteratorKind::ReversedArray:
    if (!past(iterator.array->count))
      item = iterator.array->items[iterator.array->count - 1 - index];
    return ATTUNE_OK;
  case IteratorKind::ReversedTable:
    if (past(iterator.table->count))
      return ATTUNE_OK;
    return viewItem(machine, *iterator.table, iterator.view, iterator.table->count - 1 - index, item);
  case IteratorKind::ReversedRange:
    if (!past(iterator.range->count))
      item = Value::ofInt(iterator.range->at(iterator.range->count - 1 - static_cast<int64_t>(index)));
    return ATTUNE_OK;
  case IteratorKind::Generator: {
    constexpr uint32_t MaxNesting = 200;
    if (machine.generators == MaxNesting)
      return fail(ATTUNE_LIMIT_EXCEEDED, "the template nests more than %u filters of sequences", MaxNesting);
    if (iterator.index < 0) {
      done = true;
      return ATTUNE_OK;
    }
    ++machine.generators;
    attune_status status = nextGenerated(machine, *iterator.generator, item, done);
    --machine.generators;
    if (done)
      iterator.index = -1;
    return status;
  }
  }
  return ATTUNE_OK;
}

attune_status chat::collect(Machine &machine, const Value &value, Array *&array) {
  Iterator *iterator;
  ATTUNE_TRY(iterate(machine, value, iterator));
  ATTUNE_TRY(machine.makeArray(value.isArray() ? value.array->count : 0, array));
  for (;;) {
    Value item;
    bool done;
    ATTUNE_TRY(next(machine, *iterator, item, done));
    if (done)
      return ATTUNE_OK;
    ATTUNE_TRY(machine.push(*array, item));
  }
}

attune_status chat::makeGenerator(Machine &machine, GeneratorKind kind, const Value &value, Generator *&generator, Value &result) {
  Iterator *iterator;
  ATTUNE_TRY(machine.take(1, generator));
  ATTUNE_TRY(machine.take(1, iterator));
  memset(static_cast<void *>(generator), 0, sizeof(*generator));
  generator->kind = kind;
  generator->value = value;
  generator->target = NoTarget;
  ATTUNE_TRY(machine.makeArray(0, generator->seen));
  *iterator = Iterator{IteratorKind::Generator, ViewKind::Items, 0, 0, {nullptr}};
  iterator->generator = generator;
  result = Value::ofTag(Tag::Iterator);
  result.iterator = iterator;
  return ATTUNE_OK;
}

attune_status chat::reversed(Machine &machine, const Value &value, Value &result, bool &isSequence) {
  Iterator *iterator;
  isSequence = lengthOf(value) >= 0;
  if (!isSequence)
    return ATTUNE_OK;
  if (value.isString()) {
    Array *characters;
    ATTUNE_TRY(collect(machine, value, characters));
    return reversed(machine, Value::ofArray(Tag::List, characters), result, isSequence);
  }
  ATTUNE_TRY(iterate(machine, value, iterator));
  if (value.isArray())
    iterator->kind = IteratorKind::ReversedArray;
  else if (value.is(Tag::Range))
    iterator->kind = IteratorKind::ReversedRange;
  else if (value.is(Tag::Dict) || value.is(Tag::View)) {
    iterator->view = value.is(Tag::Dict) ? ViewKind::Keys : static_cast<ViewKind>(value.flag);
    iterator->kind = IteratorKind::ReversedTable;
  }
  result = Value::ofTag(Tag::Iterator);
  result.iterator = iterator;
  return ATTUNE_OK;
}

attune_status chat::loopPeek(Machine &machine, Loop &loop) {
  if (!loop.after.isMissing())
    return ATTUNE_OK;
  bool done;
  Value item;
  ATTUNE_TRY(next(machine, *loop.iterator, item, done));
  if (!done)
    loop.after = item;
  return ATTUNE_OK;
}

attune_status chat::loopLength(Machine &machine, Loop &loop, int64_t &length) {
  if (loop.length < 0)
    loop.length = lengthOf(loop.source);
  if (loop.length < 0) {
    Array *rest;
    Value value = Value::ofTag(Tag::Iterator);
    value.iterator = loop.iterator;
    ATTUNE_TRY(collect(machine, value, rest));
    ATTUNE_TRY(iterate(machine, Value::ofArray(Tag::List, rest), loop.iterator));
    loop.length = rest->count + loop.index + 1 + !loop.after.isMissing();
  }
  length = loop.length;
  return ATTUNE_OK;
}
