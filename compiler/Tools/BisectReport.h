//===- BisectReport.h - Verdicts in words and files -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BISECTREPORT_H
#define ATTUNE_COMPILER_TOOLS_BISECTREPORT_H

#include "compiler/Tools/BisectCall.h"

namespace attune {

/// Returns the verdict as a paragraph.
std::string describeVerdict(const BisectVerdict &verdict);
/// Returns the verdict of |outcome| as a paragraph, which also states the relation to the good setting, if there is
/// one.
std::string describeOutcome(const BisectOutcome &outcome);

/// Writes to |folder| the modules before and after the wrong passes (before.mlir, after.mlir; LLVM IR of a part of LLVM
/// in before.ll, after.ll), the inputs (inputs.safetensors), and a lit test that fails (wrong.test). If the search
/// found a single operation, modules and inputs are those of this operation; otherwise they are those of the whole
/// model, and |inputs|. The test runs the wrong passes on the module before them and compares the results of both
/// modules. If no passes were found, or in the phase `target`, whose modules do not describe their entries, the test
/// instead repeats the call and compares its results with those of the phase `import`. There is no test if the wrong
/// phase is `import` or if the searched setting belongs to another program. Writes nothing if no wrong numbers were
/// found.
Status writeReproducer(const BisectOutcome &outcome, const PlainInputs &inputs, const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTREPORT_H
