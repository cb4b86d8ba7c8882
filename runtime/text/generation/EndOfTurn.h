//===- EndOfTurn.h - The token that ends a message of the assistant -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_GENERATION_ENDOFTURN_H
#define ATTUNE_RUNTIME_TEXT_GENERATION_ENDOFTURN_H

#include "attune/chat.h"
#include "attune/text.h"

namespace attune::text {

/// Returns the id of the token that the template of |chat| writes behind a message of the assistant, as `<|im_end|>`,
/// or -1 if there is none or rendering fails. Replaces the values of |chat| by those of a probe conversation. If |date|
/// is null, the conversation has no date.
int64_t findEndOfTurn(const attune_text *text, attune_tokenizer *tokenizer, attune_chat *chat, const attune_chat_date *date);

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_GENERATION_ENDOFTURN_H
