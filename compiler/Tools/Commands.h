//===- Commands.h - The commands shared by the tools ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on compiled artifacts. A tool supplies its way of opening a model (attune compiles folders, attune-run
// loads objects) and its own flags; the rest is the same in both tools.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMMANDS_H
#define ATTUNE_COMPILER_TOOLS_COMMANDS_H

#include "attune/text.h"
#include "compiler/Support/Json.h"
#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Tools/Artifact.h"
#include "compiler/Tools/ExitStatus.h"
#include "compiler/Tools/Flags.h"

#include <functional>
#include <memory>
#include <optional>

namespace attune {

/// The requirements of a command for its model. They decide how `attune` compiles the model; a model that is already
/// compiled cannot change, so they have no effect on it.
struct ModelRequest {
  /// Inputs that will be passed, with type and shape (see requestInput in InputRequests.h). Empty means the family's
  /// default inputs.
  std::vector<TensorSpec> inputs;
  /// Names of further inputs that will be passed, with the type and the shape that the model defines.
  std::vector<std::string> inputNames;
  /// Outputs or groups of outputs wanted. Empty means the family's main outputs.
  std::vector<std::string> outputs;
  /// Groups wanted in addition to the main outputs ("hidden_states", "attentions").
  std::vector<std::string> extraOutputs;
  /// Entries that will be called; a compiler need not create others. Empty means all.
  std::vector<std::string> entries;
  /// True if tokens that a mask hides need not be computed.
  bool skipsPadding = false;
  /// Heads to prune, "0:1;1:0,2" (layer:heads); "" for none.
  std::string pruneHeads;
  /// Adapters to merge, as --adapter takes them.
  std::vector<std::string> adapters;
  /// Operand type of matrix products, such as "bf16". Empty means the choice of the tool's own flags.
  std::string dtype;
  /// The seed of the weights that a golden case generates; nullopt if the case stores its weights. The compiler reads
  /// the seed from case.json itself.
  std::optional<int64_t> weightsSeed;
};

/// The functions and names in which the tools with these commands differ.
struct CommandHost {
  /// Name of the tool in messages and help, such as "attune-run".
  std::string tool;
  /// The kinds of models for help, such as "MODEL|OUT.so".
  std::string modelHelp;
  /// Adds the tool's own flags to a command that opens models; may be empty.
  std::function<void(FlagTable &)> addFlags;
  /// Opens the model named on the command line; the name is "" if there was none.
  std::function<Result<Artifact>(const std::string &model, const ModelRequest &)> openModel;
  /// Opens the model for the golden case in |caseFolder|: attune compiles the model of the folder, attune-run opens the
  /// object that --model names.
  std::function<Result<Artifact>(const std::string &caseFolder, const ModelRequest &)> openCase;
  /// The kinds of tokenizers for help, such as "MODEL|OUT.text".
  std::string textHelp;
  /// Opens the tokenizer named on the command line.
  std::function<Result<std::shared_ptr<attune_text>>(const std::string &name)> openText;
  /// The value of the flag --model, which names the model instead of the first word; null if the tool has no such flag.
  const std::string *modelFlag = nullptr;
  /// Writes the tokenizer of a model folder to a .text file; empty if the tool cannot compile one.
  std::function<Status(const std::string &folder, const std::string &file)> writeText;
  /// Returns the remarks about |kernel| as explainKernel does: those in the file |remarks| or, if |remarks| is "",
  /// those of a compilation of |model|. An empty function if the tool has no compiler.
  std::function<Result<nlohmann::ordered_json>(const std::string &model, const std::string &kernel, const std::string &remarks)> explain;
};

/// Executes |command|, which is one of run, check, diff, bench, inspect, generate, chat, tokenize, embed, classify,
/// fill and answer; prints results to stdout and errors, one line each, to stderr. Returns the exit status.
int runCommand(const CommandHost &host, const std::string &command, const std::vector<std::string> &arguments);

// The commands, one file each.
int runRunCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runCheckCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runDiffCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runBenchCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runInspectCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runGenerateCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runChatCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runTokenizeCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runEmbedCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runClassifyCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runFillCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runAnswerCommand(const CommandHost &host, const std::vector<std::string> &arguments);

/// Returns the only word of |words|, "" if |words| is empty. Fails if there are several.
Result<std::string> takeOnlyModel(const std::vector<std::string> &words);

/// Removes the first of |words|, the model, and returns it; fails if there are no words. If the flag --model names the
/// model, returns "" and leaves |words| unchanged.
Result<std::string> takeModel(const CommandHost &host, std::vector<std::string> &words);

/// Opens the shared object |path| with |weights| as Artifact::openShared does. Declares the object and its weights file
/// as files that the command must not overwrite (InputFiles.h).
Result<Artifact> openDeclared(const std::string &path, const std::string &weights);

/// Opens the .text file |path|.
Result<std::shared_ptr<attune_text>> openTextFile(const std::string &path);

/// Parses the |arguments| of a command and appends the words that are no flags to |positional|. Returns the exit status
/// after printing help or an error; returns nullopt if the command is to proceed. |usage| is the text after "usage:
/// TOOL ", |summary| one or more lines that describe the command.
std::optional<int> parseArguments(const CommandHost &host, FlagTable &flags, const std::vector<std::string> &arguments,
                                  std::vector<std::string> &positional, const std::string &usage, const std::string &summary);
/// Adds the flags of |host| and parses the |arguments| of a command with at most one model, as parseArguments does.
/// Sets |model| to the name of that model, "" if there is none. Two models are an error.
std::optional<int> parseModelArguments(const CommandHost &host, FlagTable &flags, const std::vector<std::string> &arguments,
                                       std::string &model, const std::string &usage, const std::string &summary);

/// Adds --threads, which all commands have, bound to |threads|. The default is the environment variable ATTUNE_THREADS
/// or, without a valid one, the value that |threads| has already.
void addThreadsFlag(FlagTable &flags, int64_t &threads);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMMANDS_H
