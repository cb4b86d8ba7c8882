//===- TemplateReader.h - Reading the tokens of chat templates ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATEREADER_H
#define ATTUNE_COMPILER_TEXT_TEMPLATEREADER_H

#include "compiler/Text/TemplateLexer.h"
#include "compiler/Text/TemplateNodes.h"

#include <algorithm>

namespace attune {

/// The tokens of a template, a position among them, and the first error of the parser. After an error all parse
/// functions return null.
class TemplateReader {
public:
  explicit TemplateReader(std::vector<TemplateToken> tokens) : tokens(std::move(tokens)) {}
  const Status &getProblem() const { return problem; }

protected:
  /// Counts the nesting of expressions and statements while it exists, and reports an error if it is more than 200
  /// deep.
  struct Nested {
    explicit Nested(TemplateReader &reader) : reader(reader) {
      if (++reader.depth > 200)
        reader.error("expressions or statements are nested more than 200 deep");
    }
    ~Nested() { --reader.depth; }
    TemplateReader &reader;
  };

  const TemplateToken &token() const { return tokens[index]; }
  const TemplateToken &following() const { return tokens[std::min(index + 1, tokens.size() - 1)]; }
  void skip() {
    if (index + 1 < tokens.size())
      ++index;
  }
  bool skipSign(std::string_view sign);
  bool skipName(std::string_view name);
  bool expectSign(std::string_view sign);
  std::string expectName();
  /// Resets the number of operators at the beginning of a statement.
  void beginStatement() { operators = 0; }
  /// Counts an operator. Fails if the statement has too many, since each makes its tree deeper.
  void countOperator() {
    if (++operators > 3000)
      error("a statement has more than 3000 operators");
  }

  bool failed() const { return problem.failed(); }
  std::nullptr_t error(const std::string &message) { return errorAt(token().line, message); }
  std::nullptr_t errorAt(unsigned line, const std::string &message);
  std::nullptr_t expected(const std::string &what);

  NodePtr make(NodeKind kind) { return std::make_unique<TemplateNode>(kind, token().line); }
  NodePtr make(NodeKind kind, unsigned line, NodePtr first, NodePtr second = nullptr);
  NodePtr makeName(const std::string &name, NameUse use, unsigned line);

private:
  std::vector<TemplateToken> tokens;
  size_t index = 0;
  unsigned depth = 0, operators = 0;
  Status problem;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATEREADER_H
