//===- TemplateLexer.cpp - Tokens of chat templates -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lexer of Jinja2 with the options of transformers (trim_blocks, lstrip_blocks). White space around tags:
//
//   data   {%- tag -%}   data     "-" removes all white space on its side
//   data   {%+ tag +%}   data     "+" keeps the white space on its side
//       {% tag %}⏎                without a sign: a line end directly after the tag is removed (not after {% raw %}),
//                                 and white space before the tag is removed if nothing else precedes it on its line
//
// Comments and the tags of raw blocks follow these rules, too. Around {{ }} only "-" removes white space.
//===----------------------------------------------------------------------===//

#include "compiler/Text/TemplateLexer.h"
#include "compiler/Text/Unicode.h"
#include "runtime/text/chat/Machine.h"
#include "runtime/text/chat/Unicode.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace attune;

Status attune::templateError(unsigned line, const std::string &message) {
  return Status::error("line " + std::to_string(line) + ": " + message);
}

/// Returns the code point of the character at byte |position| of |text| and advances |position| to the next character.
/// |text| is UTF-8, which Lexer::run checks.
static uint32_t readCharacter(std::string_view text, size_t &position) { return chat::decodeUtf8({text.data(), text.size()}, position); }

/// Returns the position of the first character from |position| on that is not white space, or the size of |text|.
static size_t skipSpaces(std::string_view text, size_t position) {
  while (position < text.size()) {
    size_t next = position;
    if (!chat::isSpace(readCharacter(text, next)))
      break;
    position = next;
  }
  return position;
}

/// Returns the number of bytes of |text| without the white space at its end.
static size_t trimmedLength(std::string_view text) {
  size_t end = 0;
  for (size_t position = 0; position < text.size();) {
    bool space = chat::isSpace(readCharacter(text, position));
    if (!space)
      end = position;
  }
  return end;
}

/// Returns |literal|, the text between the quotes of a string literal, with Python's escape sequences replaced by the
/// characters that they stand for. Fails for an incomplete sequence, a sequence that is no character, and \N{…}.
static Result<std::string> unescapeLiteral(std::string_view literal, unsigned line) {
  // Jinja2 first replaces characters beyond ASCII by escape sequences. So a backslash before such a character escapes
  // the backslash of its sequence: `\é` becomes `\\xe9`, which stands for the four characters `\xe9`.
  std::string text, result;
  char buffer[16];
  for (size_t i = 0; i < literal.size();) {
    uint32_t character = readCharacter(literal, i);
    if (character < 0x80) {
      text += static_cast<char>(character);
      continue;
    }
    snprintf(buffer, sizeof(buffer), character < 0x100 ? "\\x%02x" : character < 0x10000 ? "\\u%04x" : "\\U%08x", character);
    text += buffer;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    char kind = text[++i];
    static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    if (const char *found = strchr(names, kind); found && kind) {
      result += values[found - names];
      continue;
    }
    if (kind == '\n')
      continue;
    uint32_t character = 0;
    if (kind >= '0' && kind <= '7') {
      size_t end = i;
      for (; end < text.size() && end < i + 3 && text[end] >= '0' && text[end] <= '7'; ++end)
        character = character * 8 + static_cast<uint32_t>(text[end] - '0');
      i = end - 1;
    } else if (kind == 'x' || kind == 'u' || kind == 'U') {
      size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
      for (size_t d = 1; d <= digits; ++d) {
        char c = i + d < text.size() ? text[i + d] : 0;
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
        if (digit < 0)
          return templateError(line, std::string("a string has an incomplete escape sequence '\\") + kind + "'");
        character = character * 16 + static_cast<uint32_t>(digit);
      }
      i += digits;
    } else if (kind == 'N') {
      return templateError(line, "characters by name ('\\N{…}') are not supported; write the character or its number ('\\u…')");
    } else {
      result += '\\';
      result += kind;
      continue;
    }
    if (character > 0x10FFFF || (character >= 0xD800 && character <= 0xDFFF))
      return templateError(line, "a string has an escape sequence that is no character; surrogates are not supported");
    text::appendCharacter(result, character);
  }
  return result;
}

