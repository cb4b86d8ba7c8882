//===- Verbs.cpp - The commands shared by the tools ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatch and what all verbs have in common.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Verbs.h"
#include "compiler/Tools/Manual.h"

#include <cstdio>

using namespace attune;

namespace {
struct Verb {
  const char *name;
  int (*run)(const VerbHost &, const std::vector<std::string> &);
};
} // namespace

static constexpr Verb verbs[] = {{"run", runVerbRun},     {"generate", runVerbGenerate}, {"check", runVerbCheck},
                                 {"bench", runVerbBench}, {"diff", runVerbDiff},         {"inspect", runVerbInspect}};

int attune::runVerb(const VerbHost &host, const std::string &verb, const std::vector<std::string> &arguments) {
  for (const Verb &entry : verbs)
    if (verb == entry.name) {
      int status = entry.run(host, arguments);
      // A full disk or a closed pipe must not look like success.
      if (std::fflush(stdout) != 0 || std::ferror(stdout))
        return reportError(host.tool, "cannot write to standard output");
      return status;
    }
  return reportError(host.tool, "unknown verb '" + verb + "'");
}

std::optional<int> attune::parseArguments(const VerbHost &host, FlagTable &flags, const std::vector<std::string> &arguments,
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

Result<std::string> attune::singleModel(const std::vector<std::string> &positional) {
  if (positional.size() > 1)
    return Status::error("expected one model, got '" + positional[0] + "' and '" + positional[1] + "'");
  return positional.empty() ? std::string() : positional[0];
}

void attune::addThreadsFlag(FlagTable &flags, int64_t &threads) {
  flags.addInteger("threads", "N", threads, 1, ATTUNE_MAX_THREADS, "workers (default: the CPUs of the affinity mask)");
}
