//===- TemplateReader.cpp - Reading the tokens of chat templates ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TemplateReader.h"

using namespace attune;

/// Returns the words for |token| in error messages.
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

std::nullptr_t TemplateReader::expected(const std::string &what) { return error("expected " + what + ", got " + describe(token())); }

std::nullptr_t TemplateReader::errorAt(unsigned line, const std::string &message) {
  if (!failed())
    problem = templateError(line, message);
  return nullptr;
}

bool TemplateReader::skipSign(std::string_view sign) {
  bool found = token().isSign(sign);
  if (found)
    skip();
  return found;
}

bool TemplateReader::skipName(std::string_view name) {
  bool found = token().isName(name);
  if (found)
    skip();
  return found;
}

bool TemplateReader::expectSign(std::string_view sign) {
  if (skipSign(sign))
    return true;
  expected("'" + std::string(sign) + "'");
  return false;
}

std::string TemplateReader::expectName() {
  if (token().kind != TokenKind::Name) {
    expected("a name");
    return "";
  }
  std::string name = token().text;
  skip();
  return name;
}

NodePtr TemplateReader::make(NodeKind kind, unsigned line, NodePtr first, NodePtr second) {
  if (!first || failed())
    return nullptr;
  NodePtr node = std::make_unique<TemplateNode>(kind, line);
  node->operands.push_back(std::move(first));
  if (second)
    node->operands.push_back(std::move(second));
  return node;
}

NodePtr TemplateReader::makeName(const std::string &name, NameUse use, unsigned line) {
  NodePtr node = std::make_unique<TemplateNode>(NodeKind::Name, line);
  node->text = name;
  node->use = use;
  return node;
}
