//===- ToolVerbs.h - Verbs that only the compiler has ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TOOLVERBS_H
#define ATTUNE_COMPILER_TOOLS_TOOLVERBS_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Tools/Verbs.h"

namespace attune {

/// Warnings and notices to standard error and, on a terminal, the progress of packing and that another process is waited for.
CompileListener createListener();
/// Shows "WHAT: 40 %" on a terminal, and removes it when done.
void showProgress(const char *what, uint64_t done, uint64_t total);

int runVerbCompile(const VerbHost &host, const std::vector<std::string> &arguments);
int runVerbCache(const VerbHost &host, const std::vector<std::string> &arguments);
int runVerbInit(const VerbHost &host, const std::vector<std::string> &arguments);
/// A verb on compiled artefacts, which compiles its model first if it is not compiled.
int runArtefactVerb(const std::string &verb, const std::vector<std::string> &arguments);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_TOOLVERBS_H
