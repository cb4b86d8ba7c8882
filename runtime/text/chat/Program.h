//===- Program.h - A compiled chat template -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_PROGRAM_H
#define ATTUNE_RUNTIME_TEXT_CHAT_PROGRAM_H

#include "Value.h"

#include "attune/runtime.h"
#include "ChatFormat.h"

namespace attune::chat {

/// The compiled chat templates of a model: pointers to the tables of the program (ChatFormat.h). open() checks the
/// indices and offsets in the tables, except the slots of variables and the filter and test numbers of calls, which the
/// interpreter checks at each use.
class Program {
public:
  /// Reads the program of |bytes| bytes at |data|. The members point into |data|, which must outlive them. Fails with
  /// INCOMPATIBLE for a program of another version, and with CORRUPT if a check fails.
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
  /// Returns the text of constant |index|, which must be a string.
  Text name(uint32_t index) const { return {text + constants[index].value, constants[index].bytes}; }
  Text string(attune_chat_string string) const { return {text + string.offset, string.bytes}; }
  /// Returns the template |name|, null if there is none.
  const attune_chat_template *find(Text name) const;
  /// Returns the line of the template from which the instruction with index |instruction| comes; 0 if the program does
  /// not tell.
  uint32_t lineOf(uint32_t instruction) const;

private:
  attune_status check() const;
  attune_status checkFunction(const attune_chat_function &function) const;
};

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_PROGRAM_H
