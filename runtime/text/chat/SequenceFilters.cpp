//===- SequenceFilters.cpp - Filters of sequences -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Filters.h"
#include "StringOperations.h"

using namespace attune;
using namespace attune::chat;

/// Sets |result| to |value|, in lower case if |value| is a string and |caseSensitive| is false.
static attune_status ignoreCase(Machine &machine, const Value &value, bool caseSensitive, Value &result) {
  if (value.isString() && !caseSensitive)
    return lowerText(machine, value, result);
  result = value;
  return ATTUNE_OK;
}

/// Sets |result| to the key by which `sort` orders |item|: a list of the values of |item| at the paths of |attribute|,
/// in lower case where they are strings, unless |caseSensitive|. A string |attribute| has one or more paths separated
/// by commas, as in "a,b.c"; a value of another type is one path. If |attribute| is Missing or None, the list has one
/// element, |item|.
static attune_status sortKey(Machine &machine, const Value &item, const Value &attribute, bool caseSensitive, Value &result) {
  Array *keys;
  Value part, lowered;
  ATTUNE_TRY(machine.makeArray(1, keys));
  Text paths = attribute.isString() ? attribute.str() : Text();
  for (size_t begin = 0; begin <= paths.bytes;) {
    size_t end = begin;
    while (end < paths.bytes && paths.data[end] != ',')
      ++end;
    Value path = attribute.isString() ? Value::ofText({paths.data + begin, end - begin}) : attribute;
    ATTUNE_TRY(getPath(machine, item, path, Value(), part));
    ATTUNE_TRY(ignoreCase(machine, part, caseSensitive, lowered));
    ATTUNE_TRY(machine.push(*keys, lowered));
    begin = end + 1;
  }
  result = Value::ofArray(Tag::List, keys);
  return ATTUNE_OK;
}

static attune_status sort(Machine &machine, const Value &subject, const Value *given, Value &result) {
  Array *items;
  Value *keys;
  ATTUNE_TRY(collect(machine, subject, items));
  ATTUNE_TRY(machine.take(items->count, keys));
  for (uint32_t i = 0; i < items->count; ++i) {
    Value key;
    ATTUNE_TRY(sortKey(machine, items->items[i], given[2], isTrue(machine, given[1]), key));
    keys[i] = key;
  }
  ATTUNE_TRY(sortBy(machine, items->items, keys, items->count, isTrue(machine, given[0])));
  result = Value::ofArray(Tag::List, items);
  return ATTUNE_OK;
}

static attune_status dictSort(Machine &machine, const Value &subject, const Value *given, Value &result) {
  Text by = "key";
  if (!given[1].isMissing())
    ATTUNE_TRY(wantText(machine, given[1], "dictsort", by));
  if (by != "key" && by != "value")
    return machine.error("You can only sort by either \"key\" or \"value\"");
  if (!subject.is(Tag::Dict))
    return subject.isUndefined() ? machine.undefinedError(subject)
                                 : machine.error("dictsort: expected a mapping, got %s", typeName(subject.tag));
  const Table &table = *subject.table;
  Array *items;
  Value *keys;
  ATTUNE_TRY(machine.makeArray(table.count, items));
  ATTUNE_TRY(machine.take(table.count, keys));
  for (uint32_t i = 0; i < table.count; ++i) {
    Value pair, key;
    ATTUNE_TRY(machine.makePair(table.pairs[i].key, table.pairs[i].value, pair));
    ATTUNE_TRY(machine.push(*items, pair));
    ATTUNE_TRY(ignoreCase(machine, by == "key" ? table.pairs[i].key : table.pairs[i].value, isTrue(machine, given[0]), key));
    keys[i] = key;
  }
  ATTUNE_TRY(sortBy(machine, items->items, keys, items->count, isTrue(machine, given[2])));
  result = Value::ofArray(Tag::List, items);
  return ATTUNE_OK;
}

/// Implements `min` and `max`: sets |result| to the smallest or largest item of |subject|, the first of equal ones, or
/// to an undefined value if there are no items. |given|[0] is the argument case_sensitive. |given|[1] is the path of
/// the attribute to compare; if it is Missing or None, the items themselves are compared.
static attune_status extreme(Machine &machine, const Value &subject, bool largest, const Value *given, Value &result) {
  Iterator *iterator;
  ATTUNE_TRY(iterate(machine, subject, iterator));
  Value best;
  result = Value::undefined(Missed::Message, "No aggregated item, sequence was empty.");
  for (;;) {
    Value item, part, key;
    bool done, better = best.isMissing();
    ATTUNE_TRY(next(machine, *iterator, item, done));
    if (done)
      return ATTUNE_OK;
    ATTUNE_TRY(getPath(machine, item, given[1], Value(), part));
    ATTUNE_TRY(ignoreCase(machine, part, isTrue(machine, given[0]), key));
    if (!better)
      ATTUNE_TRY(largest ? less(machine, best, key, false, better) : less(machine, key, best, false, better));
    if (better) {
      best = key;
      result = item;
    }
  }
}

