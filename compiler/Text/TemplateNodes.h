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
  NamespaceField, ///< `a.b` as the target of `set`
  List,
  Tuple,
  Dict, ///< keys and values alternate in operands
  Attribute,
  Item,
  Slice,  ///< operands: object, start, stop, step; null if not given
  Call,   ///< operands[0] is called
  Filter, ///< operands[0] is the subject, null for the text of a filter or set block
  Test,
  Not,
  Negate,
  Plus,
  Binary, ///< text is the operator
  Concat,
  And,
  Or,
  Compare,     ///< words are the operators between the operands
  Conditional, ///< operands: condition, value, value of `else` (null if there is none)
  // Statements.
  Text,
  Output,
  If,  ///< operands[0] is the condition; branches has an If for each `elif`, otherwise the body of `else`
  For, ///< operands: target, sequence, condition (null if there is none); otherwise is the body of `else`
  Set,
  SetBlock, ///< operands: target, filter (null if there is none)
  FilterBlock,
  With, ///< targets and values alternate in operands
  Macro,
  CallBlock, ///< otherwise[0] is the call, operands are the parameters
  Generation,
  Break,
  Continue
};

/// The use of a name: read, written, or declared as a parameter of a macro or call block or as a variable of `with`.
enum class NameUse { Load, Store, Parameter };

struct TemplateNode;
using NodePtr = std::unique_ptr<TemplateNode>;
using NodeList = std::vector<NodePtr>;

/// An expression or a statement. The meaning of the fields depends on the kind.
struct TemplateNode {
  NodeKind kind;
  unsigned line;
  std::string text;  ///< name, string, operator, attribute, filter, test or text; of a NamespaceField the namespace
  std::string field; ///< of a NamespaceField the part after the point
  int64_t integer = 0;
  double number = 0;
  NameUse use = NameUse::Load;
  NodeList operands;
  std::vector<std::string> words;

  // Arguments of calls, filters and tests: by position, by keyword, `*spread` and `**spreadKeywords` (null if not
  // given).
  NodeList arguments;
  std::vector<std::pair<std::string, NodePtr>> keywords;
  NodePtr spread, spreadKeywords;

  // Bodies of statements. The parameters of a macro or call block are in operands; the last ones have the values in
  // defaults.
  NodeList body, otherwise, branches, defaults;

  TemplateNode(NodeKind kind, unsigned line) : kind(kind), line(line) {}
};

/// Calls |visit| for each child that is not null. The order is that of Jinja2, but for three kinds: the condition of a
/// loop comes before its body, targets and values of `with` alternate, and the call of a call block comes last.
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
