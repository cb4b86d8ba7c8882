//===- Generate.cpp - The command generate --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generates texts from texts (GenerateText.cpp), or sequences of ids from ids. Ids come from a safetensors file or from
// flags. They are prompts or, for an encoder-decoder, inputs of the encoder, which the help of the flags calls sources.
//===----------------------------------------------------------------------===//
#include "compiler/Support/InputFiles.h"
#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/FlagInputs.h"
#include "compiler/Tools/GenerateCall.h"
#include "compiler/Tools/GenerateText.h"
#include "compiler/Tools/InputFile.h"
#include "compiler/Tools/PrintTensors.h"

#include <algorithm>

using namespace attune;

namespace {

struct GenerateOptions {
  std::string input;
  FlagInputs flagInputs{FlagInputs::Padding::Hidden};
  OutputTarget target;
  std::vector<std::string> outputs;
  GenerationFlags generation;
  TextPrompts prompts;
  int64_t threads = 0;
};

} // namespace

/// Generates ids from tensors of ids.
static Status generateIds(const CommandHost &host, const std::string &model, GenerateOptions &options) {
  if (options.input.empty() && options.flagInputs.empty())
    return Status::error("expected a text, --prompt=T, --file=F or -, or ids, --input=FILE or --ids=N,N,...");
  if (Status status = declareOutput(options.target.file); status.failed())
    return status;
  if (options.generation.hasStops())
    return Status::error("--stop: expected a text to generate from, --prompt=T, --file=F or -, got ids");
  Result<InputFile> file = InputFile::open(options.input);
  if (!file)
    return file.status();
  std::vector<TensorView> inputs = file->tensors();
  std::vector<std::string> names = options.flagInputs.names();
  for (const TensorView &input : inputs)
    names.push_back(input.name);
  if (std::find(names.begin(), names.end(), "position_ids") != names.end())
    return Status::error("input 'position_ids': not for generation, which counts positions by the mask");
  Result<Artifact> artifact = host.openModel(model, generationRequest(file->specs(), options.flagInputs.names()));
  if (!artifact)
    return artifact.status();
  Result<std::vector<OwnedTensor>> made = options.flagInputs.make(*artifact, {"prefill", "encode"}, inputs);
  if (!made)
    return made.status();
  for (const OwnedTensor &tensor : *made)
    inputs.push_back(viewOf(tensor));
  options.generation.warnOfUnread(host, *artifact);
  Result<std::vector<OwnedTensor>> outputs =
      runGeneration(*artifact, inputs, options.generation.settings(), options.outputs, options.threads);
  return outputs ? deliverTensors(options.target, *outputs) : outputs.status();
}

/// Generates texts from texts.
static Status generateTexts(const CommandHost &host, const std::string &model, GenerateOptions &options) {
  const OutputTarget &target = options.target;
  if (!options.input.empty() || !options.flagInputs.empty() || !target.file.empty() || target.print || !options.outputs.empty())
    return Status::error("expected texts, --prompt=T, --file=F or -, or ids, --input, --ids, --output, --print and --outputs, got both");
  Result<Artifact> artifact = host.openModel(model, generationRequest({}));
  if (!artifact)
    return artifact.status();
  options.generation.warnOfUnread(host, *artifact);
  return generateFromPrompts(host, *artifact, options.prompts, options.generation, options.threads);
}

int attune::runGenerateCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  GenerateOptions options;
  FlagTable flags;
  addThreadsFlag(flags, options.threads);
  flags.beginGroup("Texts");
  options.prompts.addTo(flags);
  flags.beginGroup("Sequences of ids");
  flags.addString("input", "FILE", options.input, "prompts or sources by name, a safetensors file");
  options.flagInputs.addTo(flags);
  flags.addString("output", "FILE", options.target.file, "write the sequences, I64 and F32 safetensors");
  flags.addSwitch("print", options.target.print, "print the sequences (default without --output)");
  flags.addList("outputs", "LIST", options.outputs, "sequences, sequences_scores, step_logits");
  options.generation.addTo(flags);
  if (host.addFlags)
    host.addFlags(flags);
  std::vector<std::string> positional;
  if (std::optional<int> status = parseArguments(host, flags, arguments, positional,
                                                 "generate " + host.modelHelp + " [--prompt=T|--file=F|-] [--ids=N,N,...] [flags]",
                                                 "Generates text: greedy search, beam search (--num-beams) or sampling (--sample).\n"
                                                 "Other settings are those of generation_config.json, else of config.json."))
    return *status;
  if (!positional.empty() && positional.back() == "-") {
    options.prompts.readsInput = true;
    positional.pop_back();
  }
  if (positional.size() > 1)
    return reportError(host.tool, "expected one model, got '" + positional[0] + "' and '" + positional[1] + "'");
  std::string model = positional.empty() ? "" : positional[0];
  Status status = options.generation.finish();
  if (!status.failed())
    status = options.prompts.empty() ? generateIds(host, model, options) : generateTexts(host, model, options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
