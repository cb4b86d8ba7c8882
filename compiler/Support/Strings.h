//===- Strings.h - Beginnings and ends of strings ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_STRINGS_H
#define ATTUNE_SUPPORT_STRINGS_H

#include <string_view>

namespace attune {

inline bool startsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

inline bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

} // namespace attune

#endif // ATTUNE_SUPPORT_STRINGS_H
