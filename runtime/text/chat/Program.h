//===- Program.h - A compiled chat template -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_PROGRAM_H
#define ATTUNE_RUNTIME_TEXT_CHAT_PROGRAM_H

#include "Value.h"

#include "attune/runtime.h"
#include "ChatFormat.h"

namespace attune::chat {

/// The tables of a program. Their numbers are checked when it is opened, except the slots of variables and the targets
/// of calls, which are checked at each use.
class Program {
public:
  /// Reads the program of |bytes| bytes at |data|, which are borrowed. Fails with CORRUPT or INCOMPATIBLE.
  attune_status open(const void *data, size_t bytes);

  const attune_chat_header *header = nullptr;
  const attune_chat_template *templates = nullptr;
  const attune_chat_function *functions = nullptr;
  const attune_chat_constant *constants = nullptr;
  const attune_chat_variable *variables = nullptr;
  const attune_chat_call *calls = nullptr;
  const uint32_t *names = nullptr;
  const uint32_t *instructions = nullptr;
  const attune_chat_line *lines = nullptr;
  const char *text = nullptr;

  Value constant(uint32_t index) const;
  /// Returns the string of constant |index|, which is one.
  Text name(uint32_t index) const { return {text + constants[index].value, constants[index].bytes}; }
  Text string(attune_chat_string string) const { return {text + string.offset, string.bytes}; }
  /// Returns the template |name|, null if there is none.
  const attune_chat_template *find(Text name) const;
  /// Returns the line of |instruction|, 0 if it is not known.
  uint32_t lineOf(uint32_t instruction) const;

private:
  attune_status check() const;
  attune_status checkFunction(const attune_chat_function &function) const;
};

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_PROGRAM_H
