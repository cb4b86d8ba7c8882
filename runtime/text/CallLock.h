//===- CallLock.h - One call at a time --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CALLLOCK_H
#define ATTUNE_RUNTIME_TEXT_CALLLOCK_H

#include "attune/runtime.h"
#include "runtime/src/Error.h"

#include <cstdint>

namespace attune::text {

/// A lock of an object that serves one call at a time: marks the object as running until the end of a scope.
class CallLock {
public:
  CallLock() = default;
  CallLock(const CallLock &) = delete;
  CallLock &operator=(const CallLock &) = delete;
  ~CallLock() {
    if (held)
      __atomic_store_n(held, 0u, __ATOMIC_RELEASE);
  }

  /// Sets the flag |running| of the object. Fails with BUSY if another call has set it, even a call of this thread that
  /// is in a callback. |what| names the object in the message.
  attune_status take(uint32_t &running, const char *what) {
    if (__atomic_exchange_n(&running, 1u, __ATOMIC_ACQUIRE))
      return fail(ATTUNE_BUSY, "the %s is running another call; make one for each thread", what);
    held = &running;
    return ATTUNE_OK;
  }

private:
  uint32_t *held = nullptr;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_CALLLOCK_H
