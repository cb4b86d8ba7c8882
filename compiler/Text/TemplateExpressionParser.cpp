//===- TemplateExpressionParser.cpp - Expressions of chat templates -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jinja's grammar. Its precedence, from the weakest to the strongest: inline if, or, and, not, comparisons, + and -, ~,
// multiplication and division, **, filters and tests, unary + and -, attributes, subscripts and calls.
//===----------------------------------------------------------------------===//

#include "compiler/Text/TemplateExpressionParser.h"

using namespace attune;

//===----------------------------------------------------------------------===//
// Targets and tuples
//===----------------------------------------------------------------------===//

/// Turns the expression |node| into a target, whose names get the use |use|. Reports an error and returns false if the
/// expression cannot be a target.
bool TemplateExpressionParser::makeTarget(TemplateNode &node, NameUse use) {
  if (node.kind == NodeKind::Tuple || node.kind == NodeKind::List) {
    for (NodePtr &item : node.operands)
      if (!makeTarget(*item, use))
        return false;
    // A list as a target is a tuple.
    node.kind = NodeKind::Tuple;
    return true;
  }
  if (node.kind == NodeKind::NamespaceField)
    return true;
  static const char *const constants[] = {"true", "false", "none", "True", "False", "None"};
  if (node.kind != NodeKind::Name || std::find(std::begin(constants), std::end(constants), node.text) != std::end(constants)) {
    errorAt(node.line, "expected a name to assign to");
    return false;
  }
  node.use = use;
  return true;
}

NodePtr TemplateExpressionParser::parseTarget(bool withNamespace, const char *end) {
  NodePtr target = parseTuple(true, true, end, false, withNamespace);
  if (failed() || !target || !makeTarget(*target, NameUse::Store))
    return nullptr;
  return target;
}

bool TemplateExpressionParser::atTupleEnd(const char *end) const {
  return token().kind == TokenKind::OutputEnd || token().kind == TokenKind::BlockEnd || token().isSign(")") || (end && token().isName(end));
}

