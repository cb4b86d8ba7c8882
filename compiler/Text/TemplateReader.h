//===- TemplateReader.h - Reading the tokens of chat templates ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATEREADER_H
#define ATTUNE_COMPILER_TEXT_TEMPLATEREADER_H

#include "compiler/Text/TemplateLexer.h"
#include "compiler/Text/TemplateNodes.h"

#include <algorithm>

namespace attune {

/// The tokens of a template, the position of the parser among them, and its first error. After an error, parse
/// functions return null or incomplete nodes, and parseTemplate returns the error instead of them.
class TemplateReader {
public:
  explicit TemplateReader(std::vector<TemplateToken> tokens) : tokens(std::move(tokens)) {}
  const Status &getProblem() const { return problem; }

protected:
  /// A level of nested expressions and statements, which lasts as long as the object. The constructor reports an error
  /// if there are more than 200 levels.
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
  /// Counts an operator, filter, test, call, subscript or inline `if` of the statement, which makes the tree of an
  /// expression deeper. Reports an error if there are more than 3000.
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
