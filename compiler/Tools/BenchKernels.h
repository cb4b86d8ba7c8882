//===- BenchKernels.h - bench --profile -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H
#define ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H

#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/Roofline.h"

namespace attune {

/// Measures the kernels in a call of |entry| and returns a JSON array with a row for each: its time in milliseconds,
/// the mean of a few calls; that of its fastest run; and its efficiency relative to |machine|. `calls` counts the calls
/// of the kernel in the model, `runs` the executions for them: a call for many rows is executed once per block of rows.
Result<nlohmann::ordered_json> profileKernels(const Artifact &artifact, const attune_entry_desc &entry,
                                              const std::vector<TensorView> &inputs, int64_t threads, const MachineRates &machine,
                                              EntryCall::Cached cached);

/// Prints the rows of profileKernels: time, share of the total, number of runs, and share of the roofline if the kernel
/// has one.
void printKernels(const nlohmann::ordered_json &rows);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H
