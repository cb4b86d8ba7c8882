//===- ChatTest.c - The C interface of chat templates ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: attune-test-chat-api OUT.text. The default chat template of OUT.text is that of Inputs/api. The C compiler
// links this program, which shows that libattune_text needs no C++ library.
//===----------------------------------------------------------------------===//
#include "attune/chat.h"
#include "attune/text.h"

#include "test/Runtime/Check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static attune_chat *openChat(const void *program, size_t bytes, const attune_chat_options *options) {
  attune_chat *chat;
  CHECK(attune_chat_open(program, bytes, options, &chat) == ATTUNE_OK);
  return chat;
}

/// Ends the program unless a call that returned |status| has failed with |expected| and an error text that contains
/// |message|.
static void checkFailure(attune_status status, attune_status expected, const char *message) {
  if (status != expected || !strstr(attune_last_error(), message)) {
    fprintf(stderr, "expected %s '%s', got %s '%s'\n", attune_status_name(expected), message, attune_status_name(status),
            attune_last_error());
    exit(1);
  }
}

static void testRender(const void *program, size_t bytes) {
  attune_chat *chat = openChat(program, bytes, NULL);
  attune_chat_rendered rendered;
  checkFailure(attune_chat_render(chat, &rendered), ATTUNE_INVALID_ARGUMENT, "at least one message");
  CHECK(attune_chat_message(chat, "user", "Hé"));
  attune_chat_value *variables = attune_chat_variables(chat);
  CHECK(attune_chat_set(chat, variables, "add_generation_prompt", attune_chat_bool(chat, 1)));
  CHECK(attune_chat_render(chat, &rendered) == ATTUNE_OK);
  CHECK(strcmp(rendered.text, "<s>user: Hé\nassistant:") == 0 && rendered.bytes == strlen(rendered.text));
  CHECK(rendered.num_assistant == 0);
  // The conversation continues: the former rendering has left no state.
  attune_chat_value *answer = attune_chat_message(chat, "assistant", "Yes");
  CHECK(attune_chat_set(chat, answer, "thinking", attune_chat_text(chat, "hm", 2)));
  CHECK(attune_chat_set(chat, variables, "add_generation_prompt", attune_chat_bool(chat, 0)));
  CHECK(attune_chat_render(chat, &rendered) == ATTUNE_OK);
  CHECK(strcmp(rendered.text, "<s>user: Hé\nassistant: (hm)Yes\n") == 0);
  CHECK(rendered.num_assistant == 1 && memcmp(rendered.text + rendered.assistant[0].begin, "(hm)Yes", 7) == 0 &&
        rendered.assistant[0].end - rendered.assistant[0].begin == 7);
  // A special token that the caller sets replaces the tokenizer's.
  CHECK(attune_chat_set(chat, variables, "bos_token", attune_chat_text(chat, "[", 1)));
  CHECK(attune_chat_render(chat, &rendered) == ATTUNE_OK && rendered.text[0] == '[');
  CHECK(attune_chat_message(chat, "date", ""));
  checkFailure(attune_chat_render(chat, &rendered), ATTUNE_INVALID_ARGUMENT, "chat template, line 5: the template prints the date");
  CHECK(rendered.text == NULL && rendered.bytes == 0);
  attune_chat_date date = {2024, 2, 29, 0, 0, 0};
  CHECK(attune_chat_set_date(chat, &date) == ATTUNE_OK);
  CHECK(attune_chat_render(chat, &rendered) == ATTUNE_OK && strstr(rendered.text, "Thu 29 February 2024"));
  date.month = 13;
  checkFailure(attune_chat_set_date(chat, &date), ATTUNE_INVALID_ARGUMENT, "there is no date 2024-13-29");
  date.month = 2;
  date.day = 30;
  checkFailure(attune_chat_set_date(chat, &date), ATTUNE_INVALID_ARGUMENT, "there is no date 2024-2-30");
  CHECK(attune_chat_message(chat, "other", "x"));
  checkFailure(attune_chat_render(chat, &rendered), ATTUNE_INVALID_ARGUMENT, "line 7: unknown role other");
  attune_chat_clear(chat);
  checkFailure(attune_chat_render(chat, &rendered), ATTUNE_INVALID_ARGUMENT, "at least one message");
  attune_chat_close(chat);
}

