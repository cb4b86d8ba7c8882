//===- Calls.cpp - Macros, functions and methods of containers ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace attune;
using namespace attune::chat;

//===--- Methods -----------------------------------------------------------===//

/// Implements the methods items, keys and values of dictionaries.
template <ViewKind kind>
static attune_status view(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value none;
  ATTUNE_TRY(bind(machine, "the method", "", arguments, &none));
  result = Value::ofTable(Tag::View, self.table);
  result.flag = static_cast<uint8_t>(kind);
  return ATTUNE_OK;
}

static attune_status get(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value given[2];
  Pair *pair;
  ATTUNE_TRY(bind(machine, "get", "/key default", arguments, given));
  if (given[0].isMissing())
    return machine.error("get expected at least 1 argument, got 0");
  ATTUNE_TRY(find(machine, *self.table, given[0], pair));
  result = pair ? pair->value : given[1].isMissing() ? Value::none() : given[1];
  return ATTUNE_OK;
}

static attune_status copy(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value none;
  ATTUNE_TRY(bind(machine, "copy", "", arguments, &none));
  result = self; // immutable values need no copy
  return ATTUNE_OK;
}

/// Implements the methods index and count of lists and tuples.
template <bool counts>
static attune_status locate(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value given[1];
  int64_t number = 0;
  ATTUNE_TRY(bind(machine, counts ? "count" : "index", "/value", arguments, given));
  if (given[0].isMissing())
    return machine.error("%s: expected an argument", counts ? "count" : "index");
  for (uint32_t i = 0; i < self.array->count; ++i) {
    bool same;
    ATTUNE_TRY(equals(machine, self.array->items[i], given[0], same));
    number += same;
    if (same && !counts) {
      result = Value::ofInt(i);
      return ATTUNE_OK;
    }
  }
  if (!counts)
    return machine.error("the value is not in the list");
  result = Value::ofInt(number);
  return ATTUNE_OK;
}

static attune_status cycle(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  if (arguments.count == 0 || arguments.numKeywords)
    return machine.error("no items for cycling given");
  int64_t index = self.loop->index % arguments.count;
  result = arguments.values[index < 0 ? 0 : index];
  return ATTUNE_OK;
}

static attune_status changed(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Array *values;
  if (arguments.numKeywords)
    return machine.error("changed: unexpected keyword argument");
  ATTUNE_TRY(machine.makeArray(arguments.count, values));
  for (uint32_t i = 0; i < arguments.count; ++i)
    ATTUNE_TRY(machine.push(*values, arguments.values[i]));
  Value now = Value::ofArray(Tag::Tuple, values);
  bool same;
  ATTUNE_TRY(equals(machine, self.loop->changed, now, same));
  self.loop->changed = now;
  result = Value::boolean(!same);
  return ATTUNE_OK;
}

/// Sets |result| to the current item of the cycler |self| and advances the cycler. Element 0 of its array is the
/// position of the current item; the items follow.
static attune_status nextOfCycler(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value none;
  ATTUNE_TRY(bind(machine, "next", "", arguments, &none));
  int64_t &position = self.array->items[0].integer;
  result = self.array->items[1 + position];
  position = (position + 1) % (self.array->count - 1);
  return ATTUNE_OK;
}

static attune_status resetCycler(Machine &machine, const Value &self, const Arguments &arguments, Value &result) {
  Value none;
  ATTUNE_TRY(bind(machine, "reset", "", arguments, &none));
  self.array->items[0].integer = 0;
  result = Value::none();
  return ATTUNE_OK;
}

static const MethodEntry dictMethods[] = {{"copy", copy},
                                          {"fromkeys", nullptr},
                                          {"get", get},
                                          {"items", view<ViewKind::Items>},
                                          {"keys", view<ViewKind::Keys>},
                                          {"values", view<ViewKind::Values>}};
static const MethodEntry listMethods[] = {{"copy", copy}, {"count", locate<true>}, {"index", locate<false>}};
static const MethodEntry tupleMethods[] = {{"count", locate<true>}, {"index", locate<false>}};
static const MethodEntry loopMethods[] = {{"changed", changed}, {"cycle", cycle}};
static const MethodEntry cyclerMethods[] = {{"next", nextOfCycler}, {"reset", resetCycler}};

template <size_t N>
static const MethodEntry *findEntry(const MethodEntry (&entries)[N], Text name) {
  for (const MethodEntry &entry : entries)
    if (name == entry.name)
      return &entry;
  return nullptr;
}

const MethodEntry *chat::findMethod(Tag type, Text name) {
  switch (type) {
  case Tag::String:
    return findStringMethod(name);
  case Tag::Dict:
    return findEntry(dictMethods, name);
  case Tag::List:
    return findEntry(listMethods, name);
  case Tag::Tuple:
    return findEntry(tupleMethods, name);
  case Tag::Loop:
    return findEntry(loopMethods, name);
  case Tag::Cycler:
    return findEntry(cyclerMethods, name);
  default:
    return nullptr;
  }
}

