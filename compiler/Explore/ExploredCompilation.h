//===- ExploredCompilation.h - A compilation, observed ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H
#define ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Driver/RemarkLog.h"
#include "compiler/Explore/PassChanges.h"

namespace attune {

/// A compilation of a model to assembly that records what the page of `attune explore` shows. It writes no files.
struct ExploredCompilation {
  /// An operation of the dialect `xfmr` with results, but not a reference to a weight, in the model as imported: its
  /// name, the type of its first result, its function, and the paths of the modules that it belongs to.
  struct Operation {
    std::string name, type, function;
    std::vector<std::string> paths;
  };

  std::vector<Operation> operations;
  RemarkLog remarks;
  PassChanges changes;
  /// The assembly of the host, whose line tables refer to |source|, the IR of the phase `vector`.
  std::string assembly, source;
  /// `lines[i]`: the modules of the model that line i of |source|, counted from 1, computes, or ""; `lines[0]` is "".
  std::vector<std::string> lines;

  Status compile(CompileOptions options, CompileListener listener);
};

} // namespace attune

#endif // ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H
