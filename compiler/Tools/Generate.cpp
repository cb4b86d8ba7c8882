//===- Generate.cpp - The command generate --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generates sequences from prompts or sources, which a safetensors file or flags contain.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/FlagInputs.h"
#include "compiler/Tools/GenerateCall.h"
#include "compiler/Tools/PrintTensors.h"

#include <algorithm>

using namespace attune;

namespace {

struct GenerateOptions {
  std::string input;
  FlagInputs flagInputs{FlagInputs::Padding::Hidden};
  OutputTarget target;
  std::vector<std::string> outputs, texts;
  GenerationSettings settings;
  /// The settings that flags have set: name and spelling of the flag.
  std::vector<std::pair<std::string, std::string>> setByFlags;
  bool lengthGiven = false, newTokensGiven = false;
  int64_t threads = 0;
};

/// A flag for a setting that is an integer of at least |min|.
struct IntegerFlag {
  const char *flag, *setting;
  int64_t min;
  const char *help;
};

/// A flag for a setting that is a number.
struct NumberFlag {
  const char *flag, *setting, *help;
};

} // namespace

static constexpr IntegerFlag integerFlags[] = {
    {"max-length", "max_length", 1, "most ids of a sequence, prompt included"},
    {"max-new-tokens", "max_new_tokens", 1, "most ids after the prompt, instead of --max-length"},
    {"min-length", "min_length", 0, "no end before a sequence has this many ids"},
    {"num-beams", "num_beams", 1, "beams per row; 1 = greedy search or sampling"},
    {"num-return-sequences", "num_return_sequences", 1, "results per row"},
    {"forced-bos", "forced_bos_token_id", 0, "the second id of a sequence: the target language of a translator"},
    {"no-repeat-ngram-size", "no_repeat_ngram_size", 0, "no n-gram of this size occurs twice (0 = any may)"},
    {"top-k", "top_k", 0, "sampling: from the k best ids (0 = all)"},
    {"seed", "seed", INT64_MIN, "sampling: equal seeds give equal results (0)"}};
static constexpr NumberFlag numberFlags[] = {
    {"length-penalty", "length_penalty", "beams: scores are divided by length ** X"},
    {"temperature", "temperature", "sampling: above 1 flattens, below 1 sharpens"},
    {"top-p", "top_p", "sampling: from the best ids that make up X"},
    {"min-p", "min_p", "sampling: from ids of at least X of the best one's probability"},
    {"typical-p", "typical_p", "sampling: from the ids nearest to the expected surprise that make up X"}};

/// Adds the flags for settings. Their defaults come from the model's files, so help shows none.
static void addSettingFlags(FlagTable &flags, GenerateOptions &options) {
  for (const IntegerFlag &entry : integerFlags)
    flags.addCustom(entry.flag, "N", entry.help, [&options, entry](const std::string &text) {
      Result<int64_t> value = parseInteger(text);
      if (!value)
        return value.status();
      if (*value < entry.min)
        return Status::error("expected an integer of at least " + std::to_string(entry.min) + ", got " + text);
      options.lengthGiven |= entry.setting == std::string("max_length");
      options.newTokensGiven |= entry.setting == std::string("max_new_tokens");
      options.setByFlags.emplace_back(entry.setting, std::string("--") + entry.flag);
      return options.settings.set(entry.setting, *value, std::string("--") + entry.flag);
    });
  for (const NumberFlag &entry : numberFlags)
    flags.addCustom(entry.flag, "X", entry.help, [&options, entry](const std::string &text) {
      Result<double> value = parseNumber(text);
      options.setByFlags.emplace_back(entry.setting, std::string("--") + entry.flag);
      return value ? options.settings.set(entry.setting, *value, std::string("--") + entry.flag) : value.status();
    });
  for (auto [flag, setting, help] : {std::tuple("early-stopping", "early_stopping", "beams: a row is done when it has as many results"),
                                     std::tuple("sample", "do_sample", "draw ids instead of taking the best")})
    flags.addCustom(flag, "", help, [&options, flag = flag, setting = setting](const std::string &) {
      options.setByFlags.emplace_back(setting, std::string("--") + flag);
      return options.settings.set(setting, true, setting);
    });
  flags.addRepeated("set", "KEY=VALUE", options.texts, "any other setting, as generation_config.json names it: suppress_tokens=[5,7]");
}

