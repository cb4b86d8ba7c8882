//===- GenerationSettings.cpp - Generation settings by name ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Support/GenerationSettings.h"

#include <algorithm>

using namespace attune;

using Options = attune_generation_options;

namespace {

struct IntegerSetting {
  const char *name;
  int64_t Options::*member;
  int64_t min;
};

struct NumberSetting {
  const char *name;
  double Options::*member;
};

struct FlagSetting {
  const char *name;
  int64_t Options::*member;
};

/// A setting that is a list of ids.
struct ListSetting {
  const char *name;
  const int64_t *Options::*ids;
  size_t Options::*count;
};

/// A setting of transformers that this version does not implement, and the values, besides null, that switch it off.
struct MissingSetting {
  const char *name;
  std::vector<Json> unused;
};

} // namespace

/// max_new_tokens comes after max_length, so that max_new_tokens takes precedence in a file with both.
static const IntegerSetting integers[] = {{"max_length", &Options::max_length, 1},
                                          {"max_new_tokens", &Options::max_new_tokens, 1},
                                          {"min_length", &Options::min_length, 0},
                                          {"min_new_tokens", &Options::min_new_tokens, 0},
                                          {"num_beams", &Options::num_beams, 1},
                                          {"num_return_sequences", &Options::num_return_sequences, 1},
                                          {"no_repeat_ngram_size", &Options::no_repeat_ngram_size, 0},
                                          {"encoder_no_repeat_ngram_size", &Options::encoder_no_repeat_ngram_size, 0},
                                          {"top_k", &Options::top_k, 0},
                                          {"pad_token_id", &Options::pad_token_id, -1},
                                          {"bos_token_id", &Options::bos_token_id, -1},
                                          {"decoder_start_token_id", &Options::decoder_start_token_id, -1},
                                          {"forced_bos_token_id", &Options::forced_bos_token_id, -1},
                                          {"forced_eos_token_id", &Options::forced_eos_token_id, -1},
                                          {"never_token_id", &Options::never_token_id, -1}};

static const NumberSetting numbers[] = {{"length_penalty", &Options::length_penalty},
                                        {"repetition_penalty", &Options::repetition_penalty},
                                        {"encoder_repetition_penalty", &Options::encoder_repetition_penalty},
                                        {"presence_penalty", &Options::presence_penalty},
                                        {"frequency_penalty", &Options::frequency_penalty},
                                        {"typical_p", &Options::typical_p},
                                        {"min_p", &Options::min_p},
                                        {"epsilon_cutoff", &Options::epsilon_cutoff},
                                        {"eta_cutoff", &Options::eta_cutoff},
                                        {"temperature", &Options::temperature},
                                        {"top_p", &Options::top_p}};

static const FlagSetting flags[] = {{"do_sample", &Options::do_sample}, {"renormalize_logits", &Options::renormalize_logits}};

static const ListSetting lists[] = {{"eos_token_id", &Options::eos_token_ids, &Options::num_eos_token_ids},
                                    {"suppress_tokens", &Options::suppress_tokens, &Options::num_suppress_tokens},
                                    {"begin_suppress_tokens", &Options::begin_suppress_tokens, &Options::num_begin_suppress_tokens}};

static const MissingSetting missing[] = {{"num_beam_groups", {1}},
                                         {"diversity_penalty", {0.0}},
                                         {"penalty_alpha", {0.0}},
                                         {"exponential_decay_length_penalty", {}},
                                         {"forced_decoder_ids", {Json::array()}},
                                         {"sequence_bias", {}},
                                         {"force_words_ids", {}},
                                         {"constraints", {}},
                                         {"guidance_scale", {1.0}},
                                         {"max_time", {}},
                                         {"top_h", {}},
                                         {"dola_layers", {}},
                                         {"watermarking_config", {}},
                                         {"token_healing", {false}}};

/// Appends the names of the settings in |table| to |names|.
template <typename Table>
static void addNames(std::vector<std::string> &names, const Table &table) {
  for (const auto &setting : table)
    names.push_back(setting.name);
}

/// Returns the names of the settings that this version implements.
static std::vector<std::string> implementedNames() {
  std::vector<std::string> names;
  addNames(names, integers);
  addNames(names, numbers);
  addNames(names, lists);
  addNames(names, flags);
  names.insert(names.end(), {"bad_words_ids", "early_stopping", "seed", "stop_strings"});
  return names;
}

