//===- Description.cpp - Descriptions of kernels as text ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Description.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

using namespace attune;

size_t Stage::parallelLoops() const {
  size_t count = 0;
  for (const Loop &loop : loops)
    count += !loop.isReduction;
  return count;
}

/// Returns true if |term| contains the word |word|.
static bool contains(const Term &term, const std::string &word) {
  return term.word == word || std::any_of(term.operands.begin(), term.operands.end(), [&](const Term &t) { return contains(t, word); });
}

bool Stage::readsDestination() const { return !isReduction() && contains(body, "acc"); }

namespace {

/// A reader of terms, which tracks the line for messages.
class Reader {
public:
  explicit Reader(const std::string &text) : text(text) {}

  bool atEnd() {
    skipSpace();
    return at == text.size();
  }
  Term read();
  [[noreturn]] void fail(const std::string &message) const { throw DescriptionError("line " + std::to_string(line) + ": " + message); }

private:
  void skipSpace();

  const std::string &text;
  size_t at = 0;
  int line = 1;
};

} // namespace

void Reader::skipSpace() {
  for (; at < text.size(); ++at) {
    if (text[at] == ';')
      while (at + 1 < text.size() && text[at + 1] != '\n')
        ++at;
    else if (!std::isspace(static_cast<unsigned char>(text[at])))
      return;
    line += text[at] == '\n';
  }
}

Term Reader::read() {
  if (atEnd())
    fail("expected a term, got the end of the description");
  Term term;
  if (text[at] == ')')
    fail("expected a term, got ')'");
  if (text[at] != '(') {
    while (at < text.size() && !std::isspace(static_cast<unsigned char>(text[at])) && text[at] != '(' && text[at] != ')')
      term.word += text[at++];
    return term;
  }
  ++at;
  term.isList = true;
  Term head = read();
  if (head.isList)
    fail("expected a word after '('");
  term.word = head.word;
  while (!atEnd() && text[at] != ')')
    term.operands.push_back(read());
  if (atEnd())
    fail("expected ')' for '(" + term.word + "'");
  ++at;
  return term;
}

namespace {

/// A builder of descriptions from terms.
class Builder {
public:
  explicit Builder(const Reader &reader) : reader(reader) {}
  Description build(const Term &term);

private:
  [[noreturn]] void fail(const std::string &message) const { reader.fail(message); }
  const std::string &wordAt(const Term &term, size_t index, const char *what);
  int64_t number(const Term &term);
  Scalar scalar(const Term &term);
  Buffer buffer(const Term &term, size_t first);
  Stage stage(const Term &term);
  void checkLoads(const Term &term, const Description &description, size_t stages);

  const Reader &reader;
};

} // namespace

const std::string &Builder::wordAt(const Term &term, size_t index, const char *what) {
  if (index >= term.operands.size() || term.operands[index].isList)
    fail("expected " + std::string(what) + " in '(" + term.word + "'");
  return term.operands[index].word;
}

