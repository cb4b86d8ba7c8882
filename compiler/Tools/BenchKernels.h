//===- BenchKernels.h - bench --profile -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H
#define ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H

#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/Roofline.h"

namespace attune {

/// Measures the kernels in a few calls of |entry| and returns a JSON array with a row for each kernel. `ms` is the time
/// of all runs of the kernel in one call of the entry, the mean over these calls; `min_ms` is the time of the fastest
/// run. The row also has the kernel's work and its share of the roofline of |machine| (addWork and addRoof in
/// Roofline.h). `calls` counts the kernel's calls in one call of the entry, `runs` its executions: a kernel call for
/// many rows is executed once for each block of rows. In an object without data on the work of kernels, `calls` equals
/// `runs`.
Result<nlohmann::ordered_json> profileKernels(const Artifact &artifact, const attune_entry_desc &entry,
                                              const std::vector<TensorView> &inputs, int64_t threads, const MachineRates &machine,
                                              EntryCall::Cached cached);

/// Prints the rows of profileKernels: time, share of the total, number of runs, and share of the roofline if the kernel
/// has one.
void printKernels(const nlohmann::ordered_json &rows);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BENCHKERNELS_H
