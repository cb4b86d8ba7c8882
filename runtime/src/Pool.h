//===- Pool.h - The default workers of a session ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_POOL_H
#define ATTUNE_RUNTIME_POOL_H

#include "attune/runtime.h"

namespace attune {

/// Workers for one session. The thread that calls parallelFor is worker 0.
class Pool {
public:
  /// Memory a pool of |workers| takes; it must be aligned to ATTUNE_ALIGNMENT.
  static size_t bytes(int64_t workers);
  /// Makes a pool in |memory| and starts its threads. Fails with OUT_OF_MEMORY if the system gives none.
  static attune_status create(void *memory, int64_t workers, Pool *&out);
  /// Ends and joins the threads. No call may be running.
  void destroy();
  /// Around a call of an entry, in the calling thread: how many calls are under way in this process decides how many workers a loop gets.
  static void beginCall();
  static void endCall();
  /// attune_host::parallel_for; |pool| is a Pool. A call from within a body runs that loop alone, as the same worker.
  static void parallelFor(void *pool, int64_t n, int64_t grain, attune_body_fn body, void *ctx);
};

} // namespace attune

#endif // ATTUNE_RUNTIME_POOL_H
