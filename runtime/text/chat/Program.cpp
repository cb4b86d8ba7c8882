//===- Program.cpp - Reading a compiled chat template ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a chat program. The bytes are untrusted: this file checks indices and offsets once, when the program is opened.
// The interpreter checks the rest at run time: the depth of its stack, the slots of variables, the numbers of filters
// and tests, the tags of values.
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "Unicode.h"

#include "runtime/src/Error.h"

#include <type_traits>

using namespace attune;
using namespace attune::chat;

static attune_status corrupt(const char *what) { return fail(ATTUNE_CORRUPT, "the chat template is damaged: %s", what); }

attune_status Program::open(const void *data, size_t bytes) {
  if (!data || reinterpret_cast<uintptr_t>(data) % 8 || bytes < sizeof(attune_chat_header))
    return corrupt("it is not at a multiple of 8, or shorter than its header");
  header = static_cast<const attune_chat_header *>(data);
  if (header->magic != ATTUNE_CHAT_MAGIC)
    return corrupt("it begins with another magic number");
  if (header->version != ATTUNE_CHAT_VERSION)
    return fail(ATTUNE_INCOMPATIBLE, "the chat template was compiled for version %u, this runtime has %u", header->version,
                ATTUNE_CHAT_VERSION);
  if (header->bytes != bytes)
    return corrupt("its length is not that of its header");
  const char *cursor = static_cast<const char *>(data) + sizeof(attune_chat_header);
  size_t left = bytes - sizeof(attune_chat_header);
  bool fits = true;
  auto table = [&](auto *&result, uint32_t count) {
    using Element = std::remove_reference_t<decltype(*result)>;
    if (!fits || count > left / sizeof(Element)) {
      fits = false;
      return;
    }
    result = reinterpret_cast<Element *>(cursor);
    cursor += count * sizeof(Element);
    left -= count * sizeof(Element);
  };
  table(templates, header->num_templates);
  table(functions, header->num_functions);
  // Constants hold 64-bit numbers, so they begin at a multiple of 8 bytes.
  size_t gap = static_cast<size_t>(-reinterpret_cast<intptr_t>(cursor)) & 7;
  if (fits && gap <= left) {
    cursor += gap;
    left -= gap;
  } else {
    fits = false;
  }
  table(constants, header->num_constants);
  table(variables, header->num_variables);
  table(calls, header->num_calls);
  table(names, header->num_names);
  table(instructions, header->num_instructions);
  table(lines, header->num_lines);
  table(text, header->text_bytes);
  if (!fits)
    return corrupt("its tables are longer than the whole");
  return check();
}

attune_status Program::check() const {
  auto inText = [&](uint64_t offset, uint64_t length) { return offset <= header->text_bytes && length <= header->text_bytes - offset; };
  auto isString = [&](uint32_t constant) { return constant < header->num_constants && constants[constant].kind == ATTUNE_CHAT_STRING; };
  for (uint32_t i = 0; i < header->num_constants; ++i) {
    const attune_chat_constant &constant = constants[i];
    if (constant.kind > ATTUNE_CHAT_FLOAT || (constant.kind == ATTUNE_CHAT_STRING && (!inText(constant.value, constant.bytes) ||
                                                                                      !isUtf8({text + constant.value, constant.bytes}))))
      return corrupt("a constant");
  }
  for (uint32_t i = 0; i < header->num_templates; ++i) {
    const attune_chat_template &entry = templates[i];
    if (!inText(entry.name.offset, entry.name.bytes) || !inText(entry.text.offset, entry.text.bytes) ||
        (entry.function != ATTUNE_CHAT_NO_FUNCTION && entry.function >= header->num_functions))
      return corrupt("a template");
  }
  for (uint32_t i = 0; i < header->num_names; ++i)
    if (!isString(names[i]))
      return corrupt("a name");
  if (header->num_defaults > header->num_names / 2)
    return corrupt("the number of default variables");
  for (uint32_t i = 0; i < header->num_variables; ++i)
    if (!isString(variables[i].name))
      return corrupt("a variable");
  for (uint32_t i = 0; i < header->num_calls; ++i)
    if (calls[i].first_name > header->num_names || calls[i].num_keywords > header->num_names - calls[i].first_name)
      return corrupt("a call");
  for (uint32_t i = 0; i < header->num_functions; ++i)
    ATTUNE_TRY(checkFunction(functions[i]));
  return ATTUNE_OK;
}

attune_status Program::checkFunction(const attune_chat_function &function) const {
  uint64_t first = function.first_instruction, end = first + function.num_instructions;
  if (end > header->num_instructions || function.num_instructions == 0 || function.num_slots > 0xFFFF ||
      function.num_parameters + 3u > function.num_slots || function.first_name > header->num_names ||
      function.num_parameters > header->num_names - function.first_name || function.name >= header->num_constants ||
      constants[function.name].kind != ATTUNE_CHAT_STRING)
    return corrupt("a function");
  for (uint64_t i = first; i < end; ++i) {
    uint32_t operation = instructions[i] & 0xFF, operand = instructions[i] >> 8, limit = UINT32_MAX;
    if (operation >= static_cast<uint32_t>(Operation::Count))
      return corrupt("an unknown instruction");
    if (operation == static_cast<uint32_t>(Operation::Next) && i + 2 >= end)
      return corrupt("a loop at the end of a function");
    switch (operandKinds[operation]) {
    case OperandKind::String:
      if (operand >= header->num_constants || constants[operand].kind != ATTUNE_CHAT_STRING)
        return corrupt("an instruction with a string");
      break;
    case OperandKind::Constant:
      limit = header->num_constants;
      break;
    case OperandKind::Variable:
      limit = header->num_variables;
      break;
    case OperandKind::Comparison:
      limit = ATTUNE_CHAT_NUM_COMPARISONS;
      break;
    case OperandKind::Call:
      limit = header->num_calls;
      break;
    case OperandKind::Function:
      limit = header->num_functions;
      break;
    case OperandKind::Slot:
      limit = function.num_slots;
      break;
    case OperandKind::Target:
      if (operand < first)
        return corrupt("a jump");
      limit = static_cast<uint32_t>(end);
      break;
    case OperandKind::Nothing:
    case OperandKind::Count:
      break;
    }
    if (operand >= limit)
      return corrupt("the operand of an instruction");
  }
  // A function must not run past its end.
  switch (static_cast<Operation>(instructions[end - 1] & 0xFF)) {
  case Operation::Return:
  case Operation::ReturnValue:
  case Operation::Jump:
    return ATTUNE_OK;
  default:
    return corrupt("a function without an end");
  }
}

Value Program::constant(uint32_t index) const {
  const attune_chat_constant &constant = constants[index];
  if (constant.kind == ATTUNE_CHAT_STRING)
    return Value::ofText({text + constant.value, constant.bytes});
  if (constant.kind == ATTUNE_CHAT_INTEGER)
    return Value::ofInt(static_cast<int64_t>(constant.value));
  double number;
  memcpy(&number, &constant.value, sizeof(number));
  return Value::ofFloat(number);
}

const attune_chat_template *Program::find(Text name) const {
  for (uint32_t i = 0; i < header->num_templates; ++i)
    if (string(templates[i].name) == name)
      return &templates[i];
  return nullptr;
}

uint32_t Program::lineOf(uint32_t instruction) const {
  uint32_t begin = 0, end = header->num_lines;
  while (begin < end) {
    uint32_t middle = begin + (end - begin) / 2;
    if (lines[middle].instruction <= instruction)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin ? lines[begin - 1].line : 0;
}
