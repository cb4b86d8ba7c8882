//===- TaskSettings.cpp - How a folder's model is used with texts ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TaskSettings.h"
#include "compiler/Support/Json.h"
#include "compiler/Support/SentenceModules.h"
#include "runtime/text/tasks/TaskFormat.h"

#include <cstring>
#include <filesystem>

using namespace attune;
using namespace attune::text;
namespace fs = std::filesystem;

static const char *const tokenizerConfigName = "tokenizer_config.json", *const specialTokens = "special_tokens_map.json";
/// Lengths from this one on are placeholders that transformers writes where there is no limit.
static constexpr double kLargestLength = 1 << 30;

static std::string inFolder(const std::string &folder, const std::string &name) {
  return (fs::path(folder) / name).lexically_normal().string();
}

std::vector<std::string> attune::text::taskFileNames(const std::string &folder) {
  const fs::path transformer = fs::path(findTransformerFolder(folder)).lexically_relative(folder);
  std::vector<std::string> names;
  for (const char *name : {tokenizerConfigName, specialTokens})
    names.push_back((transformer / name).lexically_normal().string());
  for (const char *name : transformerSettingsFiles)
    names.push_back((transformer / name).lexically_normal().string());
  names.push_back(sentenceConfigFile);
  return names;
}

Result<bool> attune::text::lowersTexts(const std::string &folder) {
  Result<Json> config = readTransformerSettings(folder);
  if (!config)
    return config.status();
  const Json *lower = findJson(*config, "do_lower_case");
  return lower && lower->is_boolean() && lower->get<bool>();
}

namespace {

/// A reader of the settings of a folder, which makes the section TASK of the .text file from them.
class SettingsReader {
public:
  explicit SettingsReader(std::string folder) : folder(std::move(folder)), transformer(findTransformerFolder(this->folder)) {
    header.headerBytes = sizeof(header);
    header.defaultPrompt = header.padId = kNoId;
  }

  Status read();
  std::string finish();

private:
  Status readTokenizerConfig();
  Status readModelConfig();
  Status readSentenceFolder();
  Status readPrompts(const Json &config, const std::string &file);
  /// Sets |token|, unless it is set, to the special token |key| of |config|: a string, or an object with a string
  /// `content`.
  void readToken(const Json &config, const char *key, TaskString &token);
  TaskString addString(const std::string &text) {
    TaskString place = {uint32_t(strings.size()), uint32_t(text.size())};
    strings += text;
    return place;
  }
  static bool has(const Json &config, const char *key) {
    const Json *value = findJson(config, key);
    return value && !value->is_null();
  }
  void setLength(const Json &value) {
    if (value.is_number() && value.get<double>() >= 1)
      header.maxLength = value.get<double>() < kLargestLength ? uint32_t(value.get<double>()) : 0;
  }

  std::string folder, transformer, strings;
  TaskHeader header = {};
  std::vector<TaskPrompt> prompts;
};

} // namespace

void SettingsReader::readToken(const Json &config, const char *key, TaskString &token) {
  const Json *value = findJson(config, key);
  const Json *content = value && value->is_object() ? findJson(*value, "content") : value;
  if (content && content->is_string() && !token.size)
    token = addString(content->get<std::string>());
}

Status SettingsReader::readTokenizerConfig() {
  Result<Json> config = readOptionalObject(inFolder(transformer, tokenizerConfigName));
  Result<Json> tokens = readOptionalObject(inFolder(transformer, specialTokens));
  if (!config || !tokens)
    return config ? tokens.status() : config.status();
  for (const Json *source : {&*config, &*tokens}) {
    readToken(*source, "mask_token", header.maskToken);
    readToken(*source, "cls_token", header.clsToken);
    readToken(*source, "unk_token", header.unknownToken);
  }
  if (has(*config, "model_max_length"))
    setLength(*findJson(*config, "model_max_length"));
  return {};
}