static attune_status sum(Machine &machine, const Value &subject, const Value *given, Value &result) {
  Iterator *iterator;
  result = given[1].isMissing() ? Value::ofInt(0) : given[1];
  if (result.isString())
    return machine.error("sum() can't sum strings [use ''.join(seq) instead]");
  ATTUNE_TRY(iterate(machine, subject, iterator));
  for (;;) {
    Value item, part, total;
    bool done;
    ATTUNE_TRY(next(machine, *iterator, item, done));
    if (done)
      return ATTUNE_OK;
    ATTUNE_TRY(getPath(machine, item, given[0], Value(), part));
    ATTUNE_TRY(add(machine, result, part, total));
    result = total;
  }
}

static attune_status join(Machine &machine, const Value &subject, const Value *given, Value &result) {
  Value separator = Value::ofText(""), item, part;
  Iterator *iterator;
  if (!given[0].isMissing())
    ATTUNE_TRY(toText(machine, given[0], separator));
  ATTUNE_TRY(iterate(machine, subject, iterator));
  Builder builder(machine);
  for (bool first = true;; first = false) {
    bool done;
    ATTUNE_TRY(next(machine, *iterator, item, done));
    if (done)
      break;
    if (!first)
      ATTUNE_TRY(builder.add(separator.str()));
    ATTUNE_TRY(getPath(machine, item, given[1], Value(), part));
    ATTUNE_TRY(print(machine, part, builder));
  }
  result = builder.value();
  return ATTUNE_OK;
}

/// Creates the generator of map, select, reject, selectattr or rejectattr.
static attune_status filterItems(Machine &machine, FilterName filter, const Value &subject, Arguments arguments, Value &result) {
  bool byAttribute = filter == FilterName::SelectAttr || filter == FilterName::RejectAttr, maps = filter == FilterName::Map;
  Generator *generator;
  ATTUNE_TRY(makeGenerator(machine, maps ? GeneratorKind::Map : GeneratorKind::Select, subject, generator, result));
  generator->byAttribute = byAttribute;
  generator->reject = filter == FilterName::Reject || filter == FilterName::RejectAttr;
  if (maps && arguments.count == 0 && arguments.numKeywords) {
    Value given[2];
    ATTUNE_TRY(bind(machine, "map", "attribute default", arguments, given));
    if (given[0].isMissing())
      return machine.error("map requires a filter argument");
    generator->kind = GeneratorKind::MapPath;
    generator->path = given[0];
    generator->fallback = given[1];
    return ATTUNE_OK;
  }
  if (byAttribute) {
    if (arguments.count == 0)
      return machine.error("Missing parameter for attribute name");
    generator->path = *arguments.values++;
    --arguments.count;
  }
  if (arguments.count == 0)
    return maps ? machine.error("map requires a filter argument") : ATTUNE_OK;
  Text name;
  ATTUNE_TRY(wantText(machine, arguments.values[0], maps ? "map" : "select", name));
  if (!(maps ? findFilter(name, generator->target) : findTest(name, generator->target)))
    return machine.error("No %s named '%.*s'.", maps ? "filter" : "test", static_cast<int>(name.bytes < 100 ? name.bytes : 100), name.data);
  ++arguments.values;
  --arguments.count;
  generator->arguments = arguments;
  return ATTUNE_OK;
}

/// Creates the generator of items, unique, batch or slice.
static attune_status makeItems(Machine &machine, FilterName filter, const Value &subject, const Arguments &arguments, Value &result) {
  Value given[2];
  Generator *generator;
  GeneratorKind kind = filter == FilterName::Items    ? GeneratorKind::Items
                       : filter == FilterName::Unique ? GeneratorKind::Unique
                       : filter == FilterName::Batch  ? GeneratorKind::Batch
                                                      : GeneratorKind::Slice;
  ATTUNE_TRY(makeGenerator(machine, kind, subject, generator, result));
  if (kind == GeneratorKind::Items)
    return bind(machine, "items", "", arguments, given);
  if (kind == GeneratorKind::Unique) {
    ATTUNE_TRY(bind(machine, "unique", "case_sensitive attribute", arguments, given));
    generator->caseSensitive = isTrue(machine, given[0]);
    generator->path = given[1];
    return ATTUNE_OK;
  }
  const char *what = kind == GeneratorKind::Batch ? "batch" : "slice";
  ATTUNE_TRY(bind(machine, what, kind == GeneratorKind::Batch ? "linecount fill_with" : "slices fill_with", arguments, given));
  ATTUNE_TRY(wantInteger(machine, given[0], what, generator->count));
  if (generator->count == 0)
    return machine.error("%s: expected a number of parts that is not 0", what);
  generator->fill = given[1];
  return ATTUNE_OK;
}

