//===- ChatValues.h - Conversations from JSON -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_CHATVALUES_H
#define ATTUNE_COMPILER_TOOLS_CHATVALUES_H

#include "compiler/Support/Status.h"

#include "attune/chat.h"

#include <string_view>

namespace attune {

/// Parses the JSON |text| to a value in the memory of |chat|. Dictionaries keep the order of their keys, since
/// templates print keys in this order. Of equal keys the last value stays, as in Python. Errors begin with |file|.
Result<attune_chat_value *> chatValueFromJson(attune_chat *chat, std::string_view text, const std::string &file);

/// Adds the members of the JSON object |text| to the variables of |chat|; a member replaces a variable of the same
/// name. Fails if |text| is not an object; members before an error have been added then. Errors begin with |file|.
Status setChatVariables(attune_chat *chat, std::string_view text, const std::string &file);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_CHATVALUES_H
