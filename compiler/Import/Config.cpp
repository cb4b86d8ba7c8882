//===- Config.cpp - config.json with checked access -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/Config.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <charconv>
#include <filesystem>
#include <sstream>

using namespace attune;

Result<Config> Config::open(const std::string &folder, const char *name) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    return Status::error(folder + ": expected a model folder with config.json, " +
                         (std::filesystem::exists(folder, ignored) ? "got a file" : "found nothing"));
  std::string path = (std::filesystem::path(folder) / name).string();
  Result<Json> root = readJsonFile(path);
  if (!root)
    return root.status();
  if (!root->is_object())
    return Status::error(path + ": expected an object, got " + describeJson(*root));
  return Config(std::move(path), "", std::move(*root), nullptr);
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> names;
  for (const auto &[name, value] : root.items())
    names.push_back(name);
  return names;
}

std::string Config::label(std::string_view key) const {
  auto inherited = inheritedLabels.find(key);
  return inherited == inheritedLabels.end() ? prefix + std::string(key) : inherited->second;
}

void Config::inherit(const std::string &key, const Config &other) {
  const Json *value = other.find(key);
  if (!value || find(key))
    return;
  root[key] = *value;
  inheritedLabels[key] = other.label(key);
}

Config Config::object(std::string_view key) const {
  const Json *value = find(key);
  return Config(path, label(key) + ".", value && value->is_object() ? *value : Json::object(), notes);
}

void ConfigReader::record(Status status) {
  if (!first.failed())
    first = std::move(status);
}

void ConfigReader::fail(const char *key, const std::string &expected) {
  const Json *value = config.find(key);
  record(value ? jsonTypeError(config.file(), config.label(key), expected, *value)
               : Status::error(config.file() + ": '" + config.label(key) + "': expected " + expected + ", but the key is missing"));
}

void ConfigReader::note(const char *key, const Json &fallback, const std::string &expected) const {
  if (ConfigTrace *trace = config.trace())
    trace->note(config.label(key), fallback.is_null() ? "" : fallback.dump(), expected);
}

void ConfigReader::noteChoices(const char *key, const std::vector<std::string> &names) const {
  if (std::string_view(key) == "architectures") {
    config.trace()->classes = names;
    return;
  }
  std::string known;
  for (const std::string &name : names)
    known += (known.empty() ? "one of " : ", ") + name;
  note(key, Json(), known);
}

std::string ConfigReader::choiceHint(std::string_view key) const {
  bool isClass = key == "architectures";
  if (!isClass && key != "model_type")
    return "";
  std::string code = present("auto_map") ? "Python code of the folder, which 'auto_map' names, is not run" : "";
  std::string choice = isClass ? "--architecture takes one of them" : "";
  if (code.empty() && choice.empty())
    return "";
  return " (" + code + (code.empty() || choice.empty() ? "" : "; ") + choice + ")";
}

bool ConfigReader::present(const char *key) const {
  if (std::string_view name = key; name != "architectures" && name != "auto_map")
    note(key, Json(), "");
  const Json *value = config.find(key);
  return value && !value->is_null();
}

template <typename T>
T ConfigReader::keep(Result<T> value, T fallback) {
  if (value)
    return std::move(*value);
  record(value.status());
  return fallback;
}

int64_t ConfigReader::integer(const char *key, int64_t fallback, IntegerRange range) {
  note(key, fallback, "");
  const Json *value = config.find(key);
  return value ? keep(jsonInteger(*value, config.file(), config.label(key), range.min, range.max), fallback) : fallback;
}

std::pair<int64_t, int64_t> ConfigReader::integerPair(const char *key, int64_t fallback, IntegerRange range) {
  const Json *value = config.find(key);
  if (!value || !value->is_array()) {
    int64_t both = integer(key, fallback, range);
    return {both, both};
  }
  if (value->size() != 2) {
    fail(key, "an integer or a list of two");
    return {fallback, fallback};
  }
  auto element = [&](size_t i) {
    return keep(jsonInteger((*value)[i], config.file(), config.label(key) + "." + std::to_string(i), range.min, range.max), fallback);
  };
  return {element(0), element(1)};
}

double ConfigReader::number(const char *key, double fallback, double min, double max) {
  note(key, fallback, "");
  const Json *value = config.find(key);
  if (!value)
    return fallback;
  double number = keep(jsonNumber(*value, config.file(), config.label(key)), fallback);
  if (number >= min && number <= max)
    return number;
  std::ostringstream expected;
  expected << "a number in " << min << ".." << max;
  fail(key, expected.str());
  return fallback;
}

