//===- BenchKernels.h - bench --profile -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H
#define ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H

#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/Roofline.h"

namespace attune {

/// Milliseconds of each kernel in a call of |entry|, the mean of a few calls, and of its fastest run, and how near to |machine| that is, as
/// rows of a JSON array. In `runs` runs it does what the model calls it `calls` times for: a call for many rows is a run per block of them.
Result<nlohmann::ordered_json> profileKernels(const Artefact &artefact, const attune_entry_desc &entry,
                                              const std::vector<TensorView> &inputs, int64_t threads, const MachineRates &machine,
                                              EntryCall::Cached cached);

/// Prints such rows: time, share of all, number of runs, and share of the roof where there is one.
void printKernels(const nlohmann::ordered_json &rows);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H
