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
/// Returns the peak of vpdpbusd, which multiplies bytes and adds the products in groups of four, measured in the same
/// way and in the same unit. Returns 0 if the CPU has no AVX-512 VNNI, or if the threads cannot be started.
double measurePeakByteGops(int64_t threads);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PEAKRATE_H
