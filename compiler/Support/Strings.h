//===- Strings.h - Beginnings and ends of strings ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_STRINGS_H
#define ATTUNE_COMPILER_SUPPORT_STRINGS_H

#include <string_view>

namespace attune {

/// Returns true if |text| begins with |prefix|, or is equal to it.
inline bool startsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

/// Returns true if |text| ends with |suffix|, or is equal to it.
inline bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_STRINGS_H
