//===- attune.cpp - The compiler's command line ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the verb. Verbs are one file each; those on compiled models are shared with attune-run.
//===----------------------------------------------------------------------===//

#include "compiler/Tools/ToolVerbs.h"
#include "runtime/verbs/Manual.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace attune;

static const char *const kVersion = ATTUNE_VERSION ", LLVM " LLVM_VERSION_STRING;

/// The verbs, in the order of help.
static std::vector<VerbEntry> listVerbs(const VerbHost &host) {
  auto artefact = [](const char *verb) {
    return [verb](const std::vector<std::string> &arguments) { return runArtefactVerb(verb, arguments); };
  };
  return {
      {"compile", "a model folder to a native object, its header and its weights",
       [&](auto &arguments) { return runVerbCompile(host, arguments); }},
      {"run", "one forward call, from a file or flags to a file or the screen", artefact("run")},
      {"generate", "text generation", artefact("generate")},
      {"check", "golden cases: worst error against tolerance for each output", artefact("check")},
      {"bench", "latency, rates and the fraction of the machine's peak", artefact("bench")},
      {"diff", "compare two safetensors files", artefact("diff")},
      {"inspect", "signature, sizes, kernels and weights", artefact("inspect")},
      {"init", "a model folder with generated weights", [&](auto &arguments) { return runVerbInit(host, arguments); }},
  };
}

/// " (did you mean 'compile'?)" if a verb is close to |word|.
static std::string suggest(const std::vector<VerbEntry> &verbs, llvm::StringRef word) {
  for (const VerbEntry &verb : verbs)
    if (word.edit_distance(verb.name, true, 2) <= 2)
      return " (did you mean '" + verb.name + "'?)";
  return "";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg("attune: crashed; please report this with the command line, the config.json and, if it compiled a model,\n"
                        "the last file that --dump-stages=DIR writes: `attune-opt FILE --attune-to-PHASE` on it reproduces the crash\n");
  VerbHost host;
  host.tool = "attune";
  ToolManual manual = {"attune", "ahead-of-time compiler for transformer models", "VERB ... [flags]", listVerbs(host),
                       "attune VERB --help lists the flags of a verb, attune --version the version."};
  return runTool(manual, kVersion, {argv + 1, argv + argc}, [&](const std::string &word) { return suggest(manual.verbs, word); });
}
