//===- attune-run.cpp - Run compiled models --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs on compiled artefacts, linked to the runtime alone: what one installs where nothing is compiled.
//===----------------------------------------------------------------------===//
#include "runtime/verbs/Verbs.h"

#include <cstdio>

using namespace attune;

static const char *usage = R"(usage: attune-run COMMAND --model=OUT.so [flags]

Commands, each with --help:
  run       one forward call, safetensors to safetensors
  generate  text generation
  check     golden cases: worst error against tolerance for each output
  bench     latency, rates and the fraction of the machine's peak
  inspect   signature, sizes, kernels and weights
  diff      compare two safetensors files

OUT.so is made by `attune compile MODEL -o OUT.so --emit=shared`.
)";

/// Opens the model of --model or of the command line.
static Result<Artefact> openObject(const std::string &flag, const std::string &positional, const std::string &weights) {
  if (!flag.empty() && !positional.empty())
    return Status::error("expected one model, got --model=" + flag + " and '" + positional + "'");
  const std::string &path = flag.empty() ? positional : flag;
  if (path.empty())
    return Status::error("expected a model, --model=OUT.so");
  return Artefact::openShared(path, weights);
}

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    std::fputs(usage, arguments.empty() ? stderr : stdout);
    return arguments.empty() ? exitRejected : exitDone;
  }
  std::string model, weights;
  VerbHost host;
  host.tool = "attune-run";
  host.modelHelp = "OUT.so";
  host.addFlags = [&](FlagTable &flags) {
    flags.addString("model", "OUT.so", model, "the compiled model");
    flags.addString("weights", "FILE|DIR", weights, "its weights (default: beside it, found by build id)");
  };
  host.openModel = [&](const std::string &positional, const ModelRequest &) { return openObject(model, positional, weights); };
  host.openCase = [&](const std::string &, const ModelRequest &) { return openObject(model, "", weights); };

  std::string verb = arguments[0];
  arguments.erase(arguments.begin());
  if (!isVerb(verb))
    return reportError(host.tool, "unknown command '" + verb + "'; --help lists the commands");
  return runVerb(host, verb, arguments);
}
