//===- TextFolder.cpp - The .text file of a model folder ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TextFolder.h"
#include "compiler/Support/SentenceModules.h"
#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/ChatTemplates.h"
#include "compiler/Text/TaskSettings.h"
#include "compiler/Text/TokenizerFolder.h"

#include <algorithm>
#include <filesystem>

using namespace attune;
using namespace attune::text;

std::vector<std::string> attune::text::textFileNames(const std::string &folder) {
  // A sentence-transformers folder may have its transformer in a subfolder.
  const std::string transformer = findTransformerFolder(folder);
  std::vector<std::string> names = tokenizerFileNames(transformer), templates = chatTemplateFileNames(transformer);
  names.insert(names.end(), templates.begin(), templates.end());
  const std::filesystem::path subfolder = std::filesystem::path(transformer).lexically_relative(folder);
  for (std::string &name : names)
    name = (subfolder / name).lexically_normal().string();
  for (const std::string &name : taskFileNames(folder))
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  return names;
}

/// Adds the chat templates of |folder|, a model folder or a GGUF file, to |writer| if there are any. |warnings|
/// receives a message for each template that cannot be compiled.
static Status addChatTemplates(const std::string &folder, std::vector<std::string> &warnings, TextFileWriter &writer) {
  Result<ChatTemplates> templates = readChatTemplates(folder);
  if (!templates)
    return templates.status();
  if (templates->templates.empty())
    return {};
  std::string program = compileChatTemplates(*templates, warnings);
  writer.addInput(program);
  // The section is not required, so that a runtime that does not know chat templates can use the tokenizer.
  writer.add(kSectionChatTemplate, std::move(program), /*required=*/false);
  return {};
}

std::optional<std::string> attune::text::compileText(const std::string &model, const std::function<void(const std::string &)> &warn) {
  const std::string folder = findTransformerFolder(model);
  std::vector<std::string> warnings;
  TextFileWriter writer(referenceId());
  // The tokenizer goes to a copy of the writer, which is dropped with its sections if addTokenizer fails.
  TextFileWriter tokenizer = writer;
  if (Status status = addTokenizer(folder, warn, tokenizer); status.failed())
    warnings.push_back(status.message() + "; the tokenizer is left out");
  else
    writer = std::move(tokenizer);
  if (!writer.isEmpty())
    if (Status status = addTaskSettings(model, writer); status.failed())
      warnings.push_back(status.message() + "; the settings of tasks are left out");
  if (Status status = addChatTemplates(folder, warnings, writer); status.failed())
    warnings.push_back(status.message() + "; the chat templates are left out");
  if (warn)
    for (const std::string &warning : warnings)
      warn(warning);
  return writer.isEmpty() ? std::nullopt : std::optional<std::string>(writer.finish());
}
