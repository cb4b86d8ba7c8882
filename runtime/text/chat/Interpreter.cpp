//===- Interpreter.cpp - The instructions of chat templates ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stack machine. Indices of constants, variables, calls and jumps were checked when the program was opened; the depth
// of the stack, the slots of outer functions and the tags of values are checked here, so no program can read or write
// outside its memory.
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace attune;
using namespace attune::chat;

namespace {

/// The execution of one call of a function.
class Activation {
public:
  Activation(Machine &machine, uint32_t function, Frame &frame, Value *base)
      : machine(machine), program(machine.program), function(program.functions[function]), frame(frame), base(base), top(base),
        position(this->function.first_instruction) {}

  attune_status run(Value &result);
  uint32_t line() const { return program.lineOf(position); }

private:
  Machine &machine;
  const Program &program;
  const attune_chat_function &function;
  Frame &frame;
  Value *const base;
  Value *top; ///< after the topmost value
  uint32_t position;
  bool ended = false;

  attune_status damaged() { return fail(ATTUNE_CORRUPT, "the chat template is damaged: its instructions do not fit together"); }
  /// Fails with CORRUPT if there are fewer than |count| values on the stack.
  attune_status need(size_t count) { return static_cast<size_t>(top - base) >= count ? ATTUNE_OK : damaged(); }
  attune_status push(const Value &value) {
    if (top == machine.stackEnd)
      return fail(ATTUNE_LIMIT_EXCEEDED, "the template's expressions are nested too deeply");
    *top++ = value;
    return ATTUNE_OK;
  }
  attune_status slot(uint32_t variable, Value *&value) {
    const attune_chat_variable &entry = program.variables[variable];
    Frame *owner = &frame;
    for (uint16_t i = 0; i < entry.depth && owner; ++i)
      owner = owner->outer;
    if (!owner || entry.slot >= owner->numSlots)
      return damaged();
    value = &owner->slots[entry.slot];
    return ATTUNE_OK;
  }
  attune_status step(uint32_t instruction, Value &result);
  attune_status variable(Operation operation, uint32_t operand);
  attune_status build(Operation operation, uint32_t count);
  attune_status call(Operation operation, uint32_t operand);
  attune_status beginLoop(Operation operation, uint32_t slot);
  attune_status nextItem(uint32_t slot);
  attune_status unpack(uint32_t count);
  attune_status endCapture(bool keep);
  attune_status arguments(const attune_chat_call &call, Value *&subject, Arguments &arguments);
};

} // namespace

attune_status Activation::run(Value &result) {
  while (!ended) {
    if (position >= function.first_instruction + function.num_instructions)
      return damaged();
    uint32_t instruction = program.instructions[position];
    ATTUNE_TRY(machine.charge(1));
    machine.stackTop = top;
    ATTUNE_TRY(step(instruction, result));
    ++position;
  }
  return ATTUNE_OK;
}

