//===- PassChanges.h - The IR before and after each pass --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_EXPLORE_PASSCHANGES_H
#define ATTUNE_COMPILER_EXPLORE_PASSCHANGES_H

#include "compiler/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <map>
#include <string>
#include <vector>

namespace attune {

/// The changes that each MLIR pass of a compilation made to functions, and the time of each pass.
class PassChanges {
public:
  /// A change of |function| by |pass|. |before| and |after| are the indices in texts() of the function's text before
  /// and after the pass; -1 if the function does not exist then.
  struct Change {
    std::string phase, pass, function;
    int64_t before = -1, after = -1;
  };
  /// A run of a pass on the module or on an operation in it. |seconds| is wall-clock time. It includes the passes that
  /// the pass runs and excludes the time that recording changes takes.
  struct Run {
    std::string phase, pass;
    double seconds = 0;
  };

  /// Makes |passes|, the passes of |phase| that will run on |module|, record their changes and times in this object.
  /// The first call also stores the texts that the functions of |module| have before any pass.
  void observe(Phase phase, mlir::ModuleOp module, mlir::PassManager &passes);

  const std::vector<Change> &changes() const { return allChanges; }
  const std::vector<Run> &runs() const { return allRuns; }
  /// Returns the texts of functions before and after passes, each distinct text once.
  const std::vector<std::string> &texts() const { return allTexts; }

private:
  friend class ChangeObserver;

  /// Records the changes that |pass| made to the functions in |root|, a module or a function; does nothing for any
  /// other operation. If |pass| is "", only stores the current texts.
  void record(llvm::StringRef phase, llvm::StringRef pass, mlir::Operation *root);
  /// Returns the index of the text of |function| in |allTexts|; adds the text if it is new.
  int64_t textOf(mlir::Operation *function);

  std::vector<Change> allChanges;
  std::vector<Run> allRuns;
  std::vector<std::string> allTexts;
  std::map<std::string, int64_t> ids;     // index in |allTexts| by hash of the text
  std::map<std::string, int64_t> current; // index of a function's current text, by name
};

} // namespace attune

#endif // ATTUNE_COMPILER_EXPLORE_PASSCHANGES_H
