//===- Pool.h - Pools in memory of the caller ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates and ends pools for sessions, which place the pool in their own memory (attune_pool_create allocates it).
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_POOL_H
#define ATTUNE_RUNTIME_POOL_H

#include "attune/runtime.h"

namespace attune {

/// Sets |workers| to the number of workers that |threads|, an option num_threads, asks for: 0 means the number of CPUs
/// in the affinity mask, but at most ATTUNE_MAX_THREADS. Fails with INVALID_ARGUMENT for a number out of range.
attune_status chooseWorkers(int64_t threads, int64_t &workers);
/// Returns the size in bytes of a pool of |workers| workers.
size_t getPoolBytes(int64_t workers);
/// Creates a pool in |memory|, aligned to ATTUNE_ALIGNMENT, and starts its threads. |sharing| is the number of
/// processes, this one included, that have such a pool on the same CPUs: threads spin only if all of them have a CPU
/// each. Fails with OUT_OF_MEMORY if the system refuses a thread.
attune_status createPool(void *memory, int64_t workers, attune_pool *&out, int64_t sharing = 1);
/// Ends and joins the threads of |pool|, which must not run a loop.
void endPool(attune_pool *pool);

/// Counts a call of an entry whose loops run on |pool| (null: not counted) while it is under way. While several calls
/// are under way in this process, each loop is cut for at most as many workers as there are CPUs per call.
class PoolCallScope {
public:
  explicit PoolCallScope(const attune_pool *pool);
  ~PoolCallScope();
  PoolCallScope(const PoolCallScope &) = delete;

private:
  int64_t calls;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_POOL_H