std::vector<double> ConfigReader::numbers(const char *key, size_t count, double min, double max) {
  const Json *list = config.find(key);
  std::vector<double> numbers;
  if (list && list->is_array())
    for (const Json &element : *list)
      if (element.is_number() && element.get<double>() >= min && element.get<double>() <= max)
        numbers.push_back(element.get<double>());
  if (numbers.size() == count && list->size() == count)
    return numbers;
  std::ostringstream expected;
  expected << "a list of " << count << " numbers in " << min << ".." << max;
  fail(key, expected.str());
  return std::vector<double>(count, 1);
}

bool ConfigReader::flag(const char *key, bool fallback) {
  note(key, fallback, "");
  const Json *value = config.find(key);
  return value ? keep(jsonBool(*value, config.file(), config.label(key)), fallback) : fallback;
}

std::string ConfigReader::string(const char *key, const char *fallback) {
  note(key, fallback ? Json(fallback) : Json(), "");
  const Json *value = config.find(key);
  if (value)
    return keep(jsonString(*value, config.file(), config.label(key)), std::string(fallback ? fallback : ""));
  if (!fallback)
    fail(key, "a string");
  return fallback ? fallback : "";
}

std::vector<std::string> ConfigReader::words(const char *key) {
  std::vector<std::string> words;
  const Json *value = present(key) ? config.find(key) : nullptr;
  if (!value)
    return words;
  if (value->is_string()) {
    llvm::SmallVector<llvm::StringRef> parts;
    std::string text = llvm::StringRef(value->get_ref<const std::string &>()).lower();
    llvm::StringRef(text).split(parts, '|');
    for (llvm::StringRef part : parts)
      words.push_back(part.trim().str());
  } else if (value->is_array() && llvm::all_of(*value, [](const Json &word) { return word.is_string(); })) {
    for (const Json &word : *value)
      words.push_back(word.get<std::string>());
  } else {
    fail(key, "a string or a list of strings");
  }
  return words;
}

/// Former class names in published files, with the present names.
static constexpr std::pair<const char *, const char *> formerClasses[] = {
    {"LLaMAForCausalLM", "LlamaForCausalLM"},
    {"MPTForCausalLM", "MptForCausalLM"},
    {"MPTModel", "MptModel"},
    {"T5WithLMHeadModel", "T5ForConditionalGeneration"},
};

std::string ConfigReader::architecture(const char *fallback) {
  const Json *value = config.find("architectures");
  if (!present("architectures") || (value->is_array() && value->empty()))
    return fallback;
  if (value->is_array() && value->front().is_string()) {
    std::string name = value->front().get<std::string>();
    for (const auto &[former, present] : formerClasses)
      if (name == former)
        return present;
    return name;
  }
  fail("architectures", "an array of class names");
  return fallback;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> ConfigReader::integerLists(const char *key) {
  note(key, Json::object(), "an object of lists of integers");
  std::vector<std::pair<std::string, std::vector<int64_t>>> lists;
  if (!present(key))
    return lists;
  const Json *value = config.find(key);
  if (!value->is_object()) {
    fail(key, "an object of lists");
    return lists;
  }
  for (const auto &[name, list] : value->items())
    lists.emplace_back(name, keep(jsonIntegers(list, config.file(), config.label(key) + "." + name), std::vector<int64_t>()));
  return lists;
}

int64_t ConfigReader::labels(int64_t fallback) {
  constexpr int64_t maxLabels = 1 << 24;
  note("id2label", Json(), "an object of names");
  if (!present("id2label"))
    return integer("num_labels", fallback, {1, maxLabels});
  const Json *names = config.find("id2label");
  if (names->is_object() && !names->empty() && names->size() <= size_t(maxLabels))
    return int64_t(names->size());
  fail("id2label", "an object with at least one label");
  return fallback;
}

std::vector<std::string> ConfigReader::labelNames(int64_t count) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i)
    labels.push_back("LABEL_" + std::to_string(i));
  if (count == 0 || !present("id2label"))
    return labels;
  for (const auto &[id, label] : config.find("id2label")->items()) {
    int64_t index;
    auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), index);
    if (error != std::errc() || end != id.data() + id.size() || !label.is_string() ||
        label.get_ref<const std::string &>().find('\0') != std::string::npos) {
      fail("id2label", "an object from numbers of classes to their names");
      return labels;
    }
    if (index >= 0 && index < count)
      labels[static_cast<size_t>(index)] = label.get<std::string>();
  }
  return labels;
}

void ConfigReader::reject(const char *key, const char *reason) {
  const Json *value = config.find(key);
  bool off = !value || value->is_null() || (value->is_boolean() && !value->get<bool>()) ||
             ((value->is_object() || value->is_array()) && value->empty());
  if (ConfigTrace *trace = config.trace())
    trace->noteRefused(config.label(key), reason);
  if (!off)
    fail(key, std::string("no such setting (") + reason + ")");
}
