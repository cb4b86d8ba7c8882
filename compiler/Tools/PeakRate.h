//===- PeakRate.h - The machine's arithmetic peak, measured ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the arithmetic peak of this machine. A fraction of the peak is meaningful only against a peak measured on
// the same machine in the same minute.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_PEAKRATE_H
#define ATTUNE_COMPILER_TOOLS_PEAKRATE_H

#include <cstdint>

namespace attune {

/// Returns the f32 FMA peak in 10^9 operations per second, where a multiply-add counts two. |threads| threads run at
/// the same time, pinned to as many CPUs of the affinity mask; the result is the best of several repetitions of some
/// milliseconds. Returns 0 if there is no loop for the CPU, or if the threads cannot be started.
double measurePeakGflops(int64_t threads);
/// Returns the peak of products of bytes that are added in groups of four (vpdpbusd), measured in the same way and
/// unit; 0 in the same cases, such as on a CPU without AVX-512 VNNI.
double measurePeakByteGops(int64_t threads);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PEAKRATE_H