const std::vector<std::string> &GenerationSettings::names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names = implementedNames();
    addNames(names, missing);
    return names;
  }();
  return all;
}

/// Returns |value|, an id or a list of ids, as a list; -1 as an empty list.
static Result<Json> readEnds(const Json &value, const std::string &file) {
  if (!value.is_array() && !value.is_number_integer())
    return jsonTypeError(file, "eos_token_id", "an id or a list of ids", value);
  // Old configuration files write -1 for no id.
  if (value.is_number_integer() && value == -1)
    return Json::array();
  Json list = value.is_array() ? value : Json::array({value});
  Result<std::vector<int64_t>> ids = jsonIntegers(list, file, "eos_token_id", 0);
  return ids ? Result<Json>(list) : ids.status();
}

static Result<Json> readBadWords(const Json &value, const std::string &file) {
  if (!value.is_array())
    return jsonTypeError(file, "bad_words_ids", "a list of lists of ids", value);
  for (size_t i = 0; i < value.size(); ++i) {
    std::string key = "bad_words_ids." + std::to_string(i);
    Result<std::vector<int64_t>> ids = jsonIntegers(value[i], file, key, 0);
    if (!ids)
      return ids.status();
    if (ids->empty())
      return jsonTypeError(file, key, "a list of at least one id", value[i]);
  }
  return value;
}

/// Returns |value|, a text or a list of texts, as a list.
static Result<Json> readStops(const Json &value, const std::string &file) {
  Json list = value.is_array() ? value : Json::array({value});
  for (size_t i = 0; i < list.size(); ++i) {
    std::string key = value.is_array() ? "stop_strings." + std::to_string(i) : "stop_strings";
    if (!list[i].is_string() || list[i].get_ref<const std::string &>().empty() ||
        list[i].get_ref<const std::string &>().find('\0') != std::string::npos)
      return jsonTypeError(file, key, value.is_array() ? "a text of at least one character, without NUL" : "a text or a list of texts",
                           list[i]);
  }
  return list;
}

/// Checks and returns the value of a setting |name| that is in neither of the tables |integers| and |numbers|. Fails if
/// the name is unknown.
static Result<Json> readOther(const std::string &name, const Json &value, const std::string &file) {
  if (name == "eos_token_id")
    return readEnds(value, file);
  if (name == "bad_words_ids")
    return readBadWords(value, file);
  if (name == "stop_strings")
    return readStops(value, file);
  if (name == "unsupported" && value.is_string())
    return value;
  if (name == "early_stopping" && value == "never")
    return value;
  if (name == "early_stopping" && !value.is_boolean())
    return jsonTypeError(file, name, "true, false or \"never\"", value);
  for (const ListSetting &setting : lists)
    if (name == setting.name) {
      Result<std::vector<int64_t>> ids = jsonIntegers(value, file, name, 0);
      return ids ? Result<Json>(value) : ids.status();
    }
  auto isFlag = [&](const FlagSetting &setting) { return name == setting.name; };
  if (name == "early_stopping" || std::any_of(std::begin(flags), std::end(flags), isFlag)) {
    Result<bool> flag = jsonBool(value, file, name);
    return flag ? Result<Json>(*flag) : flag.status();
  }
  if (name == "seed") {
    Result<int64_t> seed = jsonInteger(value, file, name);
    return seed ? Result<Json>(*seed) : seed.status();
  }
  std::string known;
  for (const std::string &other : implementedNames())
    known += (known.empty() ? "" : ", ") + other;
  return Status::error(file + ": unknown setting '" + name + "'; known are " + known);
}

static Result<Json> readSetting(const std::string &name, const Json &value, const std::string &file) {
  for (const IntegerSetting &setting : integers)
    if (name == setting.name) {
      Result<int64_t> number = jsonInteger(value, file, name, setting.min);
      return number ? Result<Json>(*number) : number.status();
    }
  for (const NumberSetting &setting : numbers)
    if (name == setting.name) {
      Result<double> number = jsonNumber(value, file, name);
      return number ? Result<Json>(*number) : number.status();
    }
  return readOther(name, value, file);
}