NodePtr TemplateExpressionParser::parseTuple(bool simple, bool withConditional, const char *end, bool parentheses, bool withNamespace) {
  NodePtr tuple = make(NodeKind::Tuple);
  bool isTuple = false;
  while (!failed()) {
    if (!tuple->operands.empty() && !expectSign(","))
      return nullptr;
    if (atTupleEnd(end))
      break;
    tuple->operands.push_back(simple ? parsePrimary(withNamespace) : parseExpression(withConditional));
    if (!token().isSign(","))
      break;
    isTuple = true;
  }
  if (failed())
    return nullptr;
  if (isTuple)
    return tuple;
  if (!tuple->operands.empty())
    return std::move(tuple->operands.front());
  return parentheses ? std::move(tuple) : NodePtr(expected("an expression"));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

NodePtr TemplateExpressionParser::parseExpression(bool withConditional) {
  Nested nested(*this);
  if (failed())
    return nullptr;
  unsigned line = token().line;
  NodePtr value = parseOr();
  while (withConditional && !failed() && skipName("if")) {
    countOperator();
    NodePtr node = make(NodeKind::Conditional, line, parseOr(), std::move(value));
    NodePtr otherwise = !failed() && skipName("else") ? parseExpression() : nullptr;
    if (failed())
      return nullptr;
    node->operands.push_back(std::move(otherwise));
    value = std::move(node);
    line = token().line;
  }
  return value;
}

NodePtr TemplateExpressionParser::parseOr() {
  NodePtr left = parseAnd();
  while (!failed() && skipName("or")) {
    countOperator();
    left = make(NodeKind::Or, token().line, std::move(left), parseAnd());
  }
  return left;
}

NodePtr TemplateExpressionParser::parseAnd() {
  NodePtr left = parseNot();
  while (!failed() && skipName("and")) {
    countOperator();
    left = make(NodeKind::And, token().line, std::move(left), parseNot());
  }
  return left;
}

NodePtr TemplateExpressionParser::parseNot() {
  Nested nested(*this);
  unsigned line = token().line;
  if (!failed() && skipName("not"))
    return make(NodeKind::Not, line, parseNot());
  return parseCompare();
}

NodePtr TemplateExpressionParser::parseCompare() {
  NodePtr node = make(NodeKind::Compare);
  node->operands.push_back(parseSum());
  static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
  while (!failed()) {
    std::string word;
    for (const char *sign : signs)
      if (token().isSign(sign))
        word = sign;
    if (token().isName("in"))
      word = "in";
    if (token().isName("not") && following().isName("in")) {
      word = "not in";
      skip();
    }
    if (word.empty())
      break;
    skip();
    node->words.push_back(word);
    node->operands.push_back(parseSum());
  }
  if (failed())
    return nullptr;
  return node->words.empty() ? std::move(node->operands.front()) : std::move(node);
}

NodePtr TemplateExpressionParser::parseSum() {
  NodePtr left = parseConcat();
  while (!failed() && (token().isSign("+") || token().isSign("-"))) {
    std::string sign = token().text;
    unsigned line = token().line;
    skip();
    countOperator();
    if ((left = make(NodeKind::Binary, line, std::move(left), parseConcat())))
      left->text = sign;
  }
  return left;
}

NodePtr TemplateExpressionParser::parseConcat() {
  NodePtr node = make(NodeKind::Concat);
  node->operands.push_back(parseProduct());
  while (!failed() && skipSign("~"))
    node->operands.push_back(parseProduct());
  if (failed())
    return nullptr;
  return node->operands.size() == 1 ? std::move(node->operands.front()) : std::move(node);
}

NodePtr TemplateExpressionParser::parseProduct() {
  NodePtr left = parsePower();
  while (!failed() && (token().isSign("*") || token().isSign("/") || token().isSign("//") || token().isSign("%"))) {
    std::string sign = token().text;
    unsigned line = token().line;
    skip();
    countOperator();
    if ((left = make(NodeKind::Binary, line, std::move(left), parsePower())))
      left->text = sign;
  }
  return left;
}

NodePtr TemplateExpressionParser::parsePower() {
  NodePtr left = parseUnary();
  while (!failed() && token().isSign("**")) {
    unsigned line = token().line;
    skip();
    countOperator();
    if ((left = make(NodeKind::Binary, line, std::move(left), parseUnary())))
      left->text = "**";
  }
  return left;
}

NodePtr TemplateExpressionParser::parseUnary(bool withFilters) {
  Nested nested(*this);
  if (failed())
    return nullptr;
  unsigned line = token().line;
  NodePtr node;
  if (skipSign("-"))
    node = make(NodeKind::Negate, line, parseUnary(false));
  else if (skipSign("+"))
    node = make(NodeKind::Plus, line, parseUnary(false));
  else
    node = parsePrimary(false);
  node = parsePostfix(std::move(node));
  return withFilters ? parseFilters(std::move(node)) : std::move(node);
}

NodePtr TemplateExpressionParser::parsePrimary(bool withNamespace) {
  const TemplateToken first = token();
  NodePtr node = make(NodeKind::None);
  switch (first.kind) {
  case TokenKind::Name:
    skip();
    if (first.text == "true" || first.text == "True" || first.text == "false" || first.text == "False") {
      node->kind = NodeKind::Boolean;
      node->integer = (first.text[0] | 0x20) == 't';
    } else if (first.text != "none" && first.text != "None") {
      node = makeName(first.text, NameUse::Load, first.line);
      if (withNamespace && skipSign(".")) {
        node->kind = NodeKind::NamespaceField;
        node->field = expectName();
      }
    }
    return failed() ? nullptr : std::move(node);
  case TokenKind::String:
    node->kind = NodeKind::String;
    for (; token().kind == TokenKind::String; skip())
      node->text += token().text;
    return node;
  case TokenKind::Integer:
    node->kind = NodeKind::Integer;
    node->integer = first.integer;
    skip();
    return node;
  case TokenKind::Float:
    node->kind = NodeKind::Float;
    node->number = first.number;
    skip();
    return node;
  default:
    break;
  }
  Nested nested(*this);
  if (failed())
    return nullptr;
  if (skipSign("(")) {
    node = parseTuple(false, true, nullptr, true, false);
    return !failed() && expectSign(")") ? std::move(node) : nullptr;
  }
  if (token().isSign("["))
    return parseList();
  if (token().isSign("{"))
    return parseDict();
  return expected("an expression");
}

NodePtr TemplateExpressionParser::parseList() {
  NodePtr node = make(NodeKind::List);
  skip();
  while (!failed() && !token().isSign("]")) {
    if (!node->operands.empty() && !expectSign(","))
      return nullptr;
    if (token().isSign("]"))
      break;
    node->operands.push_back(parseExpression());
  }
  return !failed() && expectSign("]") ? std::move(node) : nullptr;
}

NodePtr TemplateExpressionParser::parseDict() {
  NodePtr node = make(NodeKind::Dict);
  skip();
  while (!failed() && !token().isSign("}")) {
    if (!node->operands.empty() && !expectSign(","))
      return nullptr;
    if (token().isSign("}"))
      break;
    node->operands.push_back(parseExpression());
    if (failed() || !expectSign(":"))
      return nullptr;
    node->operands.push_back(parseExpression());
  }
  return !failed() && expectSign("}") ? std::move(node) : nullptr;
}

NodePtr TemplateExpressionParser::parsePostfix(NodePtr node) {
  for (; !failed(); countOperator()) {
    if (token().isSign(".") || token().isSign("["))
      node = parseSubscript(std::move(node));
    else if (token().isSign("("))
      node = parseCall(std::move(node));
    else
      return node;
  }
  return nullptr;
}

NodePtr TemplateExpressionParser::parseFilters(NodePtr node) {
  for (; !failed(); countOperator()) {
    if (token().isSign("|"))
      node = parseFilter(std::move(node), false);
    else if (token().isName("is"))
      node = parseTest(std::move(node));
    else if (token().isSign("("))
      node = parseCall(std::move(node));
    else
      return node;
  }
  return nullptr;
}

NodePtr TemplateExpressionParser::parseSubscript(NodePtr object) {
  unsigned line = token().line;
  if (skipSign(".")) {
    NodePtr node = make(NodeKind::Attribute, line, std::move(object));
    if (token().kind == TokenKind::Name) {
      node->text = token().text;
    } else if (token().kind == TokenKind::Integer) {
      node->kind = NodeKind::Item;
      NodePtr number = make(NodeKind::Integer);
      number->integer = token().integer;
      node->operands.push_back(std::move(number));
    } else {
      return expected("a name or a number");
    }
    skip();
    return node;
  }
  skip(); // [
  NodeList keys;
  bool sliced = false;
  while (!failed() && !token().isSign("]")) {
    if (!keys.empty() && !expectSign(","))
      return nullptr;
    keys.push_back(parseSubscribed());
    // A Slice of parseSubscribed has three operands; its object is inserted below. A Slice inside the key has four.
    sliced |= !failed() && keys.back()->kind == NodeKind::Slice && keys.back()->operands.size() == 3;
  }
  if (failed() || !expectSign("]"))
    return nullptr;
  if (keys.size() == 1 && sliced) {
    keys.front()->operands.insert(keys.front()->operands.begin(), std::move(object));
    return std::move(keys.front());
  }
  if (sliced)
    return errorAt(line, "several slices in one pair of brackets are not supported");
  NodePtr key = std::make_unique<TemplateNode>(NodeKind::Tuple, line);
  if (keys.size() == 1)
    key = std::move(keys.front());
  else
    key->operands = std::move(keys);
  return make(NodeKind::Item, line, std::move(object), std::move(key));
}

/// Parses an index, or a slice without its object: a Slice with the operands start, stop and step.
NodePtr TemplateExpressionParser::parseSubscribed() {
  NodePtr slice = make(NodeKind::Slice);
  NodePtr start;
  if (!token().isSign(":")) {
    start = parseExpression();
    if (failed() || !token().isSign(":"))
      return start;
  }
  skip(); // :
  auto ends = [&] { return token().isSign(":") || token().isSign("]") || token().isSign(","); };
  NodePtr stop = ends() ? nullptr : parseExpression(), step;
  if (!failed() && skipSign(":"))
    step = ends() ? nullptr : parseExpression();
  if (failed())
    return nullptr;
  slice->operands.push_back(std::move(start));
  slice->operands.push_back(std::move(stop));
  slice->operands.push_back(std::move(step));
  return slice;
}

bool TemplateExpressionParser::parseArguments(TemplateNode &node) {
  unsigned line = token().line;
  auto ensure = [&](bool valid) {
    if (!valid)
      errorAt(line, "invalid syntax for function call expression");
    return valid;
  };
  skip(); // (
  for (bool first = true; !failed() && !token().isSign(")"); first = false) {
    if (!first && !expectSign(","))
      return false;
    if (token().isSign(")"))
      break;
    if (skipSign("*")) {
      if (ensure(!node.spread && !node.spreadKeywords))
        node.spread = parseExpression();
    } else if (skipSign("**")) {
      if (ensure(!node.spreadKeywords))
        node.spreadKeywords = parseExpression();
    } else if (token().kind == TokenKind::Name && following().isSign("=")) {
      if (!ensure(!node.spreadKeywords))
        return false;
      std::string name = expectName();
      skip(); // =
      for (const auto &[other, value] : node.keywords)
        if (other == name)
          error("the argument '" + name + "' is given twice");
      node.keywords.emplace_back(name, parseExpression());
    } else if (ensure(!node.spread && !node.spreadKeywords && node.keywords.empty())) {
      node.arguments.push_back(parseExpression());
    }
  }
  return !failed() && expectSign(")");
}

NodePtr TemplateExpressionParser::parseCall(NodePtr callee) {
  NodePtr node = make(NodeKind::Call, token().line, std::move(callee));
  return node && parseArguments(*node) ? std::move(node) : nullptr;
}

NodePtr TemplateExpressionParser::parseFilter(NodePtr node, bool startsInline) {
  for (; !failed() && (startsInline || token().isSign("|")); startsInline = false) {
    countOperator();
    if (!startsInline)
      skip();
    NodePtr filter = make(NodeKind::Filter);
    filter->text = expectName();
    while (!failed() && skipSign("."))
      filter->text += "." + expectName();
    filter->operands.push_back(std::move(node));
    if (!failed() && token().isSign("("))
      parseArguments(*filter);
    node = std::move(filter);
  }
  return failed() ? nullptr : std::move(node);
}

NodePtr TemplateExpressionParser::parseTest(NodePtr subject) {
  skip(); // is
  unsigned line = token().line;
  bool negated = skipName("not");
  NodePtr node = make(NodeKind::Test, line, std::move(subject));
  node->text = expectName();
  while (!failed() && skipSign("."))
    node->text += "." + expectName();
  if (failed())
    return nullptr;
  if (token().isSign("(")) {
    parseArguments(*node);
  } else if ((token().kind == TokenKind::Name && !token().isName("else") && !token().isName("or") && !token().isName("and")) ||
             token().kind == TokenKind::String || token().kind == TokenKind::Integer || token().kind == TokenKind::Float ||
             token().isSign("[") || token().isSign("{")) {
    if (token().isName("is"))
      return error("tests cannot be chained with 'is'");
    node->arguments.push_back(parsePostfix(parsePrimary(false)));
  }
  if (failed())
    return nullptr;
  return negated ? make(NodeKind::Not, line, std::move(node)) : std::move(node);
}
