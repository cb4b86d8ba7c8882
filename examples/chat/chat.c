/*===- chat.c - A conversation with a model in a C program ------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * chat TALKER.text [SYSTEM] < messages: replies to each line of standard input, a message of one conversation. SYSTEM
 * is the system message. `attune compile MODEL -o talker.o` wrote the model: talker.o is part of this program,
 * talker.weights stays beside the program, and talker.text has the tokenizer and the chat template.
 *===-----------------------------------------------------------------------===*/
#include "attune/text_generation.h"

#include <stdio.h>
#include <string.h>

extern const attune_model_desc attune_model_talker;

/* Prints a piece of a reply as soon as it is generated. Ends the reply if standard output cannot be written. */
static int show(void *user, int64_t row, const char *piece, size_t bytes) {
  (void)user, (void)row;
  return fwrite(piece, 1, bytes, stdout) == bytes && fflush(stdout) == 0 ? ATTUNE_TOKEN_GO_ON : ATTUNE_TOKEN_END_ALL;
}

static int report(void) {
  fprintf(stderr, "chat: error: %s\n", attune_last_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: chat TALKER.text [SYSTEM] < messages\n");
    return 2;
  }
  attune_model *model;
  attune_text *text;
  attune_chat_session *chat;
  if (attune_model_open(&attune_model_talker, NULL, &model) != ATTUNE_OK || attune_text_open(argv[1], &text) != ATTUNE_OK)
    return report();
  attune_chat_session_options options;
  attune_chat_session_options_init(&options);
  options.on_text = show;
  if (argc > 2)
    options.system = argv[2], options.system_bytes = strlen(argv[2]);
  if (attune_chat_session_create(model, text, &options, &chat) != ATTUNE_OK)
    return report();
  char line[4096];
  while (fgets(line, sizeof(line), stdin)) {
    attune_chat_reply reply;
    if (attune_chat_session_send(chat, line, strcspn(line, "\n"), &reply) != ATTUNE_OK)
      return report();
    printf("\n");
    fprintf(stderr, "(%lld tokens, %lld of them from the cache, and %lld new ones)\n", (long long)reply.prompt_tokens,
            (long long)reply.reused_tokens, (long long)reply.reply_tokens);
  }
  attune_chat_session_destroy(chat);
  attune_text_close(text);
  attune_model_close(model);
  return 0;
}
