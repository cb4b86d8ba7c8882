//===- TemplateLexer.h - Tokens of chat templates -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATELEXER_H
#define ATTUNE_COMPILER_TEXT_TEMPLATELEXER_H

#include "compiler/Support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

enum class TokenKind { Data, OutputBegin, OutputEnd, BlockBegin, BlockEnd, Name, String, Integer, Float, Sign, End };

/// A token: text outside of tags, the beginning or the end of `{{ }}` or `{% %}`, a name, literal or sign inside of
/// these, or the end of the template.
struct TemplateToken {
  TokenKind kind;
  unsigned line;
  std::string text; ///< data, name, sign, or the value of a string
  int64_t integer = 0;
  double number = 0;

  bool isSign(std::string_view sign) const { return kind == TokenKind::Sign && text == sign; }
  bool isName(std::string_view name) const { return kind == TokenKind::Name && text == name; }
};

/// Returns the error "line LINE: MESSAGE".
Status templateError(unsigned line, const std::string &message);

/// Splits a template into tokens, by the white-space rules of trim_blocks and lstrip_blocks. Comments leave no tokens;
/// a raw block becomes text. The last token is End. Fails for text that is not UTF-8, for a tag, comment, raw block or
/// string without an end, and for characters and literals that are not supported.
Result<std::vector<TemplateToken>> lexTemplate(std::string_view source);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATELEXER_H
