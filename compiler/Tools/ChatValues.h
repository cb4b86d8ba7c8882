//===- ChatValues.h - Conversations from JSON -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_CHATVALUES_H
#define ATTUNE_COMPILER_TOOLS_CHATVALUES_H

#include "compiler/Support/Status.h"

#include "attune/chat.h"

#include <string_view>

namespace attune {

/// Makes the value of the JSON |text| in the memory of |chat|. Dictionaries keep the order of their keys, which
/// templates print; of two equal keys the last value stays, as in Python. Errors name |file|.
Result<attune_chat_value *> chatValueFromJson(attune_chat *chat, std::string_view text, const std::string &file);

/// Adds the members of the JSON object |text| to the variables of |chat|; one of a known name replaces the variable.
/// Errors name |file|.
Status setChatVariables(attune_chat *chat, std::string_view text, const std::string &file);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_CHATVALUES_H
