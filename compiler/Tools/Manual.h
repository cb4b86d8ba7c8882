//===- Manual.h - Help, manual pages and completion from the flags ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tool knows its verbs and each verb its flags. The help on the terminal (`--help`), the manual page (`TOOL --help=man`), the shell's
// completion (`TOOL --help=bash`) and the reference (`TOOL --help=markdown`) are made from these tables, so none of them can be out of
// date.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_MANUAL_H
#define ATTUNE_COMPILER_TOOLS_MANUAL_H

#include "compiler/Tools/Flags.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// A verb of a tool: its line in the tool's help, and the function that executes it.
struct VerbEntry {
  std::string name, summary;
  std::function<int(const std::vector<std::string> &arguments)> run;
};

/// A section of the manual page: a text, then names (of environment variables, for example) with what each means.
struct ManualSection {
  std::string title, text;
  std::vector<std::pair<std::string, std::string>> items;
};

/// A tool: what it is in one line, "usage:" after its name, its verbs, closing words of its help, more sections of its manual page.
struct ToolManual {
  std::string tool, title, usage;
  std::vector<VerbEntry> verbs;
  std::string closing;
  std::vector<ManualSection> sections = {};
};

/// The help of one verb in the style that |flags| were asked for. |usage| is the text after the tool's name, |summary| what the verb does.
std::string formatHelp(const FlagTable &flags, const std::string &tool, const std::string &usage, const std::string &summary);

/// Executes the verb that |arguments| begin with, or answers --help and --version; |version| is what the latter prints after the tool's
/// name. |hint| completes "unknown verb 'x'". Returns the exit status.
int runTool(const ToolManual &manual, const std::string &version, const std::vector<std::string> &arguments,
            const std::function<std::string(const std::string &)> &hint);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_MANUAL_H
