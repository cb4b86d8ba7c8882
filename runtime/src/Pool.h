//===- Pool.h - Pools in memory of the caller ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates and ends pools for sessions, which place a pool in their own memory; attune_pool_create allocates memory for
// a pool.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_POOL_H
#define ATTUNE_RUNTIME_POOL_H

#include "attune/runtime.h"

namespace attune {

/// Sets |workers| to the number of workers that |threads|, an option num_threads, asks for: 0 means the number of CPUs
/// in the affinity mask of the calling thread, but at most ATTUNE_MAX_THREADS. Fails with INVALID_ARGUMENT if |threads|
/// is negative or above ATTUNE_MAX_THREADS.
attune_status chooseWorkers(int64_t threads, int64_t &workers);
/// Returns the size in bytes of a pool of |workers| workers.
size_t getPoolBytes(int64_t workers);
/// Creates a pool of |workers| workers in |memory|, which is aligned to ATTUNE_ALIGNMENT and has getPoolBytes(workers)
/// bytes, and starts its threads. |sharing| is the number of processes, this one included, that have such a pool on the
/// same CPUs. Waiting threads spin only if there are at least |workers| * |sharing| CPUs. Fails with OUT_OF_MEMORY if
/// the system refuses a thread; no thread runs then.
attune_status createPool(void *memory, int64_t workers, attune_pool *&out, int64_t sharing = 1);
/// Ends and joins the threads of |pool|, which must not run a loop.
void endPool(attune_pool *pool);

/// Counts a call of an entry whose loops run on |pool|, from the constructor to the destructor; does nothing if |pool|
/// is null. While several calls are counted in this process, each loop is divided among at most (CPUs / calls) workers,
/// or 1 if that is 0.
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
