//===- Manual.h - Help, manual pages and completion from the flags --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The help of a tool. A tool lists its commands, and each command its flags. The help on the terminal (`--help`), the
// manual page (`TOOL --help=man`), the shell completion (`TOOL --help=bash`) and the reference (`TOOL --help=markdown`)
// are generated from these lists, so that they are never out of date.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_MANUAL_H
#define ATTUNE_COMPILER_TOOLS_MANUAL_H

#include "compiler/Tools/Flags.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// A command of a tool: its line in the tool's help, and the function that executes it.
struct CommandEntry {
  std::string name, summary;
  std::function<int(const std::vector<std::string> &arguments)> run;
};

/// A section of the manual page: a text, then a list of names, such as environment variables, with their meanings.
struct ManualSection {
  std::string title, text;
  std::vector<std::pair<std::string, std::string>> items;
};

/// Returns the section on the environment variables that all tools read.
ManualSection environmentSection();

/// A tool: its description in one line, the usage after its name, its commands, the last lines of its help, and more
/// sections of its manual page.
struct ToolManual {
  std::string tool, title, usage;
  std::vector<CommandEntry> commands;
  std::string closing;
  std::vector<ManualSection> sections = {};
};

/// Returns the help of one command in the style |flags|.helpStyle(). |usage| is the text after the tool's name,
/// |summary| describes the command.
std::string formatHelp(const FlagTable &flags, const std::string &tool, const std::string &usage, const std::string &summary);

/// Executes the command that |arguments| begin with, or answers --help and --version. Handles --quiet, which every
/// command takes, itself. --version prints |version| after the tool's name. For an unknown command, |hint| returns text
/// that follows the name of the command in the error message, or "". Returns the exit status.
int runTool(const ToolManual &manual, const std::string &version, std::vector<std::string> arguments,
            const std::function<std::string(const std::string &)> &hint);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_MANUAL_H
