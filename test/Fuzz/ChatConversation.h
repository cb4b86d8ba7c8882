//===- ChatConversation.h - A conversation to render ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_CHATCONVERSATION_H
#define ATTUNE_TEST_FUZZ_CHATCONVERSATION_H

#include "attune/chat.h"

#include <cstdlib>
#include <cstring>

namespace attune::fuzz {

/// Renders a conversation with tools by the compiled templates at |program|, |bytes| bytes at an address that is a
/// multiple of 8. Returns the status of opening the templates or of rendering. Aborts if the rendered text exceeds the
/// limit or lacks the NUL after it, or if a span of the assistant is not inside the text.
inline attune_status renderChat(const void *program, size_t bytes) {
  attune_chat_options options;
  attune_chat_options_init(&options);
  options.memory_bytes = size_t(4) << 20;
  options.output_bytes = 100000;
  options.max_steps = 200000;
  attune_chat *chat;
  if (attune_status status = attune_chat_open(program, bytes, &options, &chat); status != ATTUNE_OK)
    return status;
  auto text = [&](const char *value) { return attune_chat_text(chat, value, strlen(value)); };
  attune_chat_message(chat, "system", "S\n");
  attune_chat_message(chat, "user", " h\xC3\xA9 <b> ");
  attune_chat_value *message = attune_chat_message(chat, "assistant", ""), *variables = attune_chat_variables(chat);
  attune_chat_value *numbers = attune_chat_list(chat), *tool = attune_chat_dict(chat), *tools = attune_chat_list(chat);
  attune_chat_append(chat, attune_chat_append(chat, numbers, attune_chat_int(chat, -7)), attune_chat_float(chat, 2.5));
  attune_chat_append(chat, attune_chat_append(chat, numbers, attune_chat_none(chat)), attune_chat_bool(chat, 1));
  attune_chat_set(chat, attune_chat_set(chat, tool, "name", text("f")), "parameters", numbers);
  attune_chat_set(chat, variables, "tools", attune_chat_append(chat, tools, tool));
  attune_chat_set(chat, message, "tool_calls", tools);
  attune_chat_set(chat, message, "thinking", text("hm"));
  attune_chat_set(chat, variables, "x", numbers);
  attune_chat_date date = {2026, 2, 28, 1, 2, 3};
  attune_chat_set_date(chat, &date);
  attune_chat_rendered rendered;
  attune_status status = attune_chat_render(chat, &rendered);
  if (status == ATTUNE_OK) {
    if (strlen(rendered.text) > rendered.bytes || rendered.text[rendered.bytes] != 0 || rendered.bytes > options.output_bytes)
      abort();
    for (size_t i = 0; i < rendered.num_assistant; ++i)
      if (rendered.assistant[i].begin > rendered.assistant[i].end || rendered.assistant[i].end > rendered.bytes)
        abort();
  }
  attune_chat_close(chat);
  return status;
}

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_CHATCONVERSATION_H
