//===- CompileFlags.h - Compile flags of the command line -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of the commands of `attune` that compile a model, as a table bound to CompileOptions.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMPILEFLAGS_H
#define ATTUNE_COMPILER_TOOLS_COMPILEFLAGS_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Tools/Flags.h"

namespace attune {

/// Adds a flag that takes one of the words in |choices|, "a|b|c", which help shows. Calls |read| with that word.
void addChoice(FlagTable &flags, const std::string &name, const std::string &choices, const std::string &help,
               std::function<Status(const std::string &)> read);

/// Adds --adapter.
void addAdapterFlag(FlagTable &flags, std::vector<AdapterRequest> &adapters);
/// Adds --ranks.
void addRanksFlag(FlagTable &flags, CompileOptions &options);
/// Adds the compile flags except |omitted|, any of dtype, set, padding, inputs and outputs, which the command defines
/// or decides itself. |options| must outlive the table.
void addCompileFlags(FlagTable &flags, CompileOptions &options, llvm::ArrayRef<llvm::StringRef> omitted = {});

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPILEFLAGS_H
