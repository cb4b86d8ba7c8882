//===- PeakRate.cpp - The machine's arithmetic peak, measured -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With a latency of four or five cycles, two FMA units have at most ten FMAs in flight; twelve independent accumulators
// keep them busy. The loop is assembly so that the compiler cannot fold or move instructions.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/PeakRate.h"

#include "attune/runtime.h"
#include "compiler/Tools/RunTogether.h"

#include <algorithm>

using namespace attune;

namespace {
/// A loop that executes 48 vector instructions in each iteration; |run| is null if there is no such loop for the CPU.
/// |flopsPerIteration| counts a multiply-add as two operations.
struct PeakKernel {
  void (*run)(int64_t iterations) = nullptr;
  double flopsPerIteration = 0;
};
} // namespace

#if defined(__x86_64__)

#define ATTUNE_TIMES_12(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5) OP(6) OP(7) OP(8) OP(9) OP(10) OP(11)
#define ATTUNE_FMA_ZMM(i) "vfmadd231ps %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define ATTUNE_FMA_YMM(i) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #i "\n\t"
#define ATTUNE_DOT_ZMM(i) "vpdpbusd %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define ATTUNE_CLEAR(i) "vxorps %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n\t"
// 48 FMAs per iteration make the two instructions of the loop itself negligible.
#define ATTUNE_PEAK_KERNEL(NAME, FMA)                                                                                                      \
  static void NAME(int64_t iterations) {                                                                                                   \
    asm volatile(                                                                                                                          \
        ATTUNE_TIMES_12(ATTUNE_CLEAR) ATTUNE_CLEAR(14) ATTUNE_CLEAR(15) ".p2align 6\n"                                                     \
                                                                        "1:\n\t" ATTUNE_TIMES_12(FMA) ATTUNE_TIMES_12(FMA)                 \
                                                                            ATTUNE_TIMES_12(FMA) ATTUNE_TIMES_12(FMA) "dec %0\n\t"         \
                                                                                                                      "jnz 1b\n\t"         \
                                                                                                                      "vzeroupper"         \
        : "+r"(iterations)                                                                                                                 \
        :                                                                                                                                  \
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", "xmm15", "cc");       \
  }
ATTUNE_PEAK_KERNEL(peakZmm, ATTUNE_FMA_ZMM)
ATTUNE_PEAK_KERNEL(peakYmm, ATTUNE_FMA_YMM)
ATTUNE_PEAK_KERNEL(peakBytes, ATTUNE_DOT_ZMM)

static PeakKernel chooseKernel() {
  if (attune_cpu_has("avx512f") == 1)
    return {peakZmm, 48.0 * 16 * 2};
  if (attune_cpu_has("avx2") == 1 && attune_cpu_has("fma") == 1)
    return {peakYmm, 48.0 * 8 * 2};
  return {};
}

static PeakKernel chooseByteKernel() {
  if (attune_cpu_has("avx512f") == 1 && attune_cpu_has("avx512vnni") == 1)
    return {peakBytes, 48.0 * 64 * 2};
  return {};
}

#else

static PeakKernel chooseKernel() { return {}; }
static PeakKernel chooseByteKernel() { return {}; }

#endif

/// Returns the highest rate of |kernel| on |threads| threads in 10^9 operations per second; 0 without a kernel.
static double measurePeak(PeakKernel kernel, int64_t threads) {
  if (!kernel.run)
    return 0;
  constexpr int64_t iterations = 500'000; // some milliseconds
  constexpr int repetitions = 10;
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    double seconds = runTogether(threads, [&](int64_t) { kernel.run(iterations); });
    best = std::max(best, kernel.flopsPerIteration * static_cast<double>(iterations * threads) / seconds / 1e9);
  }
  return best;
}

double attune::measurePeakGflops(int64_t threads) { return measurePeak(chooseKernel(), threads); }

double attune::measurePeakByteGops(int64_t threads) { return measurePeak(chooseByteKernel(), threads); }
