//===- TemplateFunction.h - A function of a chat template -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATEFUNCTION_H
#define ATTUNE_COMPILER_TEXT_TEMPLATEFUNCTION_H

#include "compiler/Support/Status.h"
#include "compiler/Text/ChatProgram.h"
#include "compiler/Text/TemplateScopes.h"

namespace attune {

/// A function of a chat program while its instructions and variables are collected; the base of the emitter in
/// TemplateCode.cpp.
class TemplateFunction {
public:
  /// |problem| receives the first error of the template. |outer| is the enclosing function, null for the body of the
  /// template.
  TemplateFunction(ChatProgram &program, Status &problem, SlotOwner *outer) : program(program), problem(problem) { owner.outer = outer; }

protected:
  ChatProgram &program;
  Status &problem;
  SlotOwner owner;
  unsigned line = 1; ///< the line of the template that emit and error record

  void error(const std::string &message);
  /// Appends an instruction and returns its index in this function.
  uint32_t emit(chat::Operation operation, uint32_t operand = 0) {
    code.push_back({operation, operand, line});
    return static_cast<uint32_t>(code.size() - 1);
  }
  /// Sets the target of the jump with the index |jump| to the instruction that is appended next.
  void patch(uint32_t jump) { code[jump].operand = static_cast<uint32_t>(code.size()); }
  void emitVariable(chat::Operation operation, const VariableRef &ref, const std::string &name);
  /// Returns a new slot that no name of the template stands for.
  VariableRef hiddenSlot() { return {&owner, owner.numSlots++}; }
  VariableRef lookUp(const std::string &name, const TemplateScope &scope);
  /// Emits code that gives the variables of |scope| their initial values. Emits nothing for LoadKind::Parameter: a call
  /// or other code sets these variables.
  void enter(const TemplateScope &scope);
  /// Emits code that clears the variables of |scope|.
  void leave(const TemplateScope &scope);
  /// Appends a return, sets function |index| of the program to the collected instructions, and returns |index|. |name|
  /// is the name of a macro, else ""; |flags| are those of attune_chat_function.
  uint32_t finish(uint32_t index, const std::string &name, const std::vector<std::string> &parameters, unsigned flags);

private:
  std::vector<ChatProgram::Instruction> code;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATEFUNCTION_H
