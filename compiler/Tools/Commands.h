//===- Commands.h - The commands shared by the tools ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run, check, diff, bench, inspect and generate on compiled artifacts. A tool supplies how a model is opened (attune compiles folders,
// attune-run loads objects) and its own flags; the rest is the same in both.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMMANDS_H
#define ATTUNE_COMPILER_TOOLS_COMMANDS_H

#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Tools/Artefact.h"
#include "compiler/Tools/ExitStatus.h"
#include "compiler/Tools/Flags.h"

#include <functional>
#include <optional>

namespace attune {

/// The demands of a command on the model that it opens. Only a tool that compiles can act on it; an object is as it is.
struct ModelRequest {
  /// Inputs that will be given, with type and shape (of which a compiler uses the rank); empty = the family's default inputs.
  std::vector<TensorSpec> inputs;
  /// Further inputs that will be given, in the form that the model has them.
  std::vector<std::string> inputNames;
  /// Outputs or groups of outputs wanted; empty = the family's main outputs.
  std::vector<std::string> outputs;
  /// Groups wanted in addition to the main outputs ("hidden_states", "attentions").
  std::vector<std::string> extraOutputs;
  /// Entries that will be called, so that a compiler need not make others; empty = all.
  std::vector<std::string> entries;
  /// Heads to remove, "0:1;1:0,2".
  std::string pruneHeads;
  /// Type of the matrix products, "bf16"; empty = what the tool's own flags say.
  std::string dtype;
  /// The weights are generated from this seed; the folder has none.
  std::optional<int64_t> weightsSeed;
};

/// The differences between the tools that have these commands.
struct CommandHost {
  /// Name in messages and help: "attune-run".
  std::string tool;
  /// The kinds of models, for help: "MODEL|OUT.so".
  std::string modelHelp;
  /// Adds the tool's own flags to a command that opens models; may be empty.
  std::function<void(FlagTable &)> addFlags;
  /// Opens the model named on the command line, "" if none was.
  std::function<Result<Artefact>(const std::string &model, const ModelRequest &)> openModel;
  /// Opens the model of a golden case folder.
  std::function<Result<Artefact>(const std::string &caseFolder, const ModelRequest &)> openCase;
};

/// Executes |command|, one of run, check, diff, bench, inspect, generate; prints results to stdout and errors, one line each, to stderr.
/// Returns the exit status.
int runCommand(const CommandHost &host, const std::string &command, const std::vector<std::string> &arguments);

// The commands, one file each.
int runRunCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runCheckCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runDiffCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runBenchCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runInspectCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runGenerateCommand(const CommandHost &host, const std::vector<std::string> &arguments);

/// Parses the arguments of a command: prints help or reports an error and returns the exit status in either case, nothing if the command
/// shall proceed. |usage| is the text after "usage: TOOL ", |summary| one or more lines on what the command does.
std::optional<int> parseArguments(const CommandHost &host, FlagTable &flags, const std::vector<std::string> &arguments,
                                  std::vector<std::string> &positional, const std::string &usage, const std::string &summary);
/// Parses |arguments| of a command with at most one model as parseArguments does, and sets |model| to its name, "" if there is none.
std::optional<int> parseModelArguments(const CommandHost &host, FlagTable &flags, const std::vector<std::string> &arguments,
                                       std::string &model, const std::string &usage, const std::string &summary);

/// Adds --threads, which is the same for all commands.
void addThreadsFlag(FlagTable &flags, int64_t &threads);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMMANDS_H
