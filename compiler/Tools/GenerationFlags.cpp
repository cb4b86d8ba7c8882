//===- GenerationFlags.cpp - Flags for the settings of a generation -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/GenerationFlags.h"

#include <algorithm>

using namespace attune;

namespace {

using Group = GenerationFlags::Group;

/// A flag for a setting that is an integer of at least |min|.
struct IntegerFlag {
  Group group;
  const char *flag, *setting;
  int64_t min;
  const char *help;
};

/// A flag for a setting that is a number.
struct NumberFlag {
  Group group;
  const char *flag, *setting, *help;
};

/// A flag that sets a setting to true.
struct SwitchFlag {
  Group group;
  const char *flag, *setting, *help;
};

} // namespace

static constexpr IntegerFlag integerFlags[] = {
    {Group::Common, "max-length", "max_length", 1, "most ids of a sequence, prompt included"},
    {Group::Common, "max-new-tokens", "max_new_tokens", 1, "most ids after the prompt, instead of --max-length"},
    {Group::Further, "min-length", "min_length", 0, "no end before a sequence has this many ids"},
    {Group::Further, "min-new-tokens", "min_new_tokens", 0, "no end before as many after the prompt"},
    {Group::Common, "num-beams", "num_beams", 1, "beams per row; 1 = greedy search or sampling"},
    {Group::Common, "num-return-sequences", "num_return_sequences", 1, "results per row"},
    {Group::Further, "forced-bos", "forced_bos_token_id", 0, "the second id of a sequence"},
    {Group::Further, "no-repeat-ngram-size", "no_repeat_ngram_size", 0, "no n-gram of this size twice (0 = any)"},
    {Group::Common, "top-k", "top_k", 0, "sampling: from the k best ids (0 = all)"},
    {Group::Common, "seed", "seed", INT64_MIN, "sampling: equal seeds give equal results (0)"}};
static constexpr NumberFlag numberFlags[] = {
    {Group::Further, "length-penalty", "length_penalty", "beams: scores are divided by length ** X"},
    {Group::Further, "repetition-penalty", "repetition_penalty", "above 1: ids that occurred score less"},
    {Group::Further, "presence-penalty", "presence_penalty", "subtracted from ids that were generated"},
    {Group::Further, "frequency-penalty", "frequency_penalty", "the same for each time they were"},
    {Group::Common, "temperature", "temperature", "sampling: above 1 flattens, below 1 sharpens"},
    {Group::Common, "top-p", "top_p", "sampling: from the best ids that make up X"},
    {Group::Further, "min-p", "min_p", "sampling: at least X of the best probability"},
    {Group::Further, "typical-p", "typical_p", "sampling: nearest to the expected surprise"}};
static constexpr SwitchFlag switchFlags[] = {
    {Group::Further, "early-stopping", "early_stopping", "beams: a row is done when it has as many results"},
    {Group::Common, "sample", "do_sample", "draw ids instead of taking the best"}};

void GenerationFlags::addTo(FlagTable &flags) {
  flags.beginGroup("Generation");
  addGroup(flags, Group::Common);
  flags.addRepeated("stop", "T", stops, "a text that ends a result, which is cut before it");
  flags.addRepeated("set", "KEY=VALUE", texts, "any other setting, as generation_config.json names it: suppress_tokens=[5,7]");
  flags.beginGroup("Further settings of generation", /*isFolded=*/true);
  addGroup(flags, Group::Further);
}

