//===- TokenizerFolder.cpp - The tokenizer of a model folder --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TokenizerFolder.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/TokenizerSpec.h"

#include <filesystem>

using namespace attune;
using namespace attune::text;

const std::vector<std::string> &attune::text::tokenizerFileNames() {
  static const std::vector<std::string> names = {"tokenizer.json"};
  return names;
}

Status attune::text::addTokenizer(const std::string &folder, const std::function<void(const std::string &)> &warn, TextFileWriter &writer) {
  const std::string path = folder + "/tokenizer.json";
  if (!std::filesystem::exists(path))
    return {};
  Result<Json> root = readJsonFile(path);
  if (!root)
    return root.status();
  Result<TokenizerSpec> spec = readTokenizerJson(*root, path);
  if (!spec)
    return spec.status();
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  writer.addInput(std::string(reinterpret_cast<const char *>(file->data()), file->size()));
  return writeTokenizer(*spec, path, warn, writer);
}

Result<std::optional<std::string>> attune::text::compileTokenizer(const std::string &folder,
                                                                  const std::function<void(const std::string &)> &warn) {
  TextFileWriter writer(referenceId());
  if (Status status = addTokenizer(folder, warn, writer); status.failed())
    return status;
  return writer.isEmpty() ? std::optional<std::string>() : writer.finish();
}
