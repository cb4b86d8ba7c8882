//===- Commands.cpp - The commands shared by the tools --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches commands and implements the parts that all commands share.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Commands.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Tools/Manual.h"

#include <cstdio>
#include <cstdlib>

using namespace attune;

namespace {
struct Command {
  const char *name;
  int (*run)(const CommandHost &, const std::vector<std::string> &);
};
} // namespace

static constexpr Command commands[] = {{"run", runRunCommand},       {"generate", runGenerateCommand}, {"chat", runChatCommand},
                                       {"embed", runEmbedCommand},   {"classify", runClassifyCommand}, {"fill", runFillCommand},
                                       {"answer", runAnswerCommand}, {"tokenize", runTokenizeCommand}, {"check", runCheckCommand},
                                       {"bench", runBenchCommand},   {"diff", runDiffCommand},         {"inspect", runInspectCommand}};

/// Returns the value of the environment variable ATTUNE_THREADS, 0 if it is not set or empty. Fails if it is not a
/// valid number of workers.
static Result<int64_t> threadsOfEnvironment() {
  const char *text = std::getenv("ATTUNE_THREADS");
  if (!text || !*text)
    return 0;
  Result<int64_t> number = parseInteger(text);
  if (!number || *number < 1 || *number > ATTUNE_MAX_THREADS)
    return Status::error("ATTUNE_THREADS: expected an integer in 1.." + std::to_string(ATTUNE_MAX_THREADS) + ", got '" + text + "'");
  return number;
}

int attune::runCommand(const CommandHost &host, const std::string &command, const std::vector<std::string> &arguments) {
  if (Result<int64_t> threads = threadsOfEnvironment(); !threads)
    return reportError(host.tool, threads.message());
  for (const Command &entry : commands)
    if (command == entry.name)
      return entry.run(host, arguments);
  return reportError(host.tool, "unknown command '" + command + "'");
}

Result<Artifact> attune::openDeclared(const std::string &path, const std::string &weights) {
  if (Status status = declareInput(path); status.failed())
    return status;
  Result<Artifact> artifact = Artifact::openShared(path, weights);
  const char *found = artifact ? attune_model_weights_path(artifact->model()) : nullptr;
  if (found)
    if (Status status = declareInput(found); status.failed())
      return status;
  return artifact;
}

std::optional<int> attune::parseArguments(const CommandHost &host, FlagTable &flags, const std::vector<std::string> &arguments,
                                          std::vector<std::string> &positional, const std::string &usage, const std::string &summary) {
  Status status = flags.parse(arguments, positional);
  if (flags.helpStyle() != HelpStyle::None) {
    std::fputs(formatHelp(flags, host.tool, usage, summary).c_str(), stdout);
    return exitDone;
  }
  if (status.failed())
    return reportError(host.tool, status.message());
  return std::nullopt;
}

std::optional<int> attune::parseModelArguments(const CommandHost &host, FlagTable &flags, const std::vector<std::string> &arguments,
                                               std::string &model, const std::string &usage, const std::string &summary) {
  if (host.addFlags)
    host.addFlags(flags);
  std::vector<std::string> positional;
  if (std::optional<int> status = parseArguments(host, flags, arguments, positional, usage, summary))
    return status;
  Result<std::string> only = takeOnlyModel(positional);
  if (!only)
    return reportError(host.tool, only.message());
  model = *only;
  return std::nullopt;
}

Result<std::string> attune::takeOnlyModel(const std::vector<std::string> &words) {
  if (words.size() > 1)
    return Status::error("expected one model, got '" + words[0] + "' and '" + words[1] + "'");
  return words.empty() ? std::string() : words[0];
}

Result<std::string> attune::takeModel(const CommandHost &host, std::vector<std::string> &words) {
  if (host.modelFlag && !host.modelFlag->empty())
    return std::string();
  if (words.empty())
    return Status::error("expected a model, " + host.modelHelp);
  std::string model = words.front();
  words.erase(words.begin());
  return model;
}

void attune::addThreadsFlag(FlagTable &flags, int64_t &threads) {
  if (Result<int64_t> given = threadsOfEnvironment(); given && *given > 0)
    threads = *given;
  flags.addInteger("threads", "N", threads, 1, ATTUNE_MAX_THREADS, "workers (ATTUNE_THREADS, else all CPUs allowed)");
}