attune_status Activation::step(uint32_t instruction, Value &result) {
  uint32_t operand = instruction >> 8;
  auto operation = static_cast<Operation>(instruction & 0xFF);
  Value value;
  switch (operation) {
  case Operation::Return:
    ended = true;
    return ATTUNE_OK;
  case Operation::ReturnValue:
    ATTUNE_TRY(need(1));
    result = *--top;
    ended = true;
    return ATTUNE_OK;
  case Operation::Text:
    return machine.write(program.name(operand));
  case Operation::Output: {
    ATTUNE_TRY(need(1));
    value = *--top;
    if (value.isString())
      return machine.write(value.str());
    Builder builder(machine);
    ATTUNE_TRY(print(machine, value, builder));
    return machine.write(builder.text());
  }
  case Operation::OutputText:
    ATTUNE_TRY(need(1));
    value = *--top;
    return value.isString() ? machine.write(value.str()) : machine.error("expected a string, got %s", typeName(value.tag));
  case Operation::Constant:
    return push(program.constant(operand));
  case Operation::None:
    return push(Value::none());
  case Operation::True:
    return push(Value::boolean(true));
  case Operation::False:
    return push(Value::boolean(false));
  case Operation::Undefined:
    return push(Value::undefined(Missed::Message, program.name(operand)));
  case Operation::Load:
  case Operation::LoadRaw:
  case Operation::Store:
  case Operation::Clear:
  case Operation::Resolve:
  case Operation::IsMissing:
  case Operation::CheckNamespace:
    return variable(operation, operand);
  case Operation::Pop:
    ATTUNE_TRY(need(1));
    --top;
    return ATTUNE_OK;
  case Operation::List:
  case Operation::Tuple:
  case Operation::Dict:
  case Operation::Concat:
    return build(operation, operand);
  case Operation::Attribute:
    ATTUNE_TRY(need(1));
    ATTUNE_TRY(getAttribute(machine, top[-1], program.name(operand), value));
    top[-1] = value;
    return ATTUNE_OK;
  case Operation::Item:
    ATTUNE_TRY(need(2));
    ATTUNE_TRY(getItem(machine, top[-2], top[-1], value));
    *(--top - 1) = value;
    return ATTUNE_OK;
  case Operation::Slice:
    ATTUNE_TRY(need(4));
    ATTUNE_TRY(getSlice(machine, top[-4], top[-3], top[-2], top[-1], value));
    top -= 3;
    top[-1] = value;
    return ATTUNE_OK;
  case Operation::SetAttribute: {
    ATTUNE_TRY(need(2));
    Value target = top[-1];
    value = top[-2];
    top -= 2;
    Text name = program.name(operand);
    if (!target.is(Tag::Namespace))
      return machine.error("cannot assign attribute on non-namespace object");
    if (name.bytes && name.data[0] == '_')
      return machine.error("cannot store the attribute '%.*s' on a namespace: its name begins with an underscore",
                           static_cast<int>(name.bytes < 200 ? name.bytes : 200), name.data);
    return machine.set(*target.table, Value::ofText(name), value);
  }
  case Operation::Add:
    ATTUNE_TRY(need(2));
    ATTUNE_TRY(add(machine, top[-2], top[-1], value));
    *(--top - 1) = value;
    return ATTUNE_OK;
  case Operation::Subtract:
  case Operation::Multiply:
  case Operation::Divide:
  case Operation::FloorDivide:
  case Operation::Remainder:
  case Operation::Power:
    ATTUNE_TRY(need(2));
    ATTUNE_TRY(arithmetic(machine, operation, top[-2], top[-1], value));
    *(--top - 1) = value;
    return ATTUNE_OK;
  case Operation::Negate:
  case Operation::Plus:
    ATTUNE_TRY(need(1));
    ATTUNE_TRY(negate(machine, top[-1], operation == Operation::Negate, value));
    top[-1] = value;
    return ATTUNE_OK;
  case Operation::Not:
    ATTUNE_TRY(need(1));
    top[-1] = Value::boolean(!isTrue(machine, top[-1]));
    return ATTUNE_OK;
  case Operation::Compare: {
    ATTUNE_TRY(need(2));
    bool holds = false;
    ATTUNE_TRY(compare(machine, operand, top[-2], top[-1], holds));
    *(--top - 1) = Value::boolean(holds);
    return ATTUNE_OK;
  }
  case Operation::CopyUnder:
    ATTUNE_TRY(need(2));
    value = top[-1];
    ATTUNE_TRY(push(value));
    top[-2] = top[-3];
    top[-3] = value;
    return ATTUNE_OK;
  case Operation::DropUnder:
    ATTUNE_TRY(need(2));
    top[-2] = top[-1];
    --top;
    return ATTUNE_OK;
  case Operation::Jump:
    position = operand - 1;
    return ATTUNE_OK;
  case Operation::JumpIfFalse:
    ATTUNE_TRY(need(1));
    if (!isTrue(machine, *--top))
      position = operand - 1;
    return ATTUNE_OK;
  case Operation::JumpIfFalseElsePop:
  case Operation::JumpIfTrueElsePop:
    ATTUNE_TRY(need(1));
    if (isTrue(machine, top[-1]) == (operation == Operation::JumpIfTrueElsePop))
      position = operand - 1;
    else
      --top;
    return ATTUNE_OK;
  case Operation::Filter:
  case Operation::Test:
  case Operation::Call:
    return call(operation, operand);
  case Operation::Iterate:
  case Operation::IterateLoop:
    return beginLoop(operation, operand);
  case Operation::FilterLoop: {
    ATTUNE_TRY(need(1));
    if (program.functions[operand].num_parameters != 1)
      return damaged();
    Generator *generator;
    ATTUNE_TRY(makeGenerator(machine, GeneratorKind::LoopFilter, top[-1], generator, value));
    // Unlike other generators, which begin the iteration at their first item, this one begins it here: Jinja2 evaluates
    // the subject at once, and takes the first item when the loop begins.
    ATTUNE_TRY(iterate(machine, top[-1], generator->source));
    generator->started = true;
    generator->function = operand;
    generator->frame = &frame;
    top[-1] = value;
    return ATTUNE_OK;
  }
  case Operation::Next:
    return nextItem(operand);
  case Operation::LoadLoop:
    if (operand >= frame.numSlots || !frame.slots[operand].is(Tag::Loop))
      return damaged();
    return push(frame.slots[operand]);
  case Operation::Unpack:
    return unpack(operand);
  case Operation::BeginCapture:
    machine.beginCapture();
    return push(Value::ofInteger(Tag::Capture, static_cast<int64_t>(machine.output.bytes)));
  case Operation::EndCapture:
  case Operation::DropCapture:
    return endCapture(operation == Operation::EndCapture);
  case Operation::Generation: {
    ATTUNE_TRY(need(1));
    value = *--top;
    if (!value.isString())
      return damaged();
    if (machine.numSpans == machine.maxSpans)
      return fail(ATTUNE_LIMIT_EXCEEDED, "the template marks more than %zu parts as written by the assistant", machine.maxSpans);
    machine.spans[machine.numSpans++] = {machine.visibleBytes(), machine.visibleBytes() + value.bytes};
    return machine.write(value.str());
  }
  case Operation::Macro: {
    Macro *macro;
    ATTUNE_TRY(machine.take(1, macro));
    macro->function = operand;
    macro->outer = &frame;
    value = Value::ofTag(Tag::Macro);
    value.macro = macro;
    return push(value);
  }
  case Operation::Count:
    break;
  }
  return damaged();
}

