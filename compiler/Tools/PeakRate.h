//===- PeakRate.h - The machine's arithmetic peak, measured ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fraction of the peak is meaningful only against the peak of the same machine in the same minute.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_PEAKRATE_H
#define ATTUNE_COMPILER_TOOLS_PEAKRATE_H

#include <cstdint>

namespace attune {

/// Single-precision fused multiply-add operations per second (in 10^9, a multiply-add counts two) of |threads| threads pinned to as many
/// CPUs of the affinity mask, running at the same time: the best of several repetitions of about 10 ms. 0 where no kernel is known for the
/// CPU.
double measurePeakGflops(int64_t threads);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PEAKRATE_H
