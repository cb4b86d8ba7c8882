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

/// The functions that each pass of a compilation changed, and the time of each pass.
class PassChanges {
public:
  /// The text of |function| before and after |pass|; -1 if it did not exist.
  struct Change {
    std::string phase, pass, function;
    int64_t before = -1, after = -1;
  };
  /// A run of a pass on the module or on one function, without the time of printing it.
  struct Run {
    std::string phase, pass;
    double seconds = 0;
  };

  /// Observes the passes of |phase|, which |passes| runs on |module|.
  void observe(Phase phase, mlir::ModuleOp module, mlir::PassManager &passes);

  const std::vector<Change> &changes() const { return allChanges; }
  const std::vector<Run> &runs() const { return allRuns; }
  /// Returns the texts of functions, without duplicates.
  const std::vector<std::string> &texts() const { return allTexts; }

private:
  friend class ChangeObserver;

  /// Notes the state of all functions in |root|, a module or a function, after |pass|.
  void record(llvm::StringRef phase, llvm::StringRef pass, mlir::Operation *root);
  int64_t textOf(mlir::Operation *function);

  std::vector<Change> allChanges;
  std::vector<Run> allRuns;
  std::vector<std::string> allTexts;
  std::map<std::string, int64_t> ids; // by hash and size of the text
  std::map<std::string, int64_t> current;
};

} // namespace attune

#endif // ATTUNE_COMPILER_EXPLORE_PASSCHANGES_H