static void testValues(const void *program, size_t bytes) {
  attune_chat *chat = openChat(program, bytes, NULL);
  attune_chat_value *list = attune_chat_list(chat), *dict = attune_chat_dict(chat);
  CHECK(list && dict);
  CHECK(!attune_chat_append(chat, dict, list) && strstr(attune_last_error(), "expected a list"));
  CHECK(!attune_chat_set(chat, list, "a", dict) && strstr(attune_last_error(), "expected a dictionary"));
  CHECK(!attune_chat_append(chat, list, NULL) && !attune_chat_append(chat, NULL, list));
  CHECK(!attune_chat_text(chat, "\xC3", 1) && strstr(attune_last_error(), "not UTF-8"));
  CHECK(!attune_chat_text(chat, "\xED\xA0\x80", 3) && !attune_chat_text(chat, "\xC0\x80", 2) && attune_chat_text(chat, "", 0));
  CHECK(!attune_chat_none(NULL) && !attune_chat_variables(NULL) && !attune_chat_message(chat, NULL, ""));
  CHECK(attune_chat_set(chat, attune_chat_variables(chat), "messages", attune_chat_int(chat, 1)));
  CHECK(!attune_chat_message(chat, "user", "x") && strstr(attune_last_error(), "'messages' is not a list"));
  attune_chat_close(chat);
}

static void testLimits(const void *program, size_t bytes) {
  attune_chat_options options;
  attune_chat_options_init(&options);
  attune_chat *chat;
  attune_chat_rendered rendered;
  options.memory_bytes = 1;
  checkFailure(attune_chat_open(program, bytes, &options, &chat), ATTUNE_INVALID_ARGUMENT, "memory_bytes");
  CHECK(chat == NULL);
  attune_chat_options_init(&options);
  options.struct_bytes = 3;
  checkFailure(attune_chat_open(program, bytes, &options, &chat), ATTUNE_INVALID_ARGUMENT, "attune_chat_options_init");
  attune_chat_options_init(&options);
  options.template_name = "nosuch";
  checkFailure(attune_chat_open(program, bytes, &options, &chat), ATTUNE_NOT_FOUND, "no chat template 'nosuch'");
  attune_chat_options_init(&options);
  options.output_bytes = 10;
  chat = openChat(program, bytes, &options);
  CHECK(attune_chat_message(chat, "user", "much too long"));
  checkFailure(attune_chat_render(chat, &rendered), ATTUNE_LIMIT_EXCEEDED, "output_bytes");
  attune_chat_close(chat);
  attune_chat_options_init(&options);
  options.max_steps = 5;
  chat = openChat(program, bytes, &options);
  CHECK(attune_chat_message(chat, "user", "x"));
  checkFailure(attune_chat_render(chat, &rendered), ATTUNE_LIMIT_EXCEEDED, "max_steps");
  attune_chat_close(chat);
  attune_chat_options_init(&options);
  options.memory_bytes = 1 << 20;
  chat = openChat(program, bytes, &options);
  attune_chat_value *list = attune_chat_list(chat);
  int count = 0;
  while (attune_chat_append(chat, list, attune_chat_text(chat, "some text", 9)) && count < 1000000)
    ++count;
  CHECK(count > 10000 && count < 1000000 && strstr(attune_last_error(), "memory_bytes"));
  attune_chat_close(chat);
}

/// Flips one bit of each byte of the program in turn. Opening or rendering may then fail with an error, and must not
/// crash. Before that, checks the errors for a wrong length, address, header and version.
static void testDamage(const char *program, size_t bytes) {
  char *copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
  attune_chat *chat;
  memcpy(copy, program, bytes);
  checkFailure(attune_chat_open(copy, bytes - 1, NULL, &chat), ATTUNE_CORRUPT, "length");
  checkFailure(attune_chat_open(copy + 1, bytes - 1, NULL, &chat), ATTUNE_CORRUPT, "multiple of 8");
  checkFailure(attune_chat_open(NULL, 0, NULL, &chat), ATTUNE_CORRUPT, "header");
  copy[4] = 9;
  checkFailure(attune_chat_open(copy, bytes, NULL, &chat), ATTUNE_INCOMPATIBLE, "version 9");
  for (size_t i = 0; i < bytes; ++i) {
    memcpy(copy, program, bytes);
    copy[i] ^= (char)(1 << i % 8);
    attune_chat_options options;
    attune_chat_options_init(&options);
    options.memory_bytes = 1 << 20;
    options.max_steps = 100000;
    if (attune_chat_open(copy, bytes, &options, &chat) != ATTUNE_OK)
      continue;
    attune_chat_rendered rendered;
    attune_chat_message(chat, "user", "x");
    attune_chat_message(chat, "assistant", "y");
    (void)attune_chat_render(chat, &rendered);
    attune_chat_close(chat);
  }
  free(copy);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  attune_text *text;
  CHECK(attune_text_open(argv[1], &text) == ATTUNE_OK);
  size_t bytes;
  const void *program = attune_text_chat_program(text, &bytes);
  CHECK(program && !attune_text_chat_program(NULL, &bytes) && bytes == 0);
  program = attune_text_chat_program(text, &bytes);
  testRender(program, bytes);
  testValues(program, bytes);
  testLimits(program, bytes);
  testDamage(program, bytes);
  attune_text_close(text);
  puts("ok");
  return 0;
}
