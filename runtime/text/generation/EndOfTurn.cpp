//===- EndOfTurn.cpp - The token that ends a message of the assistant -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The template tells how a message of the assistant ends. findEndOfTurn renders a conversation whose last message is a
// text that no template writes, skips white space after this text, and encodes the rest. If the first token of the rest
// is special or spelled as markup (`<…>`), a model that was trained on such conversations ends its replies by this
// token, which generation_config.json often lacks.
//===----------------------------------------------------------------------===//

#include "EndOfTurn.h"

#include <cstring>

using namespace attune;
using namespace attune::text;

int64_t attune::text::findEndOfTurn(const attune_text *text, attune_tokenizer *tokenizer, attune_chat *chat,
                                    const attune_chat_date *date) {
  static const char probe[] = "endofturnprobe";
  attune_chat_clear(chat);
  if (date)
    attune_chat_set_date(chat, date);
  attune_chat_message(chat, "user", "a");
  attune_chat_message(chat, "assistant", probe);
  attune_chat_set(chat, attune_chat_variables(chat), "add_generation_prompt", attune_chat_bool(chat, 0));
  attune_chat_rendered rendered;
  if (attune_chat_render(chat, &rendered) != ATTUNE_OK)
    return -1;
  const char *found = strstr(rendered.text, probe);
  if (!found)
    return -1;
  const char *tail = found + strlen(probe);
  tail += strspn(tail, " \t\r\n");
  attune_encode_options options;
  attune_encode_options_init(text, &options);
  options.add_special_tokens = 0;
  attune_text_input input{tail, static_cast<size_t>(rendered.text + rendered.bytes - tail), nullptr, 0};
  const attune_encoding *encodings;
  size_t count;
  if (attune_tokenizer_encode(tokenizer, &input, 1, &options, &encodings, &count) != ATTUNE_OK || encodings[0].length == 0)
    return -1;
  int64_t id = encodings[0].ids[0];
  size_t bytes = 0;
  const char *token = attune_text_token(text, id, &bytes);
  // Some tokenizers do not mark such a token, as "<|im_end|>", as special.
  bool isMarkup = bytes > 2 && token[0] == '<' && token[bytes - 1] == '>' && strncmp(tail, token, bytes) == 0;
  return attune_text_is_special(text, id) || isMarkup ? id : -1;
}
