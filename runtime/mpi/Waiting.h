//===- Waiting.h - Waiting for other ranks ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_MPI_WAITING_H
#define ATTUNE_RUNTIME_MPI_WAITING_H

#include <cstdint>
#include <ctime>
#include <sched.h>

namespace attune::ranks {

inline double secondsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline void pauseCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A wait for a condition that another process makes true. Tests the condition |spins| times in a spin loop, then
/// yields between tests, then sleeps between them, for about |limit| seconds in all. Where ranks share CPUs, |spins|
/// should be small, because spinning takes the CPU from the rank that is waited for.
class Waiting {
public:
  Waiting(int64_t spins, double limit) : spins(spins), limit(limit) {}

  /// Calls |isDone| until it returns true, and returns true. Returns false if the limit passes before.
  template <typename Condition>
  bool wait(Condition isDone) {
    for (int64_t i = 0; i < spins; ++i, pauseCpu())
      if (isDone())
        return true;
    double start = 0;
    for (int64_t i = 0;; ++i) {
      if (isDone())
        return true;
      if (i % 64 == 0) {
        double now = secondsNow();
        start = i == 0 ? now : start;
        if (now - start > limit)
          return false;
        isLong = now - start > kYieldSeconds;
      }
      if (isLong) {
        timespec nap{0, 50000};
        nanosleep(&nap, nullptr);
      } else {
        sched_yield();
      }
    }
  }

private:
  /// The time after which a wait sleeps between tests instead of yielding.
  static constexpr double kYieldSeconds = 0.005;
  int64_t spins;
  double limit;
  bool isLong = false;
};

} // namespace attune::ranks

#endif // ATTUNE_RUNTIME_MPI_WAITING_H
