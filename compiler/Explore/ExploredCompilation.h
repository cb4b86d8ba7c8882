//===- ExploredCompilation.h - A compilation, observed ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H
#define ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Driver/RemarkLog.h"
#include "compiler/Explore/PassChanges.h"

namespace attune {

/// A compilation of a model for a CPU to assembly that records the data for the page of `attune explore`. It writes no
/// files, unless its options ask for the IR of phases or for remarks.
struct ExploredCompilation {
  /// An operation of the dialect `xfmr` that has results and is not `xfmr.weight_ref`, in the model as imported: its
  /// name, the type of its first result, its function, and the paths of the modules of the model that it belongs to.
  struct Operation {
    std::string name, type, function;
    std::vector<std::string> paths;
  };

  std::vector<Operation> operations;
  RemarkLog remarks;
  PassChanges changes;
  /// The assembly of the host code, and the IR of the phase `vector`, to which the line tables of the assembly refer.
  std::string assembly, source;
  /// `lines[i]`: the paths of the modules of the model that line i of |source| computes, or "" if it computes none.
  /// Lines count from 1; `lines[0]` is "".
  std::vector<std::string> lines;

  Status compile(CompileOptions options, CompileListener listener);
};

} // namespace attune

#endif // ATTUNE_COMPILER_EXPLORE_EXPLOREDCOMPILATION_H
