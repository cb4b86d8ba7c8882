//===- CompileCommand.h - The command compile without its process -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMPILECOMMAND_H
#define ATTUNE_COMPILER_TOOLS_COMPILECOMMAND_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Tools/Flags.h"

namespace attune {

/// The command compile. The tool executes the command in its own process, the library of CompilerLibrary.h in the
/// process of the caller. The command prints only the IR or remarks for which the flags name no file, and does not end
/// the process.
class CompileCommand {
public:
  CompileCommand();
  CompileCommand(const CompileCommand &) = delete;
  CompileCommand &operator=(const CompileCommand &) = delete;

  /// The flags of the command, bound to this object.
  FlagTable flags;
  /// Set by --time-report and --progress, for the caller.
  bool timeReport = false, progress = false;

  /// Compiles |model| by the flags. Returns the path of the shared object in the cache if --cached was given, else "".
  Result<std::string> run(const std::string &model, const CompileListener &listener);

private:
  Result<std::string> runCached(const CompileListener &listener);

  CompileOptions options;
  bool cached = false, emitGiven = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPILECOMMAND_H