attune_status Activation::variable(Operation operation, uint32_t operand) {
  Value *value = nullptr;
  ATTUNE_TRY(slot(operand, value));
  Text name = program.name(program.variables[operand].name);
  switch (operation) {
  case Operation::Load:
    return push(value->isMissing() ? Value::undefined(Missed::Name, name) : *value);
  case Operation::LoadRaw:
    return push(*value);
  case Operation::IsMissing:
    return push(Value::boolean(value->isMissing()));
  case Operation::Store:
    ATTUNE_TRY(need(1));
    if (top[-1].is(Tag::Capture))
      return damaged();
    *value = *--top;
    return ATTUNE_OK;
  case Operation::Clear:
    *value = Value();
    return ATTUNE_OK;
  case Operation::CheckNamespace:
    return value->is(Tag::Namespace) ? ATTUNE_OK : machine.error("cannot assign attribute on non-namespace object");
  default:
    ATTUNE_TRY(machine.charge(machine.variables->count));
    if (Pair *pair = find(*machine.variables, name))
      *value = pair->value;
    else
      *value = findGlobal(name);
    return ATTUNE_OK;
  }
}

attune_status Activation::build(Operation operation, uint32_t count) {
  size_t values = static_cast<size_t>(count) * (operation == Operation::Dict ? 2 : 1);
  ATTUNE_TRY(need(values));
  Value *first = top - values, value;
  if (operation == Operation::Concat) {
    Builder builder(machine);
    for (uint32_t i = 0; i < count; ++i)
      ATTUNE_TRY(print(machine, first[i], builder));
    value = builder.value();
  } else if (operation == Operation::Dict) {
    Table *table;
    ATTUNE_TRY(machine.makeTable(count, table));
    for (uint32_t i = 0; i < count; ++i)
      ATTUNE_TRY(machine.set(*table, first[2 * i], first[2 * i + 1]));
    value = Value::ofTable(Tag::Dict, table);
  } else {
    Array *array;
    ATTUNE_TRY(machine.makeArray(count, array));
    for (uint32_t i = 0; i < count; ++i)
      array->items[i] = first[i];
    array->count = count;
    value = Value::ofArray(operation == Operation::List ? Tag::List : Tag::Tuple, array);
  }
  top = first;
  return push(value);
}

