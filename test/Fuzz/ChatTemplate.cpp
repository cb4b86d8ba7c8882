//===- ChatTemplate.cpp - Fuzz the compiler of chat templates -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: the text of a template. The target compiles the template and renders a conversation by the program, with
// limits. The runtime must never find the program damaged or incompatible, and must fail with NOT_FOUND exactly if the
// compiler has warned that it cannot compile the template.
//===----------------------------------------------------------------------===//
#include "test/Fuzz/ChatConversation.h"

#include "compiler/Text/ChatTemplates.h"

#include <cstring>
#include <vector>

using namespace attune;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ChatTemplates templates;
  templates.templates.push_back({"default", "input", std::string(reinterpret_cast<const char *>(data), size)});
  templates.specialTokens = {{"bos_token", "<s>"}};
  std::vector<std::string> warnings;
  std::string program = compileChatTemplates(templates, warnings);
  std::vector<uint64_t> aligned(program.size() / 8 + 1);
  memcpy(aligned.data(), program.data(), program.size());
  attune_status status = fuzz::renderChat(aligned.data(), program.size());
  if (status == ATTUNE_CORRUPT || status == ATTUNE_INCOMPATIBLE || (status == ATTUNE_NOT_FOUND) != !warnings.empty())
    __builtin_trap();
  return 0;
}
