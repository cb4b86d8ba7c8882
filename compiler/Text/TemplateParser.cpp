//===- TemplateParser.cpp - Parser of chat templates ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jinja's grammar, with its precedence: inline if, or, and, not, comparisons, + -, ~, * / // %, **, unary, then
// attributes, calls, filters and tests. Methods return null after an error, which is kept once.
//===----------------------------------------------------------------------===//

#include "compiler/Text/TemplateParser.h"
#include "compiler/Text/TemplateLexer.h"

#include <algorithm>
#include <initializer_list>

using namespace attune;

namespace {

using Words = std::initializer_list<const char *>;

class Parser {
public:
  explicit Parser(std::vector<TemplateToken> tokens) : tokens(std::move(tokens)) {}
  /// Parses statements up to one of |ends|, which it leaves, or the end of the template.
  NodeList parseBody(Words ends);
  Status problem;

private:
  std::vector<TemplateToken> tokens;
  size_t index = 0;
  unsigned depth = 0, operators = 0;

  /// Counts the nesting of expressions and statements.
  struct Nested {
    explicit Nested(Parser &parser) : parser(parser) {
      if (++parser.depth > 200)
        parser.error("expressions or statements are nested more than 200 deep");
    }
    ~Nested() { --parser.depth; }
    Parser &parser;
  };

  const TemplateToken &token() const { return tokens[index]; }
  const TemplateToken &following() const { return tokens[std::min(index + 1, tokens.size() - 1)]; }
  void skip() {
    if (index + 1 < tokens.size())
      ++index;
  }
  /// Counts the operators of a statement, each of which makes its tree deeper.
  void countOperator() {
    if (++operators > 3000)
      error("a statement has more than 3000 operators");
  }
  bool failed() const { return problem.failed(); }
  std::nullptr_t error(const std::string &message) { return errorAt(token().line, message); }
  std::nullptr_t errorAt(unsigned line, const std::string &message) {
    if (!failed())
      problem = templateError(line, message);
    return nullptr;
  }
  std::nullptr_t expected(const std::string &what);
  bool skipSign(std::string_view sign) {
    bool found = token().isSign(sign);
    if (found)
      skip();
    return found;
  }
  bool skipName(std::string_view name) {
    bool found = token().isName(name);
    if (found)
      skip();
    return found;
  }
  bool expectSign(std::string_view sign) {
    if (skipSign(sign))
      return true;
    expected("'" + std::string(sign) + "'");
    return false;
  }
  bool expectBlockEnd();
  std::string expectName();
  NodePtr make(NodeKind kind) { return std::make_unique<TemplateNode>(kind, token().line); }
  NodePtr make(NodeKind kind, unsigned line, NodePtr first, NodePtr second = nullptr);
  NodePtr makeName(const std::string &name, NameUse use, unsigned line);

  // Statements.
  NodePtr parseStatement();
  NodePtr parseFor();
  NodePtr parseIf();
  NodePtr parseSet();
  NodePtr parseWith();
  NodePtr parseMacro(bool isCallBlock);
  NodePtr parseFilterBlock();
  void parsePrint(NodeList &body);
  void parseEnd(const char *word, TemplateNode &node);
  void parseSignature(TemplateNode &node);

  // Expressions.
  NodePtr parseTarget(bool withNamespace, const char *end);
  bool makeTarget(TemplateNode &node, NameUse use);
  NodePtr parseTuple(bool simple, bool withConditional, const char *end, bool parentheses, bool withNamespace);
  bool atTupleEnd(const char *end) const;
  NodePtr parseExpression(bool withConditional = true);
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
  NodePtr parseFilter(NodePtr node, bool startsInline);
  NodePtr parseTest(NodePtr node);
};

} // namespace

/// Returns the words for a token in messages.
static std::string describe(const TemplateToken &token) {
  switch (token.kind) {
  case TokenKind::Data:
    return "text";
  case TokenKind::OutputBegin:
    return "'{{'";
  case TokenKind::OutputEnd:
    return "'}}'";
  case TokenKind::BlockBegin:
    return "'{%'";
  case TokenKind::BlockEnd:
    return "'%}'";
  case TokenKind::String:
    return "a string";
  case TokenKind::Integer:
  case TokenKind::Float:
    return "a number";
  case TokenKind::Name:
  case TokenKind::Sign:
    return "'" + token.text + "'";
  case TokenKind::End:
    return "the end of the template";
  }
  return "?";
}

