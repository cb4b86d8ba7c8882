//===- attune.cpp - The compiler's command line ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the verb. Verbs are one file each; those on compiled models are shared with attune-run.
//===----------------------------------------------------------------------===//

#include "compiler/Tools/ToolVerbs.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <cstdio>

using namespace attune;

static const char *const usage = R"(usage: attune VERB ... [flags]

  compile   a model folder to a native object, its header and its weights
  run       one forward call, safetensors to safetensors
  generate  text generation
  check     golden cases: worst error against tolerance for each output
  bench     latency, rates and the fraction of the machine's peak
  diff      compare two safetensors files
  inspect   signature, sizes, kernels and weights
  init      a model folder with generated weights

attune VERB --help lists the flags of a verb, attune --version the version.
)";

static const char *const verbNames[] = {"compile", "run", "generate", "check", "bench", "diff", "inspect", "init"};

/// " (did you mean 'compile'?)" if a verb is close to |word|.
static std::string suggest(llvm::StringRef word) {
  for (const char *verb : verbNames)
    if (word.edit_distance(verb, true, 2) <= 2)
      return std::string(" (did you mean '") + verb + "'?)";
  return "";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg("attune: crashed; please report this with the command line, the config.json and, if it compiled a model,\n"
                        "the last file that --dump-stages=DIR writes: `attune-opt FILE --attune-to-PHASE` on it reproduces the crash\n");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string verb = arguments.empty() ? "" : arguments[0];
  if (verb == "--version") {
    std::printf("attune %s, LLVM %s\n", ATTUNE_VERSION, LLVM_VERSION_STRING);
    return exitDone;
  }
  if (verb.empty() || verb == "--help" || verb == "-h" || verb == "help") {
    std::fputs(usage, verb.empty() ? stderr : stdout);
    return verb.empty() ? exitRejected : exitDone;
  }
  arguments.erase(arguments.begin());
  VerbHost host;
  host.tool = "attune";
  if (verb == "compile")
    return runVerbCompile(host, arguments);
  if (verb == "init")
    return runVerbInit(host, arguments);
  if (isVerb(verb))
    return runArtefactVerb(verb, arguments);
  return reportError(host.tool, "unknown verb '" + verb + "'" + suggest(verb) + "; attune --help lists the verbs");
}