void GenerationFlags::addGroup(FlagTable &flags, Group group) {
  for (const IntegerFlag &entry : integerFlags)
    if (entry.group == group)
      flags.addCustom(entry.flag, "N", entry.help, [this, entry](const std::string &text) {
        Result<int64_t> value = parseInteger(text);
        if (!value)
          return value.status();
        if (*value < entry.min)
          return Status::error("expected an integer of at least " + std::to_string(entry.min) + ", got " + text);
        lengthGiven |= entry.setting == std::string("max_length");
        newTokensGiven |= entry.setting == std::string("max_new_tokens");
        setByFlags.emplace_back(entry.setting, std::string("--") + entry.flag);
        return values.set(entry.setting, *value, std::string("--") + entry.flag);
      });
  for (const NumberFlag &entry : numberFlags)
    if (entry.group == group)
      flags.addCustom(entry.flag, "X", entry.help, [this, entry](const std::string &text) {
        Result<double> value = parseNumber(text);
        setByFlags.emplace_back(entry.setting, std::string("--") + entry.flag);
        return value ? values.set(entry.setting, *value, std::string("--") + entry.flag) : value.status();
      });
  for (const SwitchFlag &entry : switchFlags)
    if (entry.group == group)
      flags.addCustom(entry.flag, "", entry.help, [this, entry](const std::string &) {
        setByFlags.emplace_back(entry.setting, std::string("--") + entry.flag);
        return values.set(entry.setting, true, entry.setting);
      });
}

Status GenerationFlags::finish() {
  if (lengthGiven && newTokensGiven)
    return Status::error("expected one of --max-length and --max-new-tokens, got both");
  if (!stops.empty())
    setByFlags.emplace_back("stop_strings", "--stop");
  for (const std::string &text : texts) {
    if (Status status = values.setText(text, "--set"); status.failed())
      return status;
    std::string name = text.substr(0, text.find('='));
    auto given = std::find_if(setByFlags.begin(), setByFlags.end(), [&](const auto &entry) { return entry.first == name; });
    if (given != setByFlags.end())
      return Status::error("expected one of " + given->second + " and --set " + name + ", got both");
    if ((name == "max_length" && newTokensGiven) || (name == "max_new_tokens" && lengthGiven))
      return Status::error("expected one of max_length and max_new_tokens, got both");
    lengthGiven |= name == "max_length";
    newTokensGiven |= name == "max_new_tokens";
    setByFlags.emplace_back(name, "--set " + name);
  }
  return stops.empty() ? Status() : values.set("stop_strings", Json(stops), "--stop");
}

attune_generation_options GenerationFlags::optionsFor(const Artifact &artifact) {
  attune_generation_options options;
  attune_generation_options_init(artifact.model(), &options);
  values.apply(options);
  return options;
}

bool GenerationFlags::limitsLength(const attune_generation_options &options) const {
  // A max_length of 20, the default of transformers and of the runtime, counts as not set, as in transformers.
  constexpr int64_t kUnset = 20;
  return lengthGiven || newTokensGiven || options.max_new_tokens > 0 || options.max_length != kUnset;
}

void GenerationFlags::warnOfUnread(const CommandHost &host, const Artifact &artifact) {
  attune_generation_options effective = optionsFor(artifact);
  static constexpr const char *sampling[] = {"temperature", "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "seed"};
  static constexpr const char *beams[] = {"length_penalty", "early_stopping"};
  std::string unsampled, unbeamed;
  for (const auto &[setting, flag] : setByFlags) {
    auto isSetting = [name = setting](const char *one) { return name == one; };
    if (!effective.do_sample && std::any_of(std::begin(sampling), std::end(sampling), isSetting))
      unsampled += (unsampled.empty() ? "" : ", ") + flag;
    if (effective.num_beams == 1 && std::any_of(std::begin(beams), std::end(beams), isSetting))
      unbeamed += (unbeamed.empty() ? "" : ", ") + flag;
  }
  if (effective.max_new_tokens > 0 && effective.min_new_tokens > effective.max_new_tokens)
    reportWarning(host.tool, "min_new_tokens: no end before " + std::to_string(effective.min_new_tokens) +
                                 " ids, but max_new_tokens ends each result after " + std::to_string(effective.max_new_tokens));
  if (!unsampled.empty())
    reportWarning(host.tool, unsampled + ": no effect without --sample");
  if (!unbeamed.empty())
    reportWarning(host.tool, unbeamed + ": no effect without --num-beams of at least 2");
}