/// Returns true if |text|, the error text of a setting that is not implemented, names a setting that has the text "" in
/// |refusals|, which means that it was switched off.
static bool isSwitchedOff(const std::string &text, const std::map<std::string, std::string> &refusals) {
  return std::any_of(refusals.begin(), refusals.end(), [&](const auto &refusal) {
    return refusal.second.empty() && text.find(": '" + refusal.first + "': ") != std::string::npos;
  });
}

void GenerationSettings::keepRefusal() {
  if (auto found = stored.find("unsupported"); found != stored.end() && !isSwitchedOff(found->second.get<std::string>(), refusals))
    return;
  stored.erase("unsupported");
  for (const auto &[name, text] : refusals)
    if (!text.empty()) {
      stored["unsupported"] = text;
      return;
    }
}

Status GenerationSettings::set(const std::string &name, const Json &value, const std::string &file) {
  for (const MissingSetting &setting : missing)
    if (name == setting.name) {
      if (!value.is_null() && std::find(setting.unused.begin(), setting.unused.end(), value) == setting.unused.end())
        refusals[name] = file + ": '" + name + "': " + describeJson(value) + " is not implemented in this version";
      else
        refusals[name] = "";
      keepRefusal();
      return {};
    }
  if (value.is_null())
    return {};
  Result<Json> checked = readSetting(name, value, file);
  if (!checked)
    return checked.status();
  if (name == "max_length")
    stored.erase("max_new_tokens");
  stored[name] = std::move(*checked);
  return {};
}

Status GenerationSettings::setText(const std::string &text, const std::string &origin) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Status::error(origin + ": expected NAME=VALUE, got '" + text + "'");
  std::string value = text.substr(equals + 1);
  Result<Json> parsed = parseJson(value, origin);
  return set(text.substr(0, equals), parsed ? *parsed : Json(value), origin);
}

void GenerationSettings::apply(attune_generation_options &options) {
  auto find = [&](const char *name) {
    auto found = stored.find(name);
    return found == stored.end() ? nullptr : &found->second;
  };
  for (const IntegerSetting &setting : integers)
    if (const Json *value = find(setting.name))
      options.*setting.member = value->get<int64_t>();
  for (const NumberSetting &setting : numbers)
    if (const Json *value = find(setting.name))
      options.*setting.member = value->get<double>();
  if (find("max_length") && !find("max_new_tokens"))
    options.max_new_tokens = 0;
  for (const FlagSetting &setting : flags)
    if (const Json *value = find(setting.name))
      options.*setting.member = value->get<bool>();
  if (const Json *value = find("early_stopping"))
    options.early_stopping = value->is_string()   ? ATTUNE_STOP_NEVER_EARLY
                             : value->get<bool>() ? ATTUNE_STOP_EARLY
                                                  : ATTUNE_STOP_BY_ESTIMATE;
  if (const Json *value = find("seed"))
    options.seed = static_cast<uint64_t>(value->get<int64_t>());
  for (const ListSetting &setting : lists)
    if (const Json *value = find(setting.name)) {
      std::vector<int64_t> &ids = idLists[setting.name] = value->get<std::vector<int64_t>>();
      options.*setting.ids = ids.data();
      options.*setting.count = ids.size();
    }
  if (const Json *value = find("bad_words_ids")) {
    badWords.clear(), badWordLengths.clear();
    for (const Json &word : *value) {
      for (const Json &id : word)
        badWords.push_back(id.get<int64_t>());
      badWordLengths.push_back(static_cast<int64_t>(word.size()));
    }
    options.bad_words_ids = badWords.data();
    options.bad_words_lengths = badWordLengths.data();
    options.num_bad_words = badWordLengths.size();
  }
  if (const Json *value = find("stop_strings")) {
    stops = value->get<std::vector<std::string>>();
    stopPointers.clear();
    for (const std::string &stop : stops)
      stopPointers.push_back(stop.c_str());
    options.stop_strings = stopPointers.data();
    options.num_stop_strings = stopPointers.size();
  }
  if (options.unsupported && isSwitchedOff(options.unsupported, refusals))
    options.unsupported = nullptr;
  if (const Json *value = find("unsupported")) {
    unsupported = value->get<std::string>();
    options.unsupported = unsupported.c_str();
  }
}
