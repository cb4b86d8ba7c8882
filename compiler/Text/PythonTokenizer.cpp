//===- PythonTokenizer.cpp - Common parts of tokenizer classes in Python --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/PythonTokenizer.h"
#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/Unicode.h"
#include "compiler/Text/VocabularyFiles.h"

#include <algorithm>

using namespace attune;
using namespace attune::text;

void attune::text::setPythonRules(TokenizerBuilder &builder) {
  builder.spec.ruleFlags |= kRuleOddToFirst | kRuleSplitsAdded;
  builder.spec.separatorsAreSpaces = true;
}

void attune::text::addTemplate(TokenizerBuilder &builder, const std::vector<TemplatePiece> &single,
                               const std::vector<TemplatePiece> &pair) {
  auto add = [&](const std::vector<TemplatePiece> &pieces) {
    return builder.spec.pool.add(std::string(reinterpret_cast<const char *>(pieces.data()), pieces.size() * sizeof(TemplatePiece)), 4)
        .offset;
  };
  Step step = makeStep(StepKind::ProcessTemplate, add(single));
  step.b = uint32_t(single.size());
  step.c = add(pair);
  step.d = uint32_t(pair.size());
  builder.spec.processors.push_back(step);
}

Status attune::text::requireToken(const TokenizerBuilder &builder, const char *name, uint32_t &id) {
  const std::string content = builder.token(name);
  std::optional<uint32_t> found = content.empty() ? std::nullopt : builder.spec.findToken(content);
  if (!found)
    return Status::error(builder.file + ": expected the token " + (content.empty() ? "" : describeJson(Json(content)) + " (") + "'" + name +
                         "'" + (content.empty() ? "" : ")") + " for the tokenizer class " + builder.description().name + ", got none");
  id = *found;
  return {};
}

void attune::text::fillGaps(TokenizerSpec &spec, size_t end, const std::function<std::string(size_t)> &textOf) {
  if (!spec.added.empty())
    end = std::max(end, size_t(spec.added.rbegin()->first));
  for (size_t id = 0; id < end; ++id)
    if ((id >= spec.tokens.size() || !spec.exists[id]) && !spec.added.count(uint32_t(id)))
      spec.decodedOnly[uint32_t(id)] = textOf(id);
}

Status attune::text::checkPieceSettings(const TokenizerBuilder &builder, bool hasLegacy) {
  const TokenizerArguments &arguments = builder.arguments;
  const std::string ofClass = " for the tokenizer class " + std::string(builder.description().name);
  if (const Json *given = arguments.find("sp_model_kwargs"); given && !given->is_null() && !given->empty())
    return jsonTypeError(arguments.configFile, "sp_model_kwargs", "no arguments" + ofClass, *given);
  const Json *legacy = hasLegacy ? findJson(arguments.config, "legacy") : nullptr; // null counts as false
  if (legacy && *legacy != Json(true))
    return jsonTypeError(arguments.configFile, "legacy", "true" + ofClass, *legacy);
  return {};
}

Result<PythonLines> attune::text::readPythonLines(const std::string &path) {
  Result<MappedFile> file = openVocabularyFile(path);
  if (!file)
    return file.status();
  const std::string content(reinterpret_cast<const char *>(file->data()), file->size());
  PythonLines result;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find_first_of("\r\n", begin), content.size());
    result.lines.push_back(content.substr(begin, end - begin));
    if (!isUtf8(result.lines.back()))
      return Status::error(path + ": line " + std::to_string(result.lines.size()) + ": expected UTF-8, got other bytes");
    result.hasLastEnd = end < content.size();
    begin = end + (content.compare(end, 2, "\r\n") == 0 ? 2 : 1);
  }
  return result;
}

bool attune::text::isPythonSpace(uint32_t c) { return predicate(Predicate::WhiteSpace).contains(c) || (c >= 0x1C && c <= 0x1F); }

std::vector<std::string> attune::text::splitAtPythonSpace(const std::string &text) {
  std::vector<std::string> words;
  std::vector<uint32_t> word;
  auto flush = [&] {
    if (!word.empty())
      words.push_back(toUtf8(word));
    word.clear();
  };
  for (uint32_t c : toCodePoints(text)) {
    if (isPythonSpace(c))
      flush();
    else
      word.push_back(c);
  }
  flush();
  return words;
}
