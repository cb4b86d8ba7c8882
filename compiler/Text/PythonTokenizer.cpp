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

/// Returns the path of the file that gives the added token |content| its id, for messages.
static std::string fileOfAddedToken(const TokenizerArguments &arguments, const std::string &content) {
  if (findJson(arguments.config, "added_tokens_decoder"))
    return arguments.configFile;
  const std::string path = arguments.folder + "/added_tokens.json";
  Result<Json> added = readJsonFile(path);
  return added && findJson(*added, content) ? path : arguments.folder + "/" + findTokenizerJson(arguments.config);
}

Status attune::text::initializeInPython(TokenizerBuilder &builder, const NamedTokens &tokens,
                                        std::optional<std::vector<NamedToken>> extra) {
  const TokenizerArguments &arguments = builder.arguments;
  TokenizerSpec &spec = builder.spec;
  builder.setSpecials(tokens, std::move(extra));
  // The tables have an entry for each id up to the largest one. So ids may have gaps, but the bound of readVocabulary
  // limits them here, too.
  const size_t numTokens = spec.vocab.size() + arguments.byId.size();
  const size_t mostId = std::min<size_t>(numTokens * 8 + 100000, kLookupNumber - 2);
  auto add = [&](uint32_t id, AddedToken token) -> Status {
    if (id > mostId)
      return Status::error(fileOfAddedToken(arguments, token.content) + ": the added token " + describeJson(Json(token.content)) +
                           ": expected an id of at most " + std::to_string(mostId) + " for " + std::to_string(numTokens) + " tokens, got " +
                           std::to_string(id));
    if (token.singleWord)
      return Status::error(builder.file + ": the added token " + describeJson(Json(token.content)) +
                           " has 'single_word', which is not supported " + "for the tokenizer class " + builder.description().name);
    token.normalized = false; // the class finds added tokens in the text before it is normalized
    spec.addedIds[token.content] = id;
    spec.added[id] = std::move(token);
    return {};
  };
  for (const auto &[id, token] : arguments.byId)
    ATTUNE_RETURN_IF_FAILED(add(id, token.toAddedToken()));
  size_t count = spec.modelSize;
  for (const auto &[content, id] : spec.addedIds)
    count += !spec.vocab.count(content);
  for (const NamedToken &token : builder.specialTokens()) {
    spec.specials.insert(token.content);
    if (token.content.empty() || spec.addedIds.count(token.content))
      continue;
    std::optional<uint32_t> known = spec.findToken(token.content);
    ATTUNE_RETURN_IF_FAILED(add(known ? *known : uint32_t(count++), NamedToken(token.content).toAddedToken()));
  }
  spec.specials.erase(std::string());
  return {};
}

void attune::text::setPythonRules(TokenizerBuilder &builder) {
  builder.spec.ruleFlags |= kRuleOddToFirst | kRuleSplitsAdded;
  builder.spec.separatorsAreSpaces = true;
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

Status attune::text::addClsSepTemplate(TokenizerBuilder &builder) {
  uint32_t cls = 0, sep = 0;
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "cls_token", cls));
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "sep_token", sep));
  builder.spec.addTemplate({{2, 0, cls}, {0, 0, 0}, {2, 0, sep}},
                           {{2, 0, cls}, {0, 0, 0}, {2, 0, sep}, {2, 0, sep}, {1, 0, 0}, {2, 0, sep}});
  return {};
}

void attune::text::fillGaps(TokenizerSpec &spec, size_t end, const std::function<std::string(size_t)> &textOf) {
  if (!spec.added.empty())
    end = std::max(end, size_t(spec.added.rbegin()->first));
  for (size_t id = 0; id < end; ++id)
    if ((id >= spec.tokens.size() || !spec.exists[id]) && !spec.added.count(uint32_t(id)))
      spec.decodedOnly[uint32_t(id)] = textOf(id);
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

std::string attune::text::stripPythonSpace(const std::string &text) {
  std::vector<uint32_t> characters = toCodePoints(text);
  while (!characters.empty() && isPythonSpace(characters.back()))
    characters.pop_back();
  return toUtf8({std::find_if_not(characters.begin(), characters.end(), isPythonSpace), characters.end()});
}

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