attune_status chat::callMethod(Machine &machine, const Method &method, const Arguments &arguments, Value &result) {
  if (!method.entry->call)
    return machine.error("the method '%s' of '%s' is not supported", method.entry->name, typeName(method.self.tag));
  return method.entry->call(machine, method.self, arguments, result);
}

//===--- Macros ------------------------------------------------------------===//

/// Writes the arguments of a macro to the slots of its frame, as the class Macro of Jinja2 does. Parameters without an
/// argument stay Missing. Fails for arguments that the macro does not take.
static attune_status passArguments(Machine &machine, const attune_chat_function &function, const Arguments &arguments, Frame &frame) {
  const Program &program = machine.program;
  auto name = [&](uint32_t i) { return program.name(program.names[function.first_name + i]); };
  uint32_t count = function.num_parameters, given = arguments.count < count ? arguments.count : count;
  for (uint32_t i = 0; i < given; ++i)
    frame.slots[i] = arguments.values[i];
  Table *rest;
  ATTUNE_TRY(machine.makeTable(arguments.numKeywords, rest));
  bool hasCaller = false;
  for (uint32_t i = 0; i < count; ++i)
    hasCaller |= name(i) == "caller";
  for (uint32_t k = 0; k < arguments.numKeywords; ++k) {
    Text keyword = arguments.keywords[k].str();
    uint32_t i = given;
    while (i < count && name(i) != keyword)
      ++i;
    if (i < count)
      frame.slots[i] = arguments.keywordValues[k];
    else if (keyword == "caller" && !hasCaller && (function.flags & ATTUNE_CHAT_TAKES_CALLER))
      frame.slots[count] = arguments.keywordValues[k];
    else
      ATTUNE_TRY(machine.set(*rest, arguments.keywords[k], arguments.keywordValues[k]));
  }
  if ((function.flags & ATTUNE_CHAT_TAKES_CALLER) && !hasCaller && (frame.slots[count].isMissing() || frame.slots[count].is(Tag::None)))
    frame.slots[count] = Value::undefined(Missed::Message, "No caller defined");
  Text macro = program.name(function.name);
  int length = static_cast<int>(macro.bytes < 100 ? macro.bytes : 100);
  if (function.flags & ATTUNE_CHAT_TAKES_KEYWORDS)
    frame.slots[count + 1] = Value::ofTable(Tag::Dict, rest);
  else if (rest->count)
    return machine.error("macro '%.*s' takes no keyword argument '%.*s'", length, macro.data,
                         static_cast<int>(rest->pairs[0].key.bytes < 100 ? rest->pairs[0].key.bytes : 100), rest->pairs[0].key.text);
  if (!(function.flags & ATTUNE_CHAT_TAKES_MORE))
    return arguments.count > count ? machine.error("macro '%.*s' takes not more than %u argument(s)", length, macro.data, count)
                                   : ATTUNE_OK;
  Array *more;
  ATTUNE_TRY(machine.makeArray(0, more));
  for (uint32_t i = count; i < arguments.count; ++i)
    ATTUNE_TRY(machine.push(*more, arguments.values[i]));
  frame.slots[count + 2] = Value::ofArray(Tag::Tuple, more);
  return ATTUNE_OK;
}

/// Calls a macro and sets |result| to its output, a string.
static attune_status callMacro(Machine &machine, const Macro &macro, const Arguments &arguments, Value &result) {
  const attune_chat_function &function = machine.program.functions[macro.function];
  Frame *frame;
  ATTUNE_TRY(machine.makeFrame(macro.function, macro.outer, frame));
  ATTUNE_TRY(passArguments(machine, function, arguments, *frame));
  size_t begin = machine.output.bytes;
  uint32_t captures = machine.captures;
  machine.beginCapture();
  Value ignored;
  ATTUNE_TRY(machine.run(macro.function, *frame, ignored));
  if (machine.captures != captures + 1 || machine.output.bytes < begin)
    return fail(ATTUNE_CORRUPT, "the chat template is damaged: a macro does not end what it captures");
  --machine.captures;
  Text text(machine.output.data + begin, machine.output.bytes - begin);
  ATTUNE_TRY(machine.copyText(text, result));
  machine.output.bytes = begin;
  return ATTUNE_OK;
}

attune_status chat::callValue(Machine &machine, const Value &callee, const Arguments &arguments, Value &result) {
  switch (callee.tag) {
  case Tag::Macro:
    return callMacro(machine, *callee.macro, arguments, result);
  case Tag::Method:
    return callMethod(machine, *callee.method, arguments, result);
  case Tag::Function:
    return callFunction(machine, callee.flag, arguments, result);
  case Tag::Joiner: {
    // The items of a joiner are the separator and a flag: the first call returns "", all later ones the separator.
    Value none;
    ATTUNE_TRY(bind(machine, "joiner", "", arguments, &none));
    Value &used = callee.array->items[1];
    result = used.integer ? callee.array->items[0] : Value::ofText("");
    used = Value::boolean(true);
    return ATTUNE_OK;
  }
  case Tag::Undefined:
    return machine.undefinedError(callee);
  case Tag::Loop:
    return machine.error("The loop must have the 'recursive' marker to be called recursively.");
  default:
    return machine.error("'%s' object is not callable", typeName(callee.tag));
  }
}
