//===- VocabularyFiles.cpp - Reading vocab.txt, vocab.json and merges.txt -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/VocabularyFiles.h"
#include "compiler/Support/Strings.h"
#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/Unicode.h"

using namespace attune;
using namespace attune::text;

Result<MappedFile> attune::text::openVocabularyFile(const std::string &path, size_t mostMiB) {
  Result<MappedFile> file = MappedFile::open(path);
  if (file && file->size() > mostMiB << 20)
    return Status::error(path + ": expected at most " + std::to_string(mostMiB) + " MiB, got " + std::to_string(file->size()) + " bytes");
  return file;
}

Result<std::vector<std::string>> attune::text::readTextLines(const std::string &path) {
  Result<MappedFile> file = openVocabularyFile(path);
  if (!file)
    return file.status();
  const std::string content(reinterpret_cast<const char *>(file->data()), file->size());
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < content.size();) {
    size_t end = std::min(content.find('\n', begin), content.size());
    std::string line = content.substr(begin, end - begin);
    begin = end + 1;
    if (end < content.size() && !line.empty() && line.back() == '\r')
      line.pop_back();
    lines.push_back(std::move(line));
    if (!isUtf8(lines.back()))
      return Status::error(path + ": line " + std::to_string(lines.size()) + ": expected UTF-8, got other bytes");
  }
  return lines;
}

/// Removes white space at the end of |line|.
static void trimEnd(std::string &line) {
  const auto *begin = reinterpret_cast<const uint8_t *>(line.data());
  size_t size = line.size();
  while (size > 0) {
    Character c = decodeCharacterBefore(begin, begin + size);
    if (!predicate(Predicate::WhiteSpace).contains(c.value))
      break;
    size -= c.bytes;
  }
  line.resize(size);
}

Status attune::text::readVocabTxt(const std::string &path, TokenizerSpec &spec) {
  Result<std::vector<std::string>> lines = readTextLines(path);
  if (!lines)
    return lines.status();
  std::unordered_map<std::string, uint32_t> ids;
  for (size_t i = 0; i < lines->size(); ++i) {
    trimEnd((*lines)[i]);
    ids[(*lines)[i]] = uint32_t(i);
  }
  if (ids.empty())
    return Status::error(path + ": expected a token on each line, got an empty file");
  for (size_t i = 0; i < lines->size(); ++i)
    if (ids[(*lines)[i]] == i)
      spec.addToken((*lines)[i], uint32_t(i));
  spec.modelSize = uint32_t(ids.size());
  return {};
}

Status attune::text::readVocabJson(const std::string &path, TokenizerSpec &spec) {
  Result<Json> root = readJsonFile(path);
  if (!root)
    return root.status();
  return readVocabulary(*root, path, "", spec);
}

Status attune::text::readMergesTxt(const std::string &path, TokenizerSpec &spec) {
  Result<std::vector<std::string>> lines = readTextLines(path);
  if (!lines)
    return lines.status();
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::string &line = (*lines)[i];
    if (startsWith(line, "#version"))
      continue;
    const std::string name = path + ": line " + std::to_string(i + 1);
    size_t space = line.find(' ');
    if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos)
      return Status::error(name + ": expected two tokens, got " + describeJson(Json(line)));
    std::string left = line.substr(0, space), right = line.substr(space + 1);
    for (const std::string &token : {left, right, left + right})
      if (!spec.vocab.count(token))
        return Status::error(name + ": expected tokens of the vocabulary, got " + describeJson(Json(token)));
    spec.merges.emplace_back(std::move(left), std::move(right));
  }
  return {};
}
