//===- PeakRate.cpp - The machine's arithmetic peak, measured ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Twelve independent accumulators hide the latency of two FMA units of four or five cycles. Assembly, so that nothing is folded or moved.
//===----------------------------------------------------------------------===//
#include "runtime/verbs/PeakRate.h"

#include "attune/runtime.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sched.h>
#include <thread>
#include <vector>

using namespace attune;

namespace {
/// A kernel that executes |unroll| * |iterations| vector FMAs.
struct PeakKernel {
  void (*run)(int64_t iterations) = nullptr;
  double flopsPerIteration = 0;
};
} // namespace

#if defined(__x86_64__)

#define ATTUNE_TIMES_12(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5) OP(6) OP(7) OP(8) OP(9) OP(10) OP(11)
#define ATTUNE_FMA_ZMM(i) "vfmadd231ps %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define ATTUNE_FMA_YMM(i) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #i "\n\t"
#define ATTUNE_CLEAR(i) "vxorps %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n\t"
// 48 FMAs an iteration: the two instructions of the loop itself do not count.
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

static PeakKernel chooseKernel() {
  if (attune_cpu_has("avx512f") == 1)
    return {peakZmm, 48.0 * 16 * 2};
  if (attune_cpu_has("avx2") == 1 && attune_cpu_has("fma") == 1)
    return {peakYmm, 48.0 * 8 * 2};
  return {};
}

#else

static PeakKernel chooseKernel() { return {}; }

#endif

/// The CPUs this thread may run on.
static std::vector<int> affinityCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        cpus.push_back(cpu);
  return cpus;
}

/// Seconds in which all threads execute |iterations| each, started together.
static double runTogether(const PeakKernel &kernel, const std::vector<int> &cpus, int64_t threads, int64_t iterations) {
  using Clock = std::chrono::steady_clock;
  std::atomic<int64_t> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> workers;
  for (int64_t i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      if (!cpus.empty()) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpus[static_cast<size_t>(i) % cpus.size()], &set);
        sched_setaffinity(0, sizeof(set), &set);
      }
      ready.fetch_add(1);
      while (!go.load(std::memory_order_acquire))
        std::this_thread::yield();
      kernel.run(iterations);
    });
  while (ready.load() != threads)
    std::this_thread::yield();
  Clock::time_point start = Clock::now();
  go.store(true, std::memory_order_release);
  for (std::thread &worker : workers)
    worker.join();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double attune::measurePeakGflops(int64_t threads) {
  PeakKernel kernel = chooseKernel();
  if (!kernel.run)
    return 0;
  constexpr int64_t iterations = 500'000; // about 10 ms
  constexpr int repetitions = 10;
  std::vector<int> cpus = affinityCpus();
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    double seconds = runTogether(kernel, cpus, threads, iterations);
    best = std::max(best, kernel.flopsPerIteration * static_cast<double>(iterations * threads) / seconds / 1e9);
  }
  return best;
}
