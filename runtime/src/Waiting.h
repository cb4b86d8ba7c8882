//===- Waiting.h - Spinning and sleeping ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_WAITING_H
#define ATTUNE_RUNTIME_WAITING_H

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace attune {

static_assert(sizeof(std::atomic<uint32_t>) == 4, "a futex is 32 bits");

/// Sleeps until futexWake wakes this thread; returns at once if |word| is not |value|. May return early.
inline void futexWait(std::atomic<uint32_t> &word, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

/// Wakes one thread that sleeps on |word|.
inline void futexWake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Calls |ready|, at least once, until it returns true or |nanoseconds| are over. Returns its last result.
template <typename Ready>
bool spinFor(int64_t nanoseconds, Ready ready) {
  if (ready())
    return true;
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * int64_t(1000000000) + time.tv_nsec;
  };
  int64_t end = now() + nanoseconds;
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready())
        return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      __asm__ volatile("isb");
#endif
    }
  } while (now() < end);
  return false;
}

} // namespace attune

#endif // ATTUNE_RUNTIME_WAITING_H
