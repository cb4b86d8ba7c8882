//===- ExitStatus.cpp - Messages of the tools -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/ExitStatus.h"
#include "compiler/Support/Status.h"
#include "compiler/Tools/ToolRanks.h"

#include <cstdio>

using namespace attune;

static bool quiet = false;

void attune::setQuiet() { quiet = true; }

bool attune::isQuiet() { return quiet; }

int attune::reportError(const std::string &tool, const std::string &message) {
  // Status::error makes one line of |message|, which may have line breaks from an argument.
  std::string line = Status::error(message).message();
  if (ranks::printsError(line))
    std::fprintf(stderr, "%s: error: %s\n", tool.c_str(), line.c_str());
  std::fflush(stderr);
  ranks::endAfterError(exitRejected);
  return exitRejected;
}

void attune::reportWarning(const std::string &tool, const std::string &message) {
  if (!quiet)
    std::fprintf(stderr, "%s: warning: %s\n", tool.c_str(), Status::error(message).message().c_str());
}

void attune::reportNotice(const std::string &tool, const std::string &message) {
  if (!quiet)
    std::fprintf(stderr, "%s: %s\n", tool.c_str(), Status::error(message).message().c_str());
}
