//===- TemplateParser.cpp - Parser of chat templates ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TemplateParser.h"
#include "compiler/Text/TemplateExpressionParser.h"

#include <initializer_list>

using namespace attune;

namespace {

using Words = std::initializer_list<const char *>;

/// A parser of statements.
class StatementParser : public TemplateExpressionParser {
public:
  using TemplateExpressionParser::TemplateExpressionParser;
  /// Parses statements up to a tag whose name is one of |ends|, and stops between the `{%` and the name of that tag.
  /// Reports an error if the template ends before. If |ends| is empty, parses up to the end of the template.
  NodeList parseBody(Words ends);

private:
  bool expectBlockEnd();
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
};

} // namespace

bool StatementParser::expectBlockEnd() {
  if (token().kind != TokenKind::BlockEnd) {
    expected("'%}'");
    return false;
  }
  skip();
  return true;
}

NodeList StatementParser::parseBody(Words ends) {
  Nested nested(*this);
  NodeList body;
  while (!failed() && token().kind != TokenKind::End) {
    beginStatement();
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

/// Parses `print a, b` in `{% print a, b %}` and adds an Output for each expression to |body|. Stops before `%}`.
void StatementParser::parsePrint(NodeList &body) {
  skip();
  for (bool first = true; !failed() && token().kind != TokenKind::BlockEnd; first = false) {
    if (!first && !expectSign(","))
      return;
    NodePtr output = make(NodeKind::Output);
    output->operands.push_back(parseExpression());
    body.push_back(std::move(output));
  }
}

/// Parses the `%}` of a tag, the body of |node|, and the `{%` and the name |word| of the end tag. Stops before the `%}`
/// of the end tag.
void StatementParser::parseEnd(const char *word, TemplateNode &node) {
  if (!expectBlockEnd())
    return;
  node.body = parseBody({word});
  if (!failed())
    skip();
}

NodePtr StatementParser::parseStatement() {
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

NodePtr StatementParser::parseFor() {
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

NodePtr StatementParser::parseIf() {
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

NodePtr StatementParser::parseSet() {
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

NodePtr StatementParser::parseWith() {
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

/// Parses the parameters of a macro or call block, with the parentheses around them, into the operands and defaults of
/// |node|.
void StatementParser::parseSignature(TemplateNode &node) {
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

NodePtr StatementParser::parseMacro(bool isCallBlock) {
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
  // The call is kept apart from the operands (the parameters) and the body: its names belong to the scope around the
  // block.
  if (call)
    node->otherwise.push_back(std::move(call));
  return node;
}

NodePtr StatementParser::parseFilterBlock() {
  NodePtr node = make(NodeKind::FilterBlock);
  skip();
  node->operands.push_back(parseFilter(nullptr, true));
  if (failed())
    return nullptr;
  parseEnd("endfilter", *node);
  return node;
}

Result<NodeList> attune::parseTemplate(std::string_view source) {
  constexpr size_t MaxBytes = size_t(4) << 20;
  if (source.size() > MaxBytes)
    return Status::error("the chat template has " + std::to_string(source.size()) + " bytes; at most 4 MiB are supported");
  Result<std::vector<TemplateToken>> tokens = lexTemplate(source);
  if (!tokens)
    return tokens.status();
  StatementParser parser(std::move(*tokens));
  NodeList body = parser.parseBody({});
  if (parser.getProblem().failed())
    return parser.getProblem();
  return body;
}