std::optional<int32_t> attune::parseInteger(const std::string &text) {
  int32_t value = 0;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

int64_t Builder::number(const Term &term) {
  std::optional<int32_t> value = parseInteger(term.word);
  if (term.isList || !value)
    fail("expected an integer of 32 bits, got '" + term.word + "'");
  return *value;
}

Scalar Builder::scalar(const Term &term) {
  Scalar result;
  result.name = wordAt(term, 0, "a name");
  result.isExtent = term.word == "size";
  if (term.operands.size() > 1)
    result.most = number(term.operands[1]);
  if (result.isExtent && result.most.value_or(0) < 0)
    fail("expected an upper bound of '" + result.name + "' that is not negative, got " + std::to_string(*result.most));
  return result;
}

/// Returns the buffer that |term| declares. Its type is operand |first|, its strides are the operands after that.
Buffer Builder::buffer(const Term &term, size_t first) {
  Buffer result;
  result.name = wordAt(term, 0, "a name");
  result.type = wordAt(term, first, "a type");
  if (result.type != "f32" && result.type != "i64" && result.type != "i32" && result.type != "i1")
    fail("expected type f32, i64, i32 or i1, got '" + result.type + "'");
  for (size_t i = first + 1; i < term.operands.size(); ++i)
    result.strides.push_back(term.operands[i].word == "?" ? std::nullopt : std::optional<int64_t>(number(term.operands[i])));
  if (!result.strides.empty() && result.strides.back() != 1)
    fail("expected the last stride of '" + result.name + "' to be 1");
  return result;
}

Stage Builder::stage(const Term &term) {
  Stage result;
  result.name = wordAt(term, 0, "a name");
  size_t i = 1;
  for (; i < term.operands.size() && (term.operands[i].word == "parallel" || term.operands[i].word == "reduce"); ++i) {
    if (term.operands[i].operands.size() != 1)
      fail("expected one extent in '(" + term.operands[i].word + "'");
    result.loops.push_back({term.operands[i].operands[0], term.operands[i].word == "reduce"});
  }
  if (i < term.operands.size() && term.operands[i].word == "init") {
    if (term.operands[i].operands.size() != 1)
      fail("expected one value in '(init'");
    result.init = term.operands[i++].operands[0];
  }
  if (result.init.has_value() != (result.parallelLoops() != result.loops.size()))
    fail("expected reductions, and only those, to have an initial value, in stage '" + result.name + "'");
  if (i + 1 != term.operands.size())
    fail("expected one expression after the loops of stage '" + result.name + "'");
  result.body = term.operands[i];
  return result;
}

/// Fails if a load in |term| reads neither an input nor one of the first |stages| stages of |description|.
void Builder::checkLoads(const Term &term, const Description &description, size_t stages) {
  if (term.word == "load") {
    const std::string &name = wordAt(term, 0, "a name");
    auto isNamed = [&](const auto &part) { return part.name == name; };
    auto begin = description.stages.begin(), end = begin + static_cast<ptrdiff_t>(stages);
    if (std::none_of(description.inputs.begin(), description.inputs.end(), isNamed) && std::none_of(begin, end, isNamed))
      fail("expected an input or an earlier stage, got '" + name + "'");
  }
  for (const Term &operand : term.operands)
    checkLoads(operand, description, stages);
}

Description Builder::build(const Term &term) {
  if (!term.isList || term.word != "kernel")
    fail("expected '(kernel', got '" + term.word + "'");
  Description result;
  result.name = wordAt(term, 0, "a name");
  for (size_t i = 1; i < term.operands.size(); ++i) {
    const Term &part = term.operands[i];
    if (part.word == "size" || part.word == "value")
      result.scalars.push_back(scalar(part));
    else if (part.word == "input")
      result.inputs.push_back(buffer(part, 1));
    else if (part.word == "stage")
      result.stages.push_back(stage(part));
    else if (part.word == "output")
      result.outputs.push_back({buffer(part, 2), wordAt(part, 1, "a stage")});
    else
      fail("expected size, value, input, stage or output, got '" + part.word + "'");
  }
  if (result.outputs.empty())
    fail("expected an output in kernel '" + result.name + "'");
  for (size_t i = 0; i < result.stages.size(); ++i) {
    const Stage &stage = result.stages[i];
    for (const Loop &loop : stage.loops)
      checkLoads(loop.extent, result, i);
    if (stage.init)
      checkLoads(*stage.init, result, i);
    checkLoads(stage.body, result, i);
  }
  return result;
}

std::vector<Description> attune::parseDescriptions(const std::string &text) {
  Reader reader(text);
  std::vector<Description> result;
  while (!reader.atEnd())
    result.push_back(Builder(reader).build(reader.read()));
  if (result.empty())
    throw DescriptionError("expected '(kernel', got nothing");
  return result;
}