namespace {

class Lexer {
public:
  explicit Lexer(std::string_view source);
  Status run();
  std::vector<TemplateToken> tokens;

private:
  std::string source;
  size_t position = 0;
  unsigned line = 1;
  bool lineStarting = true;

  bool at(std::string_view text) const { return source.compare(position, text.size(), text) == 0; }
  void advance(size_t end) {
    for (; position < end; ++position)
      line += source[position] == '\n';
  }
  void add(TokenKind kind, std::string text = "") { tokens.push_back({kind, line, std::move(text)}); }
  void addData(size_t end, char sign, bool strips);
  bool matchEnd(std::string_view close, bool trimsLine, size_t &end) const;
  size_t matchRaw(size_t begin, char &sign, std::string_view word, bool ends) const;
  Status lexComment();
  Status lexRaw();
  Status lexTag(bool block);
  Status lexNumber();
  Status lexString();
};

} // namespace

/// Copies |given| with "\n" for the line ends "\r\n" and "\r". Leaves out a line end at the end of the template.
Lexer::Lexer(std::string_view given) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] != '\r')
      source += given[i];
    else if (i + 1 == given.size() || given[i + 1] != '\n')
      source += '\n';
  }
  if (!source.empty() && source.back() == '\n')
    source.pop_back();
}

/// Adds a Data token for the text from the current position up to |end|, where a tag begins, and advances to |end|. The
/// token lacks the white space that the tag removes; there is no token if nothing is left. |sign| is the "-" or "+" at
/// the beginning of the tag, 0 if there is none. |strips| is false for `{{`, which removes nothing without a sign.
void Lexer::addData(size_t end, char sign, bool strips) {
  std::string_view text = std::string_view(source).substr(position, end - position);
  size_t length = text.size();
  if (sign == '-') {
    length = trimmedLength(text);
  } else if (sign != '+' && strips) {
    size_t lineBegin = text.rfind('\n') + 1; // 0 if |text| has no line end
    if ((lineBegin > 0 || lineStarting) && lineBegin < text.size() && skipSpaces(text, lineBegin) == text.size())
      length = lineBegin;
  }
  if (length)
    add(TokenKind::Data, std::string(text.substr(0, length)));
  advance(end);
}

/// Returns true if |close|, the end of a tag, is at the current position, perhaps after a sign. Then sets |end| to the
/// position after |close| and after the white space that it removes. |trimsLine| is false for `}}`, which does not
/// accept the sign "+" and, without a sign, does not remove a line end.
bool Lexer::matchEnd(std::string_view close, bool trimsLine, size_t &end) const {
  bool signedEnd = position < source.size() && (source[position] == '-' || (source[position] == '+' && trimsLine));
  if (signedEnd && source.compare(position + 1, close.size(), close) == 0) {
    end = position + 1 + close.size();
    if (source[position] == '-')
      end = skipSpaces(source, end);
    return true;
  }
  if (!at(close))
    return false;
  end = position + close.size();
  if (trimsLine && end < source.size() && source[end] == '\n')
    ++end;
  return true;
}

/// Matches the tag `{% raw %}` or, if |ends| is true, `{% endraw %}` at |begin|, the position of its "{%". |word| is
/// its name, "raw" or "endraw". Returns the position after the tag and the white space that it removes, and sets |sign|
/// to the sign after "{%", 0 if there is none. Returns 0 for another tag.
size_t Lexer::matchRaw(size_t begin, char &sign, std::string_view word, bool ends) const {
  size_t cursor = begin + 2;
  sign = cursor < source.size() && (source[cursor] == '-' || source[cursor] == '+') ? source[cursor++] : 0;
  cursor = skipSpaces(source, cursor);
  if (source.compare(cursor, word.size(), word) != 0)
    return 0;
  cursor = skipSpaces(source, cursor + word.size());
  if (source.compare(cursor, 3, "-%}") == 0)
    return skipSpaces(source, cursor + 3);
  if (ends && source.compare(cursor, 3, "+%}") == 0)
    return cursor + 3;
  if (source.compare(cursor, 2, "%}") != 0)
    return 0;
  cursor += 2;
  return ends && cursor < source.size() && source[cursor] == '\n' ? cursor + 1 : cursor;
}

