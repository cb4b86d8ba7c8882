//===- SizeExprParser.cpp - Size expressions from their text --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// expr    := product ('+' product)*
// product := factor ('*' factor | '/' integer)*
// factor  := integer | symbol | '(' expr ')' | '(' expr '>' expr '?' expr ':' expr ')', the last being the maximum of the first two
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/SizeExpr.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune;
using llvm::StringRef;

namespace {

using Result = std::optional<SizeExpr>;

/// Recursive descent over the text that is left.
struct Parser {
  StringRef text;
  int depth = 0;

  bool accept(char c) {
    text = text.ltrim();
    return text.consume_front(StringRef(&c, 1));
  }

  Result parseExpr() {
    Result sum = parseProduct();
    while (sum && accept('+')) {
      Result right = parseProduct();
      sum = right ? Result(*sum + *right) : std::nullopt;
    }
    return sum;
  }

  Result parseProduct() {
    Result product = parseFactor();
    while (product) {
      if (accept('*')) {
        Result right = parseFactor();
        product = right ? Result(*product * *right) : std::nullopt;
      } else if (accept('/')) {
        Result right = parseFactor();
        std::optional<int64_t> divisor = right ? right->getConstant() : std::nullopt;
        product = divisor && *divisor > 0 ? Result(product->floorDiv(*divisor)) : std::nullopt;
      } else {
        break;
      }
    }
    return product;
  }

  Result parseFactor() {
    if (accept('('))
      return parseParentheses();
    text = text.ltrim();
    bool isNegative = text.consume_front("-");
    if (uint64_t value = 0; !text.empty() && llvm::isDigit(text.front())) {
      if (text.consumeInteger(10, value) || value > static_cast<uint64_t>(INT64_MAX))
        return std::nullopt;
      return SizeExpr(isNegative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value));
    }
    StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '#' || c == '.'; });
    text = text.drop_front(name.size());
    return name.empty() || isNegative ? std::nullopt : Result(SizeExpr::symbol(name));
  }

  Result parseParentheses() {
    if (++depth > 256) // untrusted text must not exhaust the stack
      return std::nullopt;
    Result value = parseExpr();
    if (value && accept('>')) {
      Result other = parseExpr();
      if (!other || !accept('?') || !parseExpr() || !accept(':') || !parseExpr())
        return std::nullopt;
      value = SizeExpr::max(*value, *other);
    }
    --depth;
    return accept(')') ? value : std::nullopt;
  }
};

} // namespace

std::optional<SizeExpr> SizeExpr::parse(StringRef text) {
  Parser parser{text};
  Result result = parser.parseExpr();
  return parser.text.trim().empty() ? result : std::nullopt;
}
