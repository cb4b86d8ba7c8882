//===- TokenizerFolder.cpp - The tokenizer of a model folder --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TokenizerFolder.h"
#include "compiler/Support/FileKind.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/Strings.h"
#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/GgufTokenizer.h"
#include "compiler/Text/TaskSettings.h"
#include "compiler/Text/TokenizerClasses.h"

#include <algorithm>
#include <filesystem>

using namespace attune;
using namespace attune::text;
namespace fs = std::filesystem;

/// Files with a vocabulary, besides tokenizer.json. A folder with neither tokenizer.json nor one of these has no
/// tokenizer, unless its class needs no vocabulary.
static const char *const vocabularyFiles[] = {"vocab.txt",           "vocab.json", "tokenizer.model", "sentencepiece.bpe.model",
                                              "sentencepiece.model", "spm.model",  "spiece.model",    "tekken.json",
                                              "tiktoken.model",      "source.spm"};
/// Other files with parts of a tokenizer.
static const char *const furtherFiles[] = {"config.json",
                                           "tokenizer_config.json",
                                           "special_tokens_map.json",
                                           "added_tokens.json",
                                           "merges.txt",
                                           "target.spm",
                                           "target_vocab.json",
                                           "dict.txt",
                                           "bpe.codes"};

/// Returns "tokenizer.json", even if |folder| does not have it, and the sorted names tokenizer.VERSION.json of the
/// files that |folder| has.
static std::vector<std::string> listTokenizerJson(const std::string &folder) {
  std::vector<std::string> names = {"tokenizer.json"};
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (startsWith(name, "tokenizer.") && entry->path().extension() == ".json" && name != names[0])
      names.push_back(name);
  }
  std::sort(names.begin() + 1, names.end());
  return names;
}

std::vector<std::string> attune::text::tokenizerFileNames(const std::string &folder) {
  std::vector<std::string> names = listTokenizerJson(folder);
  names.insert(names.end(), std::begin(vocabularyFiles), std::end(vocabularyFiles));
  names.insert(names.end(), std::begin(furtherFiles), std::end(furtherFiles));
  return names;
}

/// Returns true if |folder| has a file with a vocabulary.
static bool hasTokenizer(const std::string &folder) {
  // If a file exists but cannot be read, the function that reads it reports the error.
  auto exists = [&](const std::string &name) {
    std::error_code error;
    return fs::symlink_status(folder + "/" + name, error).type() != fs::file_type::not_found;
  };
  return exists("tokenizer.json") || std::any_of(std::begin(vocabularyFiles), std::end(vocabularyFiles), exists);
}

/// Returns true if |folder|, which has no file with a vocabulary, names a class that needs none; false if the settings
/// that name the class cannot be read.
static bool namesByteTokenizer(const std::string &folder) {
  Result<TokenizerArguments> arguments = readTokenizerArguments(folder);
  if (!arguments)
    return false;
  Result<const TokenizerClass *> type = chooseTokenizerClass(*arguments);
  return type && (*type)->needsNoFile;
}

/// Adds the tokenizer of the GGUF file |path|, if it has one, to |writer|.
static Status addGgufTokenizer(const std::string &path, const std::function<void(const std::string &)> &warn, TextFileWriter &writer) {
  Result<GgufFile> file = GgufFile::open(path);
  if (!file)
    return file.status();
  Result<std::optional<TokenizerArguments>> arguments = readGgufTokenizer(*file, warn);
  if (!arguments || !*arguments)
    return arguments.status();
  writer.addInput((*arguments)->tokenizer.dump());
  TokenizerBuilder builder(std::move(**arguments), *findTokenizerClass("TokenizersBackend"));
  if (Status status = builder.run(); status.failed())
    return status;
  return writeTokenizer(builder.spec, builder.file, warn, writer);
}

/// Returns true if a normalizer of |spec| turns texts to lower case.
static bool hasLowercase(const TokenizerSpec &spec) {
  return std::any_of(spec.normalizers.begin(), spec.normalizers.end(), [](const Step &step) {
    return step.kind == StepKind::NormalizeLowercase || (step.kind == StepKind::NormalizeBert && (step.a & kBertLower));
  });
}

Status attune::text::addTokenizer(const std::string &folder, const std::function<void(const std::string &)> &warn, TextFileWriter &writer) {
  if (isGgufFile(folder))
    return addGgufTokenizer(folder, warn, writer);
  if (!hasTokenizer(folder) && !namesByteTokenizer(folder))
    return {};
  Result<TokenizerArguments> arguments = readTokenizerArguments(folder);
  if (!arguments)
    return arguments.status();
  Result<const TokenizerClass *> type = chooseTokenizerClass(*arguments);
  if (!type)
    return type.status();
  TokenizerBuilder builder(std::move(*arguments), **type);
  if (Status status = builder.run(); status.failed())
    return status;
  Result<bool> lowers = lowersTexts(folder);
  if (!lowers)
    return lowers.status();
  if (*lowers && !hasLowercase(builder.spec))
    builder.spec.normalizers.insert(builder.spec.normalizers.begin(), Step{StepKind::NormalizeLowercase, 0, 0, 0, 0, 0, 0, 0});
  for (const std::string &name : tokenizerFileNames(folder)) {
    std::error_code error;
    if (!fs::is_regular_file(folder + "/" + name, error))
      continue;
    Result<MappedFile> file = MappedFile::open(folder + "/" + name);
    if (!file)
      return file.status();
    writer.addInput(std::string(reinterpret_cast<const char *>(file->data()), file->size()));
  }
  return writeTokenizer(builder.spec, builder.file, warn, writer);
}

Result<std::optional<std::string>> attune::text::compileTokenizer(const std::string &folder,
                                                                  const std::function<void(const std::string &)> &warn) {
  TextFileWriter writer(referenceId());
  if (Status status = addTokenizer(folder, warn, writer); status.failed())
    return status;
  return writer.isEmpty() ? std::optional<std::string>() : writer.finish();
}