/// Returns true if |c| is one of |characters|; false for NUL, which strchr finds at the end of every string.
static bool isAnyOf(const char *characters, char c) { return c != '\0' && strchr(characters, c) != nullptr; }

Status Lexer::run() {
  if (!chat::isUtf8({source.data(), source.size()}))
    return Status::error("the chat template is not UTF-8");
  while (position < source.size()) {
    size_t open = position;
    while ((open = source.find('{', open)) != std::string::npos && (open + 1 == source.size() || !isAnyOf("{%#", source[open + 1])))
      ++open;
    if (open == std::string::npos) {
      add(TokenKind::Data, source.substr(position));
      break;
    }
    char kind = source[open + 1], sign = 0;
    if (size_t end = kind == '%' ? matchRaw(open, sign, "raw", false) : 0) {
      addData(open, sign, true);
      advance(end);
      lineStarting = source[end - 1] == '\n';
      if (Status status = lexRaw(); status.failed())
        return status;
      continue;
    }
    size_t end = open + 2;
    if (end < source.size() && (source[end] == '-' || source[end] == '+'))
      sign = source[end++];
    else
      sign = 0;
    addData(open, sign, kind != '{');
    position = end;
    Status status = kind == '#' ? lexComment() : lexTag(kind == '%');
    if (status.failed())
      return status;
    lineStarting = position > 0 && source[position - 1] == '\n';
  }
  add(TokenKind::End);
  return Status();
}

Status Lexer::lexComment() {
  unsigned begin = line;
  for (; position < source.size(); advance(position + 1)) {
    size_t end;
    if (matchEnd("#}", true, end)) {
      advance(end);
      return Status();
    }
  }
  return templateError(begin, "a comment has no end, '#}'");
}