/// Applies the settings of --set.
static Status applyTexts(GenerateOptions &options) {
  for (const std::string &text : options.texts) {
    if (Status status = options.settings.setText(text, "--set"); status.failed())
      return status;
    std::string name = text.substr(0, text.find('='));
    options.setByFlags.emplace_back(name, "--set " + name);
  }
  return {};
}

/// Warns of flags for settings that the chosen search does not read. Otherwise an ignored temperature would look like a
/// model that never varies.
static void warnOfUnread(const CommandHost &host, const Artifact &artifact, GenerateOptions &options) {
  attune_generation_options effective;
  attune_generation_options_init(artifact.model(), &effective);
  options.settings.apply(effective);
  static constexpr const char *sampling[] = {"temperature", "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "seed"};
  static constexpr const char *beams[] = {"length_penalty", "early_stopping"};
  std::string unsampled, unbeamed;
  for (const auto &[setting, flag] : options.setByFlags) {
    auto isSetting = [name = setting](const char *one) { return name == one; };
    if (!effective.do_sample && std::any_of(std::begin(sampling), std::end(sampling), isSetting))
      unsampled += (unsampled.empty() ? "" : ", ") + flag;
    if (effective.num_beams == 1 && std::any_of(std::begin(beams), std::end(beams), isSetting))
      unbeamed += (unbeamed.empty() ? "" : ", ") + flag;
  }
  if (!unsampled.empty())
    reportWarning(host.tool, unsampled + ": no effect without --sample");
  if (!unbeamed.empty())
    reportWarning(host.tool, unbeamed + ": no effect without --num-beams of at least 2");
}

static Status generateModel(const CommandHost &host, const std::string &model, GenerateOptions &options) {
  if (options.input.empty() && options.flagInputs.empty())
    return Status::error("expected prompts or sources, --input=FILE or --ids=N,N,..., which are missing");
  if (options.lengthGiven && options.newTokensGiven)
    return Status::error("expected one of --max-length and --max-new-tokens, got both");
  if (Status status = applyTexts(options); status.failed())
    return status;
  std::optional<SafetensorsFile> file;
  std::vector<TensorView> inputs;
  std::vector<TensorSpec> specs;
  if (!options.input.empty()) {
    Result<SafetensorsFile> opened = SafetensorsFile::open(options.input);
    if (!opened)
      return opened.status();
    file.emplace(std::move(*opened));
    for (const auto &[name, tensor] : file->tensors()) {
      inputs.push_back(tensor);
      specs.push_back({name, tensor.dtype, tensor.shape});
    }
  }
  Result<Artifact> artifact = host.openModel(model, generationRequest(specs, options.flagInputs.names()));
  if (!artifact)
    return artifact.status();
  Result<std::vector<OwnedTensor>> made = options.flagInputs.make(*artifact, {"prefill", "encode"}, inputs);
  if (!made)
    return made.status();
  for (const OwnedTensor &tensor : *made)
    inputs.push_back(viewOf(tensor));
  warnOfUnread(host, *artifact, options);
  Result<std::vector<OwnedTensor>> outputs = runGeneration(*artifact, inputs, options.settings, options.outputs, options.threads);
  return outputs ? deliverTensors(options.target, *outputs) : outputs.status();
}

int attune::runGenerateCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  GenerateOptions options;
  FlagTable flags;
  flags.addString("input", "FILE", options.input, "prompts or sources by name, a safetensors file");
  options.flagInputs.addTo(flags);
  flags.addString("output", "FILE", options.target.file, "write the sequences, I64 and F32 safetensors");
  flags.addSwitch("print", options.target.print, "print the sequences (default without --output)");
  flags.addList("outputs", "LIST", options.outputs, "sequences, sequences_scores, step_logits");
  addSettingFlags(flags, options);
  addThreadsFlag(flags, options.threads);
  if (host.addFlags)
    host.addFlags(flags);
  std::string model;
  if (std::optional<int> status = parseModelArguments(
          host, flags, arguments, model, "generate " + host.modelHelp + " [--input=FILE] [--ids=N,N,...] [--output=FILE] [flags]",
          "Generates ids: greedy search, beam search (--num-beams) or sampling (--sample).\n"
          "Other settings are those of generation_config.json, else of config.json."))
    return *status;
  Status status = generateModel(host, model, options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
