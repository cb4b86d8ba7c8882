//===- TemplateNodes.h - The syntax tree of chat templates ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATENODES_H
#define ATTUNE_COMPILER_TEXT_TEMPLATENODES_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace attune {

enum class NodeKind {
  // Expressions.
  None,
  Boolean,
  Integer,
  Float,
  String,
  Name,
  NamespaceField, ///< `a.b` as a target
  List,
  Tuple,
  Dict, ///< keys and values alternate in operands
  Attribute,
  Item,
  Slice,  ///< object, start, stop, step; null = not given
  Call,   ///< operands[0] is called
  Filter, ///< operands[0] is the subject, null in filter blocks
  Test,
  Not,
  Negate,
  Plus,
  Binary, ///< text is the operator
  Concat,
  And,
  Or,
  Compare,     ///< words are the operators between the operands
  Conditional, ///< condition, value, else (may be null)
  // Statements.
  Text,
  Output,
  If,  ///< operands[0] is the condition; branches are Ifs
  For, ///< target, sequence, condition (may be null)
  Set,
  SetBlock, ///< target, filter (may be null)
  FilterBlock,
  With, ///< targets and values alternate
  Macro,
  CallBlock, ///< otherwise[0] is the call, operands are the parameters
  Generation,
  Break,
  Continue
};

/// The use of a name: read, written, or declared as a parameter of a macro or a variable of `with`.
enum class NameUse { Load, Store, Parameter };

struct TemplateNode;
using NodePtr = std::unique_ptr<TemplateNode>;
using NodeList = std::vector<NodePtr>;

/// An expression or a statement. The meaning of the fields depends on the kind.
struct TemplateNode {
  NodeKind kind;
  unsigned line;
  std::string text;  ///< name, string, operator, attribute; of a NamespaceField the namespace
  std::string field; ///< of a NamespaceField
  int64_t integer = 0;
  double number = 0;
  NameUse use = NameUse::Load;
  NodeList operands;
  std::vector<std::string> words;

  // Arguments of calls, filters and tests.
  NodeList arguments;
  std::vector<std::pair<std::string, NodePtr>> keywords;
  NodePtr spread, spreadKeywords;

  // Bodies of statements. Parameters of macros are in operands, with defaults for the last of them.
  NodeList body, otherwise, branches, defaults;

  TemplateNode(NodeKind kind, unsigned line) : kind(kind), line(line) {}
};

/// Calls |visit| for each child in the order in which Jinja2 visits them.
template <typename Visit>
void forEachChild(const TemplateNode &node, Visit visit) {
  auto each = [&](const NodeList &list) {
    for (const NodePtr &child : list)
      if (child)
        visit(*child);
  };
  bool bodyFirst = node.kind == NodeKind::FilterBlock;
  if (bodyFirst)
    each(node.body);
  each(node.operands);
  each(node.arguments);
  for (const auto &[name, value] : node.keywords)
    visit(*value);
  if (node.spread)
    visit(*node.spread);
  if (node.spreadKeywords)
    visit(*node.spreadKeywords);
  each(node.defaults);
  if (!bodyFirst)
    each(node.body);
  each(node.branches);
  each(node.otherwise);
}

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATENODES_H