Status SettingsReader::readModelConfig() {
  Result<Json> config = readOptionalObject(inFolder(transformer, "config.json"));
  if (!config)
    return config.status();
  const Json *problem = findJson(*config, "problem_type");
  const std::string name = problem && problem->is_string() ? problem->get<std::string>() : "";
  header.problem = name == "single_label_classification"  ? TaskProblem::SingleLabel
                   : name == "multi_label_classification" ? TaskProblem::MultiLabel
                   : name == "regression"                 ? TaskProblem::Regression
                                                          : TaskProblem::None;
  if (const Json *pad = findJson(*config, "pad_token_id"); pad && pad->is_number_unsigned() && pad->get<uint64_t>() <= INT32_MAX)
    header.padId = pad->get<uint32_t>();
  return {};
}

Status SettingsReader::readPrompts(const Json &config, const std::string &file) {
  if (Status status = checkPrompts(config, file); status.failed())
    return status;
  const Json *map = findJson(config, "prompts"), *fallback = findJson(config, "default_prompt_name");
  const std::string chosen = fallback && fallback->is_string() ? fallback->get<std::string>() : "";
  if (map && map->is_object())
    for (const auto &[name, text] : map->items()) {
      if (name == chosen)
        header.defaultPrompt = uint32_t(prompts.size());
      TaskString place = addString(name);
      prompts.push_back({place, addString(text.is_string() ? text.get<std::string>() : "")});
    }
  return {};
}

Status SettingsReader::readSentenceFolder() {
  Result<std::vector<SentenceModule>> modules = readSentenceModules(folder);
  if (!modules || modules->empty())
    return modules.status();
  header.flags |= modules->size() > 1 ? uint32_t(kTaskSentences) : 0u;
  Result<Json> module = readTransformerSettings(folder);
  if (!module)
    return module.status();
  if (has(*module, "max_seq_length"))
    setLength(*findJson(*module, "max_seq_length"));
  const std::string file = inFolder(folder, sentenceConfigFile);
  Result<Json> config = readOptionalObject(file);
  if (!config)
    return config.status();
  if (Status status = readPrompts(*config, file); status.failed())
    return status;
  static constexpr std::pair<const char *, TaskSimilarity> similarities[] = {{"cosine", TaskSimilarity::Cosine},
                                                                             {"dot", TaskSimilarity::Dot},
                                                                             {"euclidean", TaskSimilarity::Euclidean},
                                                                             {"manhattan", TaskSimilarity::Manhattan}};
  if (!has(*config, "similarity_fn_name"))
    return {};
  const Json &name = *findJson(*config, "similarity_fn_name");
  for (const auto &[known, similarity] : similarities)
    if (name == known) {
      header.similarity = similarity;
      return {};
    }
  return jsonTypeError(file, "similarity_fn_name", "cosine, dot, euclidean or manhattan", name);
}

Status SettingsReader::read() {
  for (auto step : {&SettingsReader::readTokenizerConfig, &SettingsReader::readModelConfig, &SettingsReader::readSentenceFolder})
    if (Status status = (this->*step)(); status.failed())
      return status;
  return {};
}

std::string SettingsReader::finish() {
  header.numPrompts = uint32_t(prompts.size());
  header.stringBytes = uint32_t(strings.size());
  std::string section(reinterpret_cast<const char *>(&header), sizeof(header));
  section.append(reinterpret_cast<const char *>(prompts.data()), prompts.size() * sizeof(TaskPrompt));
  return section + strings;
}

Status attune::text::addTaskSettings(const std::string &folder, TextFileWriter &writer) {
  SettingsReader reader(folder);
  if (Status status = reader.read(); status.failed())
    return status;
  std::string section = reader.finish();
  writer.addInput(section);
  // The section is not required, so that a runtime that does not know tasks can use the tokenizer.
  writer.add(kSectionTask, std::move(section), /*required=*/false);
  return {};
}