std::nullptr_t Parser::expected(const std::string &what) { return error("expected " + what + ", got " + describe(token())); }

bool Parser::expectBlockEnd() {
  if (token().kind != TokenKind::BlockEnd) {
    expected("'%}'");
    return false;
  }
  skip();
  return true;
}

std::string Parser::expectName() {
  if (token().kind != TokenKind::Name) {
    expected("a name");
    return "";
  }
  std::string name = token().text;
  skip();
  return name;
}

NodePtr Parser::make(NodeKind kind, unsigned line, NodePtr first, NodePtr second) {
  if (!first || failed())
    return nullptr;
  NodePtr node = std::make_unique<TemplateNode>(kind, line);
  node->operands.push_back(std::move(first));
  if (second)
    node->operands.push_back(std::move(second));
  return node;
}

NodePtr Parser::makeName(const std::string &name, NameUse use, unsigned line) {
  NodePtr node = std::make_unique<TemplateNode>(NodeKind::Name, line);
  node->text = name;
  node->use = use;
  return node;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

NodeList Parser::parseBody(Words ends) {
  Nested nested(*this);
  NodeList body;
  while (!failed() && token().kind != TokenKind::End) {
    operators = 0;
    switch (token().kind) {
    case TokenKind::Data: {
      NodePtr text = make(NodeKind::Text);
      text->text = token().text;
      body.push_back(std::move(text));
      skip();
      break;
    }
    case TokenKind::OutputBegin: {
      NodePtr output = make(NodeKind::Output);
      skip();
      output->operands.push_back(parseTuple(false, true, nullptr, false, false));
      if (!failed() && token().kind != TokenKind::OutputEnd)
        expected("'}}'");
      skip();
      body.push_back(std::move(output));
      break;
    }
    default: {
      skip(); // {%
      for (const char *end : ends)
        if (token().isName(end))
          return body;
      if (token().isName("print")) {
        parsePrint(body);
      } else if (NodePtr statement = parseStatement()) {
        body.push_back(std::move(statement));
      }
      if (!failed())
        expectBlockEnd();
    }
    }
  }
  if (!failed() && ends.size())
    error(std::string("expected '{% ") + *(ends.end() - 1) + " %}', got the end of the template");
  return body;
}

/// Parses `{% print a, b %}`.
void Parser::parsePrint(NodeList &body) {
  skip();
  for (bool first = true; !failed() && token().kind != TokenKind::BlockEnd; first = false) {
    if (!first && !expectSign(","))
      return;
    NodePtr output = make(NodeKind::Output);
    output->operands.push_back(parseExpression());
    body.push_back(std::move(output));
  }
}

/// Parses the body of |node| up to |word|, which it takes.
void Parser::parseEnd(const char *word, TemplateNode &node) {
  if (!expectBlockEnd())
    return;
  node.body = parseBody({word});
  if (!failed())
    skip();
}

NodePtr Parser::parseStatement() {
  if (token().kind != TokenKind::Name)
    return expected("a statement");
  std::string word = token().text;
  if (word == "for")
    return parseFor();
  if (word == "if")
    return parseIf();
  if (word == "set")
    return parseSet();
  if (word == "with")
    return parseWith();
  if (word == "macro" || word == "call")
    return parseMacro(word == "call");
  if (word == "filter")
    return parseFilterBlock();
  NodePtr node = make(word == "break" ? NodeKind::Break : word == "continue" ? NodeKind::Continue : NodeKind::Generation);
  if (word == "break" || word == "continue") {
    skip();
    return node;
  }
  if (word == "generation") {
    skip();
    parseEnd("endgeneration", *node);
    return node;
  }
  return error("the statement '{% " + word +
               " %}' is not supported; supported are: break call continue filter for generation if macro print raw set with");
}

NodePtr Parser::parseFor() {
  NodePtr node = make(NodeKind::For);
  skip();
  node->operands.push_back(parseTarget(false, "in"));
  if (!failed() && !skipName("in"))
    expected("'in'");
  if (!failed())
    node->operands.push_back(parseTuple(false, false, "recursive", false, false));
  node->operands.push_back(!failed() && skipName("if") ? parseExpression() : nullptr);
  if (!failed() && token().isName("recursive"))
    return error("'recursive' loops are not supported; use a macro that calls itself");
  if (failed() || !expectBlockEnd())
    return nullptr;
  node->body = parseBody({"else", "endfor"});
  if (!failed() && skipName("else")) {
    if (expectBlockEnd())
      node->otherwise = parseBody({"endfor"});
  }
  skip();
  return node;
}

NodePtr Parser::parseIf() {
  NodePtr result = make(NodeKind::If);
  TemplateNode *node = result.get();
  while (!failed()) {
    skip(); // if, elif
    node->operands.push_back(parseTuple(false, false, nullptr, false, false));
    if (failed() || !expectBlockEnd())
      return nullptr;
    node->body = parseBody({"elif", "else", "endif"});
    if (failed() || token().isName("endif"))
      break;
    if (token().isName("else")) {
      skip();
      if (expectBlockEnd())
        result->otherwise = parseBody({"endif"});
      break;
    }
    result->branches.push_back(make(NodeKind::If));
    node = result->branches.back().get();
  }
  skip();
  return result;
}

NodePtr Parser::parseSet() {
  NodePtr node = make(NodeKind::Set);
  skip();
  node->operands.push_back(parseTarget(true, nullptr));
  if (failed())
    return nullptr;
  if (skipSign("=")) {
    node->operands.push_back(parseTuple(false, true, nullptr, false, false));
    return node;
  }
  node->kind = NodeKind::SetBlock;
  node->operands.push_back(parseFilter(nullptr, false));
  parseEnd("endset", *node);
  return node;
}

NodePtr Parser::parseWith() {
  NodePtr node = make(NodeKind::With);
  skip();
  while (!failed() && token().kind != TokenKind::BlockEnd) {
    if (!node->operands.empty() && !expectSign(","))
      return nullptr;
    NodePtr target = parseTarget(false, nullptr);
    if (failed() || !makeTarget(*target, NameUse::Parameter) || !expectSign("="))
      return nullptr;
    node->operands.push_back(std::move(target));
    node->operands.push_back(parseExpression());
  }
  parseEnd("endwith", *node);
  return node;
}

/// Parses the parameters of a macro or call block.
void Parser::parseSignature(TemplateNode &node) {
  if (!expectSign("("))
    return;
  while (!failed() && !token().isSign(")")) {
    if (!node.operands.empty() && !expectSign(","))
      return;
    unsigned line = token().line;
    node.operands.push_back(makeName(expectName(), NameUse::Parameter, line));
    if (failed())
      return;
    if (skipSign("="))
      node.defaults.push_back(parseExpression());
    else if (!node.defaults.empty())
      error("a parameter without a default follows one with a default");
  }
  if (!failed())
    skip();
}

NodePtr Parser::parseMacro(bool isCallBlock) {
  NodePtr node = make(isCallBlock ? NodeKind::CallBlock : NodeKind::Macro);
  skip();
  NodePtr call;
  if (!isCallBlock)
    node->text = expectName();
  if (!isCallBlock || token().isSign("("))
    parseSignature(*node);
  if (failed())
    return nullptr;
  if (isCallBlock) {
    unsigned line = token().line;
    call = parseExpression();
    if (failed())
      return nullptr;
    if (call->kind != NodeKind::Call)
      return errorAt(line, "expected a call of a macro in '{% call %}'");
  }
  parseEnd(isCallBlock ? "endcall" : "endmacro", *node);
  // The call goes last: its names belong to the scope around the block.
  if (call)
    node->otherwise.push_back(std::move(call));
  return node;
}

NodePtr Parser::parseFilterBlock() {
  NodePtr node = make(NodeKind::FilterBlock);
  skip();
  node->operands.push_back(parseFilter(nullptr, true));
  if (failed())
    return nullptr;
  parseEnd("endfilter", *node);
  return node;
}

//===----------------------------------------------------------------------===//
// Targets and tuples
//===----------------------------------------------------------------------===//

/// Turns an expression into a target; fails if it is none.
bool Parser::makeTarget(TemplateNode &node, NameUse use) {
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

NodePtr Parser::parseTarget(bool withNamespace, const char *end) {
  NodePtr target = parseTuple(true, true, end, false, withNamespace);
  if (failed() || !target || !makeTarget(*target, NameUse::Store))
    return nullptr;
  return target;
}

bool Parser::atTupleEnd(const char *end) const {
  return token().kind == TokenKind::OutputEnd || token().kind == TokenKind::BlockEnd || token().isSign(")") || (end && token().isName(end));
}

NodePtr Parser::parseTuple(bool simple, bool withConditional, const char *end, bool parentheses, bool withNamespace) {
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

NodePtr Parser::parseExpression(bool withConditional) {
  Nested nested(*this);
  if (failed())
    return nullptr;
  unsigned line = token().line;
  NodePtr value = parseOr();
  while (withConditional && !failed() && skipName("if")) {
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

NodePtr Parser::parseOr() {
  NodePtr left = parseAnd();
  while (!failed() && skipName("or")) {
    countOperator();
    left = make(NodeKind::Or, token().line, std::move(left), parseAnd());
  }
  return left;
}

NodePtr Parser::parseAnd() {
  NodePtr left = parseNot();
  while (!failed() && skipName("and")) {
    countOperator();
    left = make(NodeKind::And, token().line, std::move(left), parseNot());
  }
  return left;
}

NodePtr Parser::parseNot() {
  Nested nested(*this);
  unsigned line = token().line;
  if (!failed() && skipName("not"))
    return make(NodeKind::Not, line, parseNot());
  return parseCompare();
}

NodePtr Parser::parseCompare() {
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

NodePtr Parser::parseSum() {
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

NodePtr Parser::parseConcat() {
  NodePtr node = make(NodeKind::Concat);
  node->operands.push_back(parseProduct());
  while (!failed() && skipSign("~"))
    node->operands.push_back(parseProduct());
  if (failed())
    return nullptr;
  return node->operands.size() == 1 ? std::move(node->operands.front()) : std::move(node);
}

NodePtr Parser::parseProduct() {
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

NodePtr Parser::parsePower() {
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

NodePtr Parser::parseUnary(bool withFilters) {
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

NodePtr Parser::parsePrimary(bool withNamespace) {
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

NodePtr Parser::parseList() {
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

NodePtr Parser::parseDict() {
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

NodePtr Parser::parsePostfix(NodePtr node) {
  while (!failed()) {
    countOperator();
    if (token().isSign(".") || token().isSign("["))
      node = parseSubscript(std::move(node));
    else if (token().isSign("("))
      node = parseCall(std::move(node));
    else
      return node;
  }
  return nullptr;
}

NodePtr Parser::parseFilters(NodePtr node) {
  while (!failed()) {
    countOperator();
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

NodePtr Parser::parseSubscript(NodePtr object) {
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
    // A slice without its object yet.
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

/// Parses an index or the parts of a slice.
NodePtr Parser::parseSubscribed() {
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

bool Parser::parseArguments(TemplateNode &node) {
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

NodePtr Parser::parseCall(NodePtr callee) {
  NodePtr node = make(NodeKind::Call, token().line, std::move(callee));
  return node && parseArguments(*node) ? std::move(node) : nullptr;
}

NodePtr Parser::parseFilter(NodePtr node, bool startsInline) {
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

NodePtr Parser::parseTest(NodePtr subject) {
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

Result<NodeList> attune::parseTemplate(std::string_view source) {
  constexpr size_t MaxBytes = size_t(4) << 20;
  if (source.size() > MaxBytes)
    return Status::error("the chat template has " + std::to_string(source.size()) + " bytes; at most 4 MiB are supported");
  Result<std::vector<TemplateToken>> tokens = lexTemplate(source);
  if (!tokens)
    return tokens.status();
  Parser parser(std::move(*tokens));
  NodeList body = parser.parseBody({});
  if (parser.problem.failed())
    return parser.problem;
  return body;
}
