//===- ChatTemplates.cpp - Chat templates of model folders ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/ChatTemplates.h"
#include "compiler/Support/FileKind.h"
#include "compiler/Support/Json.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/Strings.h"
#include "compiler/Text/GgufTokenizer.h"
#include "compiler/Text/TemplateCode.h"
#include "compiler/Text/TemplateParser.h"
#include "compiler/Text/Unicode.h"

#include <algorithm>
#include <filesystem>

using namespace attune;
namespace fs = std::filesystem;

/// The keys of special tokens in JSON files, which are also the variables by which templates see these tokens in
/// transformers.
static const char *const tokenNames[] = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

/// Returns true if |path| exists, readable or not: the function that reads the file reports errors.
static bool exists(const std::string &path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

static Result<std::string> readFile(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  return std::string(reinterpret_cast<const char *>(file->data()), file->size());
}

/// The file of the template "default" and the folder of the other templates, relative to the model folder.
static const char defaultFile[] = "chat_template.jinja", othersFolder[] = "additional_chat_templates";
/// Files with the key `chat_template` or special tokens.
static constexpr std::string_view tokenizerConfig = "tokenizer_config.json", specialTokensMap = "special_tokens_map.json",
                                  templateConfig = "chat_template.json";

/// Returns name and path, relative to |folder|, of each template of |folder| that has a file of its own, sorted by
/// name.
static std::vector<std::pair<std::string, std::string>> listTemplateFiles(const std::string &folder) {
  std::vector<std::pair<std::string, std::string>> files;
  if (exists(folder + "/" + defaultFile))
    files.emplace_back("default", defaultFile);
  std::error_code error;
  for (fs::directory_iterator entry(folder + "/" + othersFolder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".jinja")
      files.emplace_back(entry->path().stem().string(), (othersFolder / entry->path().filename()).string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> attune::chatTemplateFileNames(const std::string &folder) {
  std::vector<std::string> names = {std::string(tokenizerConfig), std::string(specialTokensMap), std::string(templateConfig)};
  for (auto &[name, path] : listTemplateFiles(folder))
    names.push_back(path);
  return names;
}

/// Adds to |templates| those of |value|, the value of the key `chat_template` in |file|: a string, which is the
/// template "default", or a list of objects with `name` and `template`.
static Status readTemplateValue(const Json &value, const std::string &file, std::vector<ChatTemplate> &templates) {
  if (value.is_string()) {
    templates.push_back({"default", file, value.get<std::string>()});
    return Status();
  }
  if (!value.is_array())
    return jsonTypeError(file, "chat_template", "a string or a list of objects with 'name' and 'template'", value);
  for (const Json &entry : value) {
    const Json *name = findJson(entry, "name"), *source = findJson(entry, "template");
    if (!name || !source || !name->is_string() || !source->is_string())
      return jsonTypeError(file, "chat_template", "a string or a list of objects with 'name' and 'template'", entry);
    templates.push_back({name->get<std::string>(), file, source->get<std::string>()});
  }
  return Status();
}

/// Sets in |result| the special tokens that |config| names. A token with the value null is removed from |result|.
static Status readSpecialTokens(const Json &config, const std::string &file, ChatTemplates &result) {
  for (const char *name : tokenNames) {
    const Json *value = findJson(config, name);
    if (!value)
      continue;
    auto &tokens = result.specialTokens;
    tokens.erase(std::remove_if(tokens.begin(), tokens.end(), [&](auto &token) { return token.first == name; }), tokens.end());
    if (value->is_null())
      continue;
    if (const Json *content = findJson(*value, "content"))
      value = content;
    if (!value->is_string())
      return jsonTypeError(file, name, "a string or an object with 'content'", *value);
    result.specialTokens.emplace_back(name, value->get<std::string>());
  }
  return Status();
}

Result<ChatTemplates> attune::readChatTemplates(const GgufFile &file) {
  ChatTemplates result;
  const std::string key = "tokenizer.chat_template";
  for (const auto &[name, value] : file.metadata().items()) {
    const bool isNamed = startsWith(name, key + ".");
    if (name != key && !isNamed)
      continue;
    Result<std::string> source = jsonString(value, file.path(), name);
    if (!source)
      return source.status();
    if (!text::isUtf8(*source))
      return Status::error(file.path() + ": '" + name + "': expected UTF-8, got other bytes");
    result.templates.push_back({isNamed ? name.substr(key.size() + 1) : "default", file.path(), *source});
  }
  result.specialTokens = text::readGgufSpecialTokens(file);
  return result;
}

Result<ChatTemplates> attune::readChatTemplates(const std::string &folder) {
  if (isGgufFile(folder)) {
    Result<GgufFile> file = GgufFile::open(folder);
    return file ? readChatTemplates(*file) : file.status();
  }
  ChatTemplates result;
  for (const auto &[name, file] : listTemplateFiles(folder)) {
    std::string path = folder + "/" + file;
    Result<std::string> source = readFile(path);
    if (!source)
      return source.status();
    result.templates.push_back({name, path, *source});
  }
  const bool hasFiles = !result.templates.empty();
  // transformers reads special_tokens_map.json only if tokenizer_config.json has no `added_tokens_decoder`. Values of
  // special_tokens_map.json then replace those of tokenizer_config.json.
  bool readsMap = true;
  for (std::string_view name : {tokenizerConfig, specialTokensMap, templateConfig}) {
    const std::string path = folder + "/" + std::string(name);
    if (!exists(path) || (name == specialTokensMap && !readsMap))
      continue;
    Result<Json> config = readJsonFile(path);
    if (!config)
      return config.status();
    if (name == tokenizerConfig)
      readsMap = !findJson(*config, "added_tokens_decoder");
    const Json *value = findJson(*config, "chat_template");
    if (value && !value->is_null() && !hasFiles && (name != templateConfig || result.templates.empty())) {
      result.templates.clear();
      if (Status status = readTemplateValue(*value, path, result.templates); status.failed())
        return status;
    }
    if (name != templateConfig)
      if (Status status = readSpecialTokens(*config, path, result); status.failed())
        return status;
  }
  return result;
}

std::string attune::compileChatTemplates(const ChatTemplates &templates, std::vector<std::string> &warnings) {
  ChatProgram program;
  for (const ChatTemplate &entry : templates.templates) {
    // Compiles into a copy, which is discarded if the template is not supported.
    ChatProgram tried = program;
    Result<NodeList> body = parseTemplate(entry.source);
    Result<uint32_t> function = body ? emitTemplate(*body, tried) : Result<uint32_t>(body.status());
    if (function) {
      program = std::move(tried);
      program.addTemplate(entry.name, *function, "");
      continue;
    }
    // Stores the name of the file without its folder, so that the bytes of a .text file do not depend on where the
    // model is.
    program.addTemplate(entry.name, ATTUNE_CHAT_NO_FUNCTION, fs::path(entry.file).filename().string() + ": " + function.message());
    warnings.push_back(entry.file + ": chat template '" + entry.name + "': " + function.message());
  }
  return program.write(templates.specialTokens);
}
