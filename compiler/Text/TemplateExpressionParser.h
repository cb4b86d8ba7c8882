//===- TemplateExpressionParser.h - Expressions of chat templates ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATEEXPRESSIONPARSER_H
#define ATTUNE_COMPILER_TEXT_TEMPLATEEXPRESSIONPARSER_H

#include "compiler/Text/TemplateReader.h"

namespace attune {

/// Parses expressions, and targets of assignments, which are a kind of expression.
class TemplateExpressionParser : public TemplateReader {
protected:
  using TemplateReader::TemplateReader;

  NodePtr parseTarget(bool withNamespace, const char *end);
  bool makeTarget(TemplateNode &node, NameUse use);
  NodePtr parseTuple(bool simple, bool withConditional, const char *end, bool parentheses, bool withNamespace);
  NodePtr parseExpression(bool withConditional = true);
  /// Parses the filters after |node|, which is null in a filter block. |startsInline| is true if the first filter has
  /// no "|" before it.
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