/// Sets |arguments| to a copy of the arguments of |call|, which stay on the stack, and |subject| to the value below
/// them.
attune_status Activation::arguments(const attune_chat_call &call, Value *&subject, Arguments &arguments) {
  size_t spread = (call.flags & ATTUNE_CHAT_SPREAD) != 0, spreadKeywords = (call.flags & ATTUNE_CHAT_SPREAD_KEYWORDS) != 0;
  size_t total = 1u + call.num_arguments + call.num_keywords + spread + spreadKeywords;
  ATTUNE_TRY(need(total));
  subject = top - total;
  // Copies the arguments: generators keep them, and their place on the stack is reused after the call.
  Array *values;
  ATTUNE_TRY(machine.makeArray(call.num_arguments, values));
  for (uint32_t i = 0; i < call.num_arguments; ++i)
    values->items[i] = subject[1 + i];
  values->count = call.num_arguments;
  if (spread) {
    Array *more;
    ATTUNE_TRY(collect(machine, subject[1 + call.num_arguments + call.num_keywords], more));
    for (uint32_t i = 0; i < more->count; ++i)
      ATTUNE_TRY(machine.push(*values, more->items[i]));
  }
  arguments.values = values->items;
  arguments.count = values->count;
  Value *keywords = subject + 1 + call.num_arguments;
  uint32_t extra = 0;
  const Value *spreadTable = keywords + call.num_keywords + spread;
  if (spreadKeywords) {
    if (!spreadTable->is(Tag::Dict))
      return machine.error("argument after ** must be a mapping, not %s", typeName(spreadTable->tag));
    extra = spreadTable->table->count;
  }
  uint32_t count = call.num_keywords + extra;
  Value *names, *given;
  ATTUNE_TRY(machine.take(count, names));
  ATTUNE_TRY(machine.take(count, given));
  for (uint32_t i = 0; i < call.num_keywords; ++i) {
    names[i] = Value::ofText(program.name(program.names[call.first_name + i]));
    given[i] = keywords[i];
  }
  for (uint32_t i = 0; i < extra; ++i) {
    names[call.num_keywords + i] = spreadTable->table->pairs[i].key;
    given[call.num_keywords + i] = spreadTable->table->pairs[i].value;
    if (!names[call.num_keywords + i].isString())
      return machine.error("keywords must be strings");
  }
  ATTUNE_TRY(machine.charge(static_cast<uint64_t>(count) * count));
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t j = 0; j < i; ++j)
      if (names[i].str() == names[j].str())
        return machine.error("got multiple values for keyword argument '%.*s'",
                             static_cast<int>(names[i].bytes < 200 ? names[i].bytes : 200), names[i].text);
  arguments.keywords = names;
  arguments.keywordValues = given;
  arguments.numKeywords = count;
  return ATTUNE_OK;
}

