//===- SentenceModules.cpp - The modules of a sentence-transformers folder ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Support/SentenceModules.h"
#include "compiler/Support/Json.h"

#include <filesystem>

using namespace attune;
namespace fs = std::filesystem;

/// Returns true if |path| is relative and has no "..", so that it stays inside the folder that it starts from.
static bool isInside(const fs::path &path) {
  if (path.is_absolute())
    return false;
  for (const fs::path &part : path)
    if (part == "..")
      return false;
  return true;
}

/// Returns true if |path|, relative to |folder|, leads out of |folder| through a link. Returns false if one of them is
/// missing.
static bool leadsOutside(const fs::path &folder, const fs::path &path) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error), part = error ? fs::path() : fs::canonical(folder / path, error);
  if (error)
    return false;
  return !isInside(part.lexically_relative(whole));
}

/// Returns true if the folder is a cross-encoder, whose modules compute a score of two texts instead of a vector.
static Result<bool> scoresPairs(const std::string &folder) {
  Result<Json> config = readOptionalObject((fs::path(folder) / sentenceConfigFile).string());
  if (!config)
    return config.status();
  const Json *type = findJson(*config, "model_type");
  return type && *type == "CrossEncoder";
}

Result<std::vector<SentenceModule>> attune::readSentenceModules(const std::string &folder) {
  std::vector<SentenceModule> modules;
  const std::string file = (fs::path(folder) / sentenceModulesFile).string();
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return modules;
  Result<Json> root = readJsonFile(file);
  if (!root)
    return root.status();
  if (!root->is_array() || root->empty())
    return Status::error(file + ": expected a list of modules, got " + describeJson(*root));
  for (const Json &entry : *root) {
    const std::string key = "[" + std::to_string(modules.size()) + "]";
    const Json *path = findJson(entry, "path"), *type = findJson(entry, "type");
    Result<std::string> pathText = jsonString(path ? *path : Json(), file, key + ".path");
    Result<std::string> typeText = jsonString(type ? *type : Json(), file, key + ".type");
    if (!pathText || !typeText)
      return pathText ? typeText.status() : pathText.status();
    if (!isInside(*pathText))
      return jsonTypeError(file, key + ".path", "a folder inside that of the model", *path);
    if (leadsOutside(folder, *pathText))
      return jsonTypeError(file, key + ".path", "a folder inside that of the model, not a link to another", *path);
    modules.push_back({typeText->substr(typeText->rfind('.') + 1), fs::path(*pathText).lexically_normal().string()});
    if (modules.back().path == ".")
      modules.back().path.clear();
  }
  if (modules.front().type != "Transformer")
    return Status::error(file + ": '[0].type': expected a Transformer, got \"" + modules.front().type + "\"");
  Result<bool> scores = scoresPairs(folder);
  if (!scores)
    return scores.status();
  if (*scores)
    modules.resize(1);
  return modules;
}

Status attune::checkPrompts(const Json &config, const std::string &file) {
  const Json *prompts = findJson(config, "prompts"), *chosen = findJson(config, "default_prompt_name");
  const bool hasPrompts = prompts && prompts->is_object();
  if (prompts && !prompts->is_null() && !hasPrompts)
    return jsonTypeError(file, "prompts", "an object of strings", *prompts);
  if (hasPrompts)
    for (const auto &[name, text] : prompts->items())
      if (!text.is_string() && !text.is_null())
        return jsonTypeError(file, "prompts." + name, "a string", text);
  if (!chosen || chosen->is_null() || *chosen == "")
    return {};
  const std::string name = chosen->is_string() ? chosen->get<std::string>() : "";
  if (name != "query" && name != "document" && !(hasPrompts && chosen->is_string() && prompts->contains(name)))
    return jsonTypeError(file, "default_prompt_name", "the name of one of 'prompts'", *chosen);
  return {};
}

Result<Json> attune::readTransformerSettings(const std::string &folder) {
  const fs::path transformer = findTransformerFolder(folder);
  std::error_code ignored;
  for (const char *name : transformerSettingsFiles)
    if (fs::exists(transformer / name, ignored))
      return readOptionalObject((transformer / name).string());
  return Json(Json::object());
}

std::string attune::findTransformerFolder(const std::string &folder) {
  Result<std::vector<SentenceModule>> modules = readSentenceModules(folder);
  if (!modules || modules->empty() || modules->front().path.empty())
    return folder;
  return (fs::path(folder) / modules->front().path).string();
}
