//===- ChatProgram.h - Writing compiled chat templates --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_CHATPROGRAM_H
#define ATTUNE_COMPILER_TEXT_CHATPROGRAM_H

#include "runtime/text/chat/ChatFormat.h"

#include <map>
#include <string>
#include <vector>

namespace attune {

/// A builder of a chat program, the compiled form of a folder's chat templates (runtime/text/chat/ChatFormat.h).
class ChatProgram {
public:
  /// An instruction and its line in the template, from 1.
  struct Instruction {
    chat::Operation operation;
    uint32_t operand;
    unsigned line;
  };

  /// These functions return the index of a constant, variable or call in its table. A constant or variable that the
  /// table already has is not added again; each call is added.
  uint32_t string(const std::string &text);
  uint32_t integer(int64_t value);
  uint32_t number(double value);
  uint32_t variable(unsigned depth, unsigned slot, const std::string &name);
  uint32_t call(attune_chat_call call, const std::vector<std::string> &keywords);
  /// Adds |names| to the table of names and returns the index of the first.
  uint32_t names(const std::vector<std::string> &names);
  /// Adds an empty function, which setFunction sets later, and returns its index.
  uint32_t reserveFunction();
  /// Sets the function |index| to |function| with the instructions |code|. In |code| the target of a jump is an index
  /// into |code|.
  void setFunction(uint32_t index, attune_chat_function function, const std::vector<Instruction> &code);
  /// Adds a template. |function| is the index of its body, or ATTUNE_CHAT_NO_FUNCTION if |problem| says why it has
  /// none.
  void addTemplate(const std::string &name, uint32_t function, const std::string &problem);
  /// Returns false if the program is too large: if a table has 2^24 or more elements, which the operands of
  /// instructions cannot number, a function has more than 65535 slots, or the text has 1 GiB or more.
  bool fits() const;

  /// Returns the bytes of the program. |defaults| are the names and values of variables that every rendering has. It is
  /// an error to call this function twice, since it adds to the tables.
  std::string write(const std::vector<std::pair<std::string, std::string>> &defaults);

private:
  struct Template {
    std::string name;
    uint32_t function;
    std::string problem;
  };
  std::vector<Template> templates;
  std::vector<attune_chat_function> functions;
  std::vector<attune_chat_constant> constants;
  std::vector<attune_chat_variable> variables;
  std::vector<attune_chat_call> calls;
  std::vector<uint32_t> nameTable;
  std::vector<uint32_t> instructions;
  std::vector<attune_chat_line> lines;
  std::string text;
  std::map<std::string, uint32_t> strings;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> numbers;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> variableNumbers;

  attune_chat_string addText(const std::string &more);
};

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_CHATPROGRAM_H
