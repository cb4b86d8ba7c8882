//===- attune.cpp - The compiler's command line ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches to the commands, which have a file each. The commands on compiled models are shared with attune-run.
//===----------------------------------------------------------------------===//

#include "compiler/Support/Temporaries.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Tools/Manual.h"
#include "compiler/Tools/ToolProcess.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"

using namespace attune;

static const char *const kVersion = ATTUNE_VERSION ", LLVM " LLVM_VERSION_STRING;

static const ManualSection kCacheSection = {
    "CACHE",
    "Commands on a model folder compile it at first use and keep the result; attune cache lists and removes what is kept. A model is "
    "compiled again "
    "when one of its files, the flags or the compiler change, or when the kept files are damaged. Models whose packed weights are the same "
    "share "
    "one file of them.",
    {{"ATTUNE_CACHE_DIR",
      "The folder to keep compiled models in. Default: attune in XDG_CACHE_HOME, else ~/.cache/attune, else attune-UID in the "
      "folder for temporary files. Only folders are taken that other users cannot write to."},
     {"ATTUNE_CACHE_SIZE",
      "Bytes that compiled models may take, with K, M, G or T behind the number. Default: 16G. Models that were not used for "
      "longest are removed when one is added."}}};

/// Returns the commands in the order of the help.
static std::vector<CommandEntry> listCommands(const CommandHost &host) {
  auto artifact = [](const char *command) {
    return [command](const std::vector<std::string> &arguments) { return runArtifactCommand(command, arguments); };
  };
  return {
      {"compile", "a model folder to a native object, its header and its weights",
       [&](auto &arguments) { return runCompileCommand(host, arguments); }},
      {"run", "one forward call, from a file or flags to a file or the screen", artifact("run")},
      {"generate", "text generation", artifact("generate")},
      {"chat", "a conversation by the model's chat template", artifact("chat")},
      {"tokenize", "texts to ids of a model's tokenizer, and back", artifact("tokenize")},
      {"embed", "texts to vectors", artifact("embed")},
      {"classify", "labels of texts or of their tokens, with scores", artifact("classify")},
      {"fill", "words for the masks of a text", artifact("fill")},
      {"answer", "answers to a question, from a text", artifact("answer")},
      {"check", "golden cases: worst error against tolerance for each output", artifact("check")},
      {"bench", "latency, rates and the fraction of the machine's peak", artifact("bench")},
      {"diff", "compare two safetensors files", artifact("diff")},
      {"inspect", "signature, sizes, kernels and weights", artifact("inspect")},
      {"bisect", "the pass after which numbers are wrong", [&](auto &arguments) { return runBisectCommand(host, arguments); }},
      {"explore", "a page about a compilation: layers to assembly, passes, memory",
       [&](auto &arguments) { return runExploreCommand(host, arguments); }},
      {"plan", "time, memory and traffic of a model on several machines", [&](auto &arguments) { return runPlanCommand(host, arguments); }},
      {"cache", "list or remove the compiled models that are kept", [&](auto &arguments) { return runCacheCommand(host, arguments); }},
      {"families", "models that can be compiled: classes and keys", [&](auto &arguments) { return runFamiliesCommand(host, arguments); }},
      {"init", "a model folder with generated weights", [&](auto &arguments) { return runInitCommand(host, arguments); }},
  };
}

/// Returns a hint such as " (did you mean 'compile'?)" if a command is similar to |word|, else "".
static std::string suggest(const std::vector<CommandEntry> &commands, llvm::StringRef word) {
  for (const CommandEntry &command : commands)
    if (word.edit_distance(command.name, true, 2) <= 2)
      return " (did you mean '" + command.name + "'?)";
  return "";
}

int main(int argc, char **argv) {
  ToolProcess process("attune");
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  llvm::setBugReportMsg("attune: crashed; please report this with the command line, the config.json and, if it compiled a model,\n"
                        "the last file that --dump-phases=DIR writes: `attune-opt FILE --attune-to-PHASE` on it reproduces the crash\n");
  // InitLLVM has installed handlers that report crashes. install adds the handlers for interruptions and limits.
  process.install();
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
  llvm::sys::AddSignalHandler([](void *) { removeTemporaries(); }, nullptr);
  registerAllTargets();
  CommandHost host;
  host.tool = "attune";
  ToolManual manual = {"attune",           "ahead-of-time compiler for transformer models",       "COMMAND ... [flags]",
                       listCommands(host), "attune COMMAND --help lists the flags of a command.", {kCacheSection, environmentSection()}};
  return runTool(manual, kVersion, {argv + 1, argv + argc}, [&](const std::string &word) { return suggest(manual.commands, word); });
}