attune_status Activation::call(Operation operation, uint32_t operand) {
  const attune_chat_call &entry = program.calls[operand];
  Value *subject, result;
  Arguments given;
  ATTUNE_TRY(arguments(entry, subject, given));
  if (operation == Operation::Filter) {
    ATTUNE_TRY(applyFilter(machine, entry.target, *subject, given, result));
  } else if (operation == Operation::Test) {
    bool holds = false;
    ATTUNE_TRY(applyTest(machine, entry.target, *subject, given, holds));
    result = Value::boolean(holds);
  } else {
    ATTUNE_TRY(callValue(machine, *subject, given, result));
  }
  top = subject;
  return push(result);
}

attune_status Activation::beginLoop(Operation operation, uint32_t slotNumber) {
  ATTUNE_TRY(need(1));
  Value source = *--top;
  if (slotNumber >= frame.numSlots)
    return damaged();
  Iterator *iterator;
  ATTUNE_TRY(iterate(machine, source, iterator));
  Value &state = frame.slots[slotNumber];
  if (operation == Operation::Iterate) {
    state = Value::ofTag(Tag::Iterator);
    state.iterator = iterator;
    return ATTUNE_OK;
  }
  Loop *loop;
  ATTUNE_TRY(machine.take(1, loop));
  *loop = Loop{source, iterator, -1, -1, Value(), Value(), Value(), Value()};
  state = Value::ofTag(Tag::Loop);
  state.loop = loop;
  return ATTUNE_OK;
}

attune_status Activation::nextItem(uint32_t slotNumber) {
  if (slotNumber >= frame.numSlots)
    return damaged();
  Value state = frame.slots[slotNumber], item;
  bool done = false;
  if (state.is(Tag::Iterator)) {
    ATTUNE_TRY(next(machine, *state.iterator, item, done));
  } else if (state.is(Tag::Loop)) {
    Loop &loop = *state.loop;
    if (!loop.after.isMissing()) {
      item = loop.after;
      loop.after = Value();
    } else {
      ATTUNE_TRY(next(machine, *loop.iterator, item, done));
    }
    if (!done) {
      ++loop.index;
      loop.before = loop.current;
      loop.current = item;
    }
  } else {
    return damaged();
  }
  if (done)
    return ATTUNE_OK;
  ++position;
  return push(item);
}

attune_status Activation::unpack(uint32_t count) {
  ATTUNE_TRY(need(1));
  Array *items;
  if (!isIterable(top[-1]))
    return machine.error("cannot unpack non-iterable %s object", typeName(top[-1].tag));
  ATTUNE_TRY(collect(machine, *--top, items));
  if (items->count < count)
    return machine.error("not enough values to unpack (expected %u, got %u)", count, items->count);
  if (items->count > count)
    return machine.error("too many values to unpack (expected %u)", count);
  for (uint32_t i = count; i-- > 0;)
    ATTUNE_TRY(push(items->items[i]));
  return ATTUNE_OK;
}

attune_status Activation::endCapture(bool keep) {
  ATTUNE_TRY(need(1));
  Value mark = *--top;
  auto begin = static_cast<size_t>(mark.integer);
  if (!mark.is(Tag::Capture) || machine.captures == 0 || begin > machine.output.bytes)
    return damaged();
  --machine.captures;
  Text text(machine.output.data + begin, machine.output.bytes - begin);
  machine.output.bytes = begin;
  if (!keep)
    return ATTUNE_OK;
  Value value;
  ATTUNE_TRY(machine.copyText(text, value));
  return push(value);
}

attune_status Machine::run(uint32_t function, Frame &frame, Value &result) {
  constexpr uint32_t MaxDepth = 200;
  if (depth == MaxDepth)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the template nests more than %u calls", MaxDepth);
  ++depth;
  Value *saved = stackTop;
  Activation activation(*this, function, frame, stackTop);
  attune_status status = activation.run(result);
  // The innermost function adds its line to the message; the functions that called it leave the message unchanged.
  if (status != ATTUNE_OK && !located) {
    located = true;
    if (uint32_t line = activation.line())
      fail(status, "chat template, line %u: %s", line, attune_last_error());
  }
  stackTop = saved;
  --depth;
  return status;
}
