//===- Seeds.h - Errors that a test puts into passes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_BISECT_SEEDS_H
#define ATTUNE_TEST_BISECT_SEEDS_H

#include "compiler/Bisect/PassSteps.h"

namespace attune {

/// An error of one pass: a change of the module that the pass leaves.
struct Seed {
  /// Its name, and what is wrong in a few words.
  std::string name, what;
  /// The pass that gets the blame, and its phase.
  std::string pass, phase;
  /// A word that the function or the operation of a right verdict has; "" if the pass works on more than one function.
  std::string place;
  /// The golden case that shows the error.
  std::string model;
  /// Changes the module. Returns false if there is nothing to change.
  bool (*change)(mlir::ModuleOp module);
  /// True for a change that makes no result wrong.
  bool harmless = false;
};

/// Returns all seeds.
const std::vector<Seed> &listSeeds();

} // namespace attune

#endif // ATTUNE_TEST_BISECT_SEEDS_H
