//===- BisectReport.h - Verdicts in words and files -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BISECTREPORT_H
#define ATTUNE_COMPILER_TOOLS_BISECTREPORT_H

#include "compiler/Tools/BisectCall.h"

namespace attune {

/// Returns the verdict as a paragraph.
std::string describeVerdict(const BisectVerdict &verdict);
/// Returns the verdict, and what it says of the good setting.
std::string describeOutcome(const BisectOutcome &outcome);

/// Writes to |folder| the modules before and after the wrong steps, the inputs, and a lit test that fails: those of the
/// operation that was found, or else of the whole model with |inputs|. Without steps, and in the phase `target`, whose
/// modules do not describe their entries, the test repeats the call and compares its results with those of the phase
/// `import`. There is no test for that phase itself, nor for another program. Writes nothing if no wrong numbers were
/// found.
Status writeReproducer(const BisectOutcome &outcome, const PlainInputs &inputs, const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTREPORT_H