Status Lexer::lexRaw() {
  unsigned begin = line;
  for (size_t open = position; (open = source.find("{%", open)) != std::string::npos; ++open) {
    char sign;
    if (size_t end = matchRaw(open, sign, "endraw", true)) {
      addData(open, sign, true);
      advance(end);
      lineStarting = source[end - 1] == '\n';
      return Status();
    }
  }
  return templateError(begin, "a raw block has no end, '{% endraw %}'");
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

Status Lexer::lexNumber() {
  // Digits may be separated by single underscores.
  std::string plain;
  auto digits = [&](size_t begin, auto isOne) {
    size_t end = begin;
    while (end < source.size() &&
           (isOne(source[end]) || (source[end] == '_' && end > begin && end + 1 < source.size() && isOne(source[end + 1]))))
      ++end;
    return end;
  };
  size_t whole = digits(position, isDigit), end = whole;
  if (position > 0 && source[position - 1] == '.') {
    end = position; // "a.0.5" is item 5 of item 0 of a; there is no float in it
  } else {
    if (end + 1 < source.size() && source[end] == '.' && isDigit(source[end + 1]))
      end = digits(end + 1, isDigit);
    if (end < source.size() && (source[end] | 0x20) == 'e') {
      size_t exponent = end + 1 + (end + 1 < source.size() && (source[end + 1] == '-' || source[end + 1] == '+'));
      if (exponent < source.size() && isDigit(source[exponent]))
        end = digits(exponent, isDigit);
    }
  }
  TemplateToken token{TokenKind::Float, line, ""};
  int base = 10;
  if (end <= whole) {
    token.kind = TokenKind::Integer;
    char prefix = source[position] == '0' && position + 1 < source.size() ? static_cast<char>(source[position + 1] | 0x20) : 0;
    base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    auto isOne = [&](char c) {
      int digit = isDigit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10 : 99;
      return digit < base;
    };
    size_t begin = position;
    if (base != 10) {
      begin += 2 + (begin + 2 < source.size() && source[begin + 2] == '_');
      end = digits(begin, isOne);
      if (end == begin)
        base = 10;
    }
    if (base == 10) {
      // A decimal integer that begins with 0 ends after its zeros; digits after them are another token.
      begin = position;
      end = source[position] == '0' ? digits(position, [](char c) { return c == '0'; }) : whole;
    }
    for (size_t i = begin; i < end; ++i)
      if (source[i] != '_')
        plain += source[i];
    errno = 0;
    token.integer = strtoll(plain.c_str(), nullptr, base);
    if (errno)
      return templateError(line, "the integer " + plain + " has more than 64 bits");
  } else {
    for (size_t i = position; i < end; ++i)
      if (source[i] != '_')
        plain += source[i];
    // Unlike strtod, parseFloat takes a point for the decimal point in every locale.
    if (!chat::parseFloat({plain.data(), plain.size()}, token.number))
      return templateError(line, "a number has more than 1023 characters");
  }
  tokens.push_back(token);
  position = end;
  return Status();
}

Status Lexer::lexString() {
  char quote = source[position];
  size_t end = position + 1;
  while (end < source.size() && source[end] != quote)
    end += source[end] == '\\' ? 2 : 1;
  if (end >= source.size())
    return templateError(line, "a string has no end");
  Result<std::string> text = unescapeLiteral(std::string_view(source).substr(position + 1, end - position - 1), line);
  if (!text)
    return text.status();
  add(TokenKind::String, *text);
  advance(end + 1);
  return Status();
}

Status Lexer::lexTag(bool block) {
  unsigned begin = line;
  add(block ? TokenKind::BlockBegin : TokenKind::OutputBegin);
  std::string open; // the closing brackets that are still expected, the next one last
  static const char *const signs[] = {"//", "**", "==", "!=", ">=", "<="};
  while (position < source.size()) {
    size_t end;
    if (open.empty() && matchEnd(block ? "%}" : "}}", block, end)) {
      add(block ? TokenKind::BlockEnd : TokenKind::OutputEnd);
      advance(end);
      return Status();
    }
    char c = source[position];
    if (size_t behind = skipSpaces(source, position); behind != position) {
      advance(behind);
      continue;
    }
    if (isDigit(c)) {
      if (Status status = lexNumber(); status.failed())
        return status;
      continue;
    }
    if (isLetter(c)) {
      end = position;
      while (end < source.size() && (isLetter(source[end]) || isDigit(source[end])))
        ++end;
      add(TokenKind::Name, source.substr(position, end - position));
      position = end;
      continue;
    }
    if (c == '\'' || c == '"') {
      if (Status status = lexString(); status.failed())
        return status;
      continue;
    }
    std::string sign(1, c);
    for (const char *candidate : signs)
      if (at(candidate))
        sign = candidate;
    if (static_cast<unsigned char>(c) >= 0x80)
      return templateError(line, "a name has a character beyond ASCII, which is not supported");
    if (c == '!' && sign.size() == 1)
      return templateError(line, "unexpected character '!'");
    if (c == '\0')
      return templateError(line, "unexpected character U+0000");
    if (!isAnyOf("+-/*%~[](){}><=.:|,;!", c))
      return templateError(line, std::string("unexpected character '") + c + "'");
    if (isAnyOf("([{", c)) {
      open += c == '(' ? ')' : static_cast<char>(c + 2);
    } else if (isAnyOf(")]}", c)) {
      if (open.empty() || open.back() != c)
        return templateError(line, std::string("unexpected '") + c + "'");
      open.pop_back();
    }
    add(TokenKind::Sign, sign);
    position += sign.size();
  }
  return templateError(begin, block ? "a statement has no end, '%}'" : "an expression has no end, '}}'");
}

Result<std::vector<TemplateToken>> attune::lexTemplate(std::string_view source) {
  Lexer lexer(source);
  if (Status status = lexer.run(); status.failed())
    return status;
  return std::move(lexer.tokens);
}
