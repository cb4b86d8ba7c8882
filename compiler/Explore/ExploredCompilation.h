//===- ExploredCompilation.h - A compilation, observed ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H
#define ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Driver/RemarkLog.h"
#include "compiler/Explore/PassChanges.h"

namespace attune {

/// A compilation of a model to assembly, with everything that the page shows of it. Writes no files.
struct ExploredCompilation {
  /// An operation of the model.
  struct Operation {
    std::string name, type, function;
    std::vector<std::string> paths;
  };

  std::vector<Operation> operations;
  RemarkLog remarks;
  PassChanges changes;
  /// The assembly of the host, whose line tables refer to |source|, the IR of the phase `vector`.
  std::string assembly, source;
  /// The modules that each line of |source| computes, from line 1 on.
  std::vector<std::string> lines;

  Status compile(CompileOptions options, CompileListener listener);
};

} // namespace attune

#endif // ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H
