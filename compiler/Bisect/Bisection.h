//===- Bisection.h - The pass that makes a number wrong ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs the IR between passes by the plain path and compares neighbors:
//
//     import -> dialect -> ... -> llvm     the first phase after which a result is wrong
//     its passes, one by one               the pass
//     its functions, one from behind it    the function
//     its operations, all others hidden    the operation
//
// Most passes are exact: a single bit that changes is their error. Passes that may round are judged by Envelope.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_BISECTION_H
#define ATTUNE_COMPILER_BISECT_BISECTION_H

#include "compiler/Bisect/Envelope.h"
#include "compiler/Bisect/IsolatedRun.h"
#include "compiler/Bisect/PassSteps.h"
#include "compiler/Driver/LoadedModel.h"
#include "compiler/Plain/PlainSteps.h"

namespace attune {

struct BisectOptions {
  CompileOptions compile;
  PlainInputs inputs;
  /// Outputs of a correct implementation with the largest error allowed for each; may be empty.
  std::vector<OwnedTensor> expected;
  std::map<std::string, double> tolerances;
  /// If the inputs show nothing, tries other shapes, and compares all passes of the phases in which results are rounded.
  bool searchFurther = true;
  /// Called after each pass; see PassHook.
  PassHook hook;
  std::function<void(const std::string &message)> progress;
};

/// The finding.
struct Verdict {
  bool found = false;
  /// The answer in one paragraph.
  std::string text;
  /// The pass, or only the phase if none of its passes is to blame alone; the function and the operation, "" if unknown.
  std::string phase, pass, function, op;
  /// The model, which owns the context of |before|.
  std::unique_ptr<LoadedModel> model;
  /// The module before the pass and the pass, for a test; null and "" if no pass was found.
  mlir::OwningOpRef<mlir::ModuleOp> before;
  PassStep step;
  /// The inputs that show the error, and the absolute error that a test must allow; 0 for equal bits.
  PlainInputs inputs;
  double tolerance = 0;
};

/// Finds the first pass after which the outputs of the model are wrong. An error if the model cannot be compiled or run.
Result<Verdict> bisectModel(const BisectOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_BISECTION_H
