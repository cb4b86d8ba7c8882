//===- ChatProgram.cpp - Writing compiled chat templates ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/ChatProgram.h"

#include <cstring>

using namespace attune;

attune_chat_string ChatProgram::addText(const std::string &more) {
  attune_chat_string string{static_cast<uint32_t>(text.size()), static_cast<uint32_t>(more.size())};
  text += more;
  return string;
}

uint32_t ChatProgram::string(const std::string &value) {
  auto [entry, added] = strings.try_emplace(value, static_cast<uint32_t>(constants.size()));
  if (added) {
    attune_chat_string stored = addText(value);
    constants.push_back({ATTUNE_CHAT_STRING, stored.bytes, stored.offset});
  }
  return entry->second;
}

uint32_t ChatProgram::integer(int64_t value) {
  auto bits = static_cast<uint64_t>(value);
  auto [entry, added] = numbers.try_emplace({ATTUNE_CHAT_INTEGER, bits}, static_cast<uint32_t>(constants.size()));
  if (added)
    constants.push_back({ATTUNE_CHAT_INTEGER, 0, bits});
  return entry->second;
}

uint32_t ChatProgram::number(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  auto [entry, added] = numbers.try_emplace({ATTUNE_CHAT_FLOAT, bits}, static_cast<uint32_t>(constants.size()));
  if (added)
    constants.push_back({ATTUNE_CHAT_FLOAT, 0, bits});
  return entry->second;
}

uint32_t ChatProgram::variable(unsigned depth, unsigned slot, const std::string &name) {
  uint32_t nameIndex = string(name);
  auto [entry, added] = variableNumbers.try_emplace({depth << 16 | slot, nameIndex}, static_cast<uint32_t>(variables.size()));
  if (added)
    variables.push_back({static_cast<uint16_t>(depth), static_cast<uint16_t>(slot), nameIndex});
  return entry->second;
}

uint32_t ChatProgram::names(const std::vector<std::string> &list) {
  auto first = static_cast<uint32_t>(nameTable.size());
  for (const std::string &name : list)
    nameTable.push_back(string(name));
  return first;
}

uint32_t ChatProgram::call(attune_chat_call call, const std::vector<std::string> &keywords) {
  call.num_keywords = static_cast<uint16_t>(keywords.size());
  call.first_name = names(keywords);
  calls.push_back(call);
  return static_cast<uint32_t>(calls.size() - 1);
}

uint32_t ChatProgram::reserveFunction() {
  functions.emplace_back();
  return static_cast<uint32_t>(functions.size() - 1);
}

void ChatProgram::setFunction(uint32_t index, attune_chat_function function, const std::vector<Instruction> &code) {
  function.first_instruction = static_cast<uint32_t>(instructions.size());
  function.num_instructions = static_cast<uint32_t>(code.size());
  for (const Instruction &instruction : code) {
    auto operation = static_cast<uint32_t>(instruction.operation);
    bool jumps = chat::operandKinds[operation] == chat::OperandKind::Target;
    if (lines.empty() || lines.back().line != instruction.line)
      lines.push_back({static_cast<uint32_t>(instructions.size()), instruction.line});
    instructions.push_back(operation | (instruction.operand + (jumps ? function.first_instruction : 0)) << 8);
  }
  functions[index] = function;
}

void ChatProgram::addTemplate(const std::string &name, uint32_t function, const std::string &problem) {
  templates.push_back({name, function, problem});
}

bool ChatProgram::fits() const {
  constexpr size_t Limit = size_t(1) << 24;
  for (const attune_chat_function &function : functions)
    if (function.num_slots > 0xFFFF)
      return false;
  return functions.size() < Limit && constants.size() < Limit && variables.size() < Limit && calls.size() < Limit &&
         instructions.size() < Limit && text.size() < (size_t(1) << 30);
}

std::string ChatProgram::write(const std::vector<std::pair<std::string, std::string>> &defaults) {
  for (const auto &[name, value] : defaults)
    names({name, value});
  std::vector<attune_chat_template> entries;
  for (const Template &entry : templates) {
    attune_chat_string name = addText(entry.name);
    entries.push_back({name, entry.function, 0, addText(entry.problem)});
  }
  attune_chat_header header = {};
  header.magic = ATTUNE_CHAT_MAGIC;
  header.version = ATTUNE_CHAT_VERSION;
  header.num_defaults = static_cast<uint32_t>(defaults.size());
  std::string bytes(sizeof(header), '\0');
  auto table = [&](const auto &elements, uint32_t &count) {
    count = static_cast<uint32_t>(elements.size());
    if (count)
      bytes.append(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(elements[0]));
  };
  table(entries, header.num_templates);
  table(functions, header.num_functions);
  bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
  table(constants, header.num_constants);
  table(variables, header.num_variables);
  table(calls, header.num_calls);
  table(nameTable, header.num_names);
  table(instructions, header.num_instructions);
  table(lines, header.num_lines);
  table(text, header.text_bytes);
  header.bytes = static_cast<uint32_t>(bytes.size());
  memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}