/// Applies the filters first, last, list, reverse, and length with its other name count.
static attune_status applyPlain(Machine &machine, FilterName filter, const Value &subject, Value &result) {
  Iterator *iterator;
  Array *items;
  bool done, isSequence;
  Value item, backwards;
  switch (filter) {
  case FilterName::First:
    ATTUNE_TRY(iterate(machine, subject, iterator));
    ATTUNE_TRY(next(machine, *iterator, item, done));
    result = done ? Value::undefined(Missed::Message, "No first item, sequence was empty.") : item;
    return ATTUNE_OK;
  case FilterName::Last:
    ATTUNE_TRY(reversed(machine, subject, backwards, isSequence));
    if (!isSequence)
      return machine.error("last: '%s' object is not reversible", typeName(subject.tag));
    ATTUNE_TRY(next(machine, *backwards.iterator, item, done));
    result = done ? Value::undefined(Missed::Message, "No last item, sequence was empty.") : item;
    return ATTUNE_OK;
  case FilterName::List:
    ATTUNE_TRY(collect(machine, subject, items));
    result = Value::ofArray(Tag::List, items);
    return ATTUNE_OK;
  case FilterName::Reverse:
    if (subject.isString())
      return getSlice(machine, subject, Value::none(), Value::none(), Value::ofInt(-1), result);
    ATTUNE_TRY(reversed(machine, subject, result, isSequence));
    if (isSequence)
      return ATTUNE_OK;
    if (!isIterable(subject))
      return machine.error("argument must be iterable");
    ATTUNE_TRY(collect(machine, subject, items));
    return getSlice(machine, Value::ofArray(Tag::List, items), Value::none(), Value::none(), Value::ofInt(-1), result);
  default: {
    int64_t length = lengthOf(subject);
    if (subject.is(Tag::Loop))
      ATTUNE_TRY(loopLength(machine, *subject.loop, length));
    if (length < 0)
      return machine.error("object of type '%s' has no len()", typeName(subject.tag));
    result = Value::ofInt(length);
    return machine.charge(subject.isString() ? subject.bytes / 16 : 0);
  }
  }
}

/// Implements the filter `default`: returns the subject, or the default |given|[0] if the subject is undefined. If
/// |given|[1] is true, a subject that counts as false gets the default, too. The default is "" if |given|[0] is
/// Missing.
static Value orDefault(Machine &machine, const Value &subject, const Value *given) {
  if (!subject.isUndefined() && !(isTrue(machine, given[1]) && !isTrue(machine, subject)))
    return subject;
  return given[0].isMissing() ? Value::ofText("") : given[0];
}

static attune_status attribute(Machine &machine, const Value &subject, const Value &name, Value &result) {
  Text text;
  ATTUNE_TRY(wantText(machine, name, "attr", text));
  // Unlike `x.name`, the filter `attr` finds only the methods of a dictionary, not its items.
  if (subject.is(Tag::Dict) && !findMethod(subject.tag, text)) {
    result = Value::undefined(Missed::Attribute, text, subject.tag);
    return ATTUNE_OK;
  }
  return getAttribute(machine, subject, text, result);
}

attune_status chat::applySequenceFilter(Machine &machine, uint16_t filter, const Value &subject, const Arguments &arguments, Value &result,
                                        bool &known) {
  auto name = static_cast<FilterName>(filter);
  Value given[3];
  switch (name) {
  case FilterName::First:
  case FilterName::Last:
  case FilterName::List:
  case FilterName::Reverse:
  case FilterName::Count:
  case FilterName::Length:
    ATTUNE_TRY(bind(machine, "the filter", "", arguments, given));
    return applyPlain(machine, name, subject, result);
  case FilterName::Map:
  case FilterName::Select:
  case FilterName::Reject:
  case FilterName::SelectAttr:
  case FilterName::RejectAttr:
    return filterItems(machine, name, subject, arguments, result);
  case FilterName::Items:
  case FilterName::Unique:
  case FilterName::Batch:
  case FilterName::Slice:
    return makeItems(machine, name, subject, arguments, result);
  case FilterName::Sort:
    ATTUNE_TRY(bind(machine, "sort", "reverse case_sensitive attribute", arguments, given));
    return sort(machine, subject, given, result);
  case FilterName::DictSort:
    ATTUNE_TRY(bind(machine, "dictsort", "case_sensitive by reverse", arguments, given));
    return dictSort(machine, subject, given, result);
  case FilterName::Min:
  case FilterName::Max:
    ATTUNE_TRY(bind(machine, name == FilterName::Max ? "max" : "min", "case_sensitive attribute", arguments, given));
    return extreme(machine, subject, name == FilterName::Max, given, result);
  case FilterName::Sum:
    ATTUNE_TRY(bind(machine, "sum", "attribute start", arguments, given));
    return sum(machine, subject, given, result);
  case FilterName::Join:
    ATTUNE_TRY(bind(machine, "join", "d attribute", arguments, given));
    return join(machine, subject, given, result);
  case FilterName::D:
  case FilterName::Default:
    ATTUNE_TRY(bind(machine, "default", "default_value boolean", arguments, given));
    result = orDefault(machine, subject, given);
    return ATTUNE_OK;
  case FilterName::Attr:
    ATTUNE_TRY(bind(machine, "attr", "name", arguments, given));
    return attribute(machine, subject, given[0], result);
  default:
    known = false;
    return ATTUNE_OK;
  }
}
