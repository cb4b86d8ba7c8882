//===- BisectReport.h - Verdicts in words and files -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BISECTREPORT_H
#define ATTUNE_COMPILER_TOOLS_BISECTREPORT_H

#include "compiler/Bisect/Bisector.h"

namespace attune {

/// Returns the verdict as a paragraph.
std::string describeVerdict(const BisectVerdict &verdict);

/// Writes to |folder| the modules before and after the wrong passes, their inputs, and a lit test that fails. If
/// |verdict| names an operation, modules and inputs are of this operation alone, else of the whole model with |inputs|.
/// |weights| is the model's folder. Writes no test if the passes are not known, or in the phase `target`, whose modules
/// do not describe their entries. Writes nothing if |verdict| has no modules.
Status writeReproducer(const BisectVerdict &verdict, const PlainInputs &inputs, const std::string &weights, const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTREPORT_H
