//===- Generate.cpp - The verb generate ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a safetensors file with prompts or sources to one with sequences.
//===----------------------------------------------------------------------===//
#include "runtime/verbs/GenerateCall.h"

using namespace attune;

namespace {

struct GenerateOptions {
  std::string input, output;
  std::vector<std::string> outputs, texts;
  GenerationSettings settings;
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
    {"no-repeat-ngram-size", "no_repeat_ngram_size", 0, "no n-gram of this size occurs twice (0 = any may)"},
    {"top-k", "top_k", 0, "sampling: from the k best ids (0 = all)"},
    {"seed", "seed", INT64_MIN, "sampling: equal seeds give equal results (0)"}};
static constexpr NumberFlag numberFlags[] = {
    {"length-penalty", "length_penalty", "beams: scores are divided by length ** X"},
    {"temperature", "temperature", "sampling: above 1 flattens, below 1 sharpens"},
    {"top-p", "top_p", "sampling: from the best ids that make up X"},
    {"min-p", "min_p", "sampling: from ids of at least X of the best one's probability"},
    {"typical-p", "typical_p", "sampling: from the ids nearest to the expected surprise that make up X"}};

/// Adds the flags that are settings. The model's files say what is not given, so help shows no defaults.
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
      return options.settings.set(entry.setting, *value, std::string("--") + entry.flag);
    });
  for (const NumberFlag &entry : numberFlags)
    flags.addCustom(entry.flag, "X", entry.help, [&options, entry](const std::string &text) {
      Result<double> value = parseNumber(text);
      return value ? options.settings.set(entry.setting, *value, std::string("--") + entry.flag) : value.status();
    });
  for (auto [flag, setting, help] : {std::tuple("early-stopping", "early_stopping", "beams: a row is done when it has as many results"),
                                     std::tuple("sample", "do_sample", "draw ids instead of taking the best")})
    flags.addCustom(flag, "", help,
                    [&options, setting = setting](const std::string &) { return options.settings.set(setting, true, setting); });
  flags.addRepeated("set", "KEY=VALUE", options.texts, "any other setting, as generation_config.json names it: suppress_tokens=[5,7]");
}

static Status generateFile(const VerbHost &host, const std::string &model, GenerateOptions &options) {
  if (options.input.empty() || options.output.empty())
    return Status::error(std::string(options.input.empty() ? "--input" : "--output") + ": expected a safetensors file, which is missing");
  if (options.lengthGiven && options.newTokensGiven)
    return Status::error("expected one of --max-length and --max-new-tokens, got both");
  for (const std::string &text : options.texts)
    if (Status status = options.settings.setText(text, "--set"); status.failed())
      return status;
  Result<SafetensorsFile> file = SafetensorsFile::open(options.input);
  if (!file)
    return file.status();
  std::vector<TensorView> inputs;
  std::vector<TensorSpec> specs;
  for (const auto &[name, tensor] : file->tensors()) {
    inputs.push_back(tensor);
    specs.push_back({name, tensor.dtype, tensor.shape});
  }
  Result<Artefact> artefact = host.openModel(model, generationRequest(specs));
  if (!artefact)
    return artefact.status();
  Result<std::vector<OwnedTensor>> outputs = runGeneration(*artefact, inputs, options.settings, options.outputs, options.threads);
  return outputs ? saveSafetensors(options.output, *outputs) : outputs.status();
}

int attune::runVerbGenerate(const VerbHost &host, const std::vector<std::string> &arguments) {
  GenerateOptions options;
  FlagTable flags;
  flags.addString("input", "FILE", options.input, "prompts or sources by name, a safetensors file");
  flags.addString("output", "FILE", options.output, "where the sequences go, I64 and F32 safetensors");
  flags.addList("outputs", "LIST", options.outputs, "sequences, sequences_scores, step_logits");
  addSettingFlags(flags, options);
  addThreadsFlag(flags, options.threads);
  if (host.addFlags)
    host.addFlags(flags);
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "generate " + host.modelHelp + " --input=FILE --output=FILE [flags]",
                         "Generates ids: greedy search, beam search (--num-beams) or sampling (--sample).\n"
                         "Other settings are those of generation_config.json, else of config.json."))
    return *status;
  Result<std::string> model = singleModel(positional);
  Status status = model ? generateFile(host, *model, options) : model.status();
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
