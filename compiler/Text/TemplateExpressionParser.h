//===- TemplateExpressionParser.h - Expressions of chat templates ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATEEXPRESSIONPARSER_H
#define ATTUNE_COMPILER_TEXT_TEMPLATEEXPRESSIONPARSER_H

#include "compiler/Text/TemplateReader.h"

namespace attune {

/// A parser of the expressions of a template and of the targets that `for`, `set` and `with` assign to. It parses a
/// target as an expression and then checks that it can be one.
class TemplateExpressionParser : public TemplateReader {
protected:
  using TemplateReader::TemplateReader;

  NodePtr parseTarget(bool withNamespace, const char *end);
  bool makeTarget(TemplateNode &node, NameUse use);
  NodePtr parseTuple(bool simple, bool withConditional, const char *end, bool parentheses, bool withNamespace);
  NodePtr parseExpression(bool withConditional = true);
  /// Parses a chain of filters and returns the node of the last one; |node| is the subject of the first. Returns |node|
  /// itself if no filter follows, and null after an error. In the tags `{% filter %}` and `{% set x | f %}`, |node| is
  /// null and stands for the text of the block. |startsInline| is true if no "|" precedes the first filter, as in a
  /// filter block.
  NodePtr parseFilter(NodePtr node, bool startsInline);

private:
  bool atTupleEnd(const char *end) const;
  NodePtr parseOr();
  NodePtr parseAnd();
  NodePtr parseNot();
  NodePtr parseCompare();
  NodePtr parseSum();
  NodePtr parseConcat();
  NodePtr parseProduct();
  NodePtr parsePower();
  NodePtr parseUnary(bool withFilters = true);
  NodePtr parsePrimary(bool withNamespace);
  NodePtr parseList();
  NodePtr parseDict();
  NodePtr parsePostfix(NodePtr node);
  NodePtr parseFilters(NodePtr node);
  NodePtr parseSubscript(NodePtr node);
  NodePtr parseSubscribed();
  NodePtr parseCall(NodePtr node);
  bool parseArguments(TemplateNode &node);
  NodePtr parseTest(NodePtr node);
};

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATEEXPRESSIONPARSER_H
