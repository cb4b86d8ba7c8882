//===- BisectReport.h - Verdicts in words and files -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BISECTREPORT_H
#define ATTUNE_COMPILER_TOOLS_BISECTREPORT_H

#include "compiler/Tools/BisectCall.h"

namespace attune {

/// Returns the verdict as a paragraph.
std::string describeVerdict(const BisectVerdict &verdict);
/// Returns the verdict as a paragraph that also states the relation to the good setting, if there is one.
std::string describeOutcome(const BisectOutcome &outcome);

/// Writes to |folder| the modules before and after the wrong passes, the inputs, and a lit test that fails. Modules and
/// inputs are those of the operation that was found, otherwise those of the whole model and |inputs|. If no passes were
/// found, the test repeats the call and compares its results with those of the phase `import`; also in the phase
/// `target`, whose modules do not describe their entries. There is no test if the wrong phase is `import` or if the
/// searched setting belongs to another program. Writes nothing if no wrong numbers were found.
Status writeReproducer(const BisectOutcome &outcome, const PlainInputs &inputs, const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTREPORT_H
