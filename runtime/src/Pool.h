//===- Pool.h - Pools in memory of the caller's ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune_pool_create for sessions, which place their pool in their own memory.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_POOL_H
#define ATTUNE_RUNTIME_POOL_H

#include "attune/runtime.h"

namespace attune {

/// Sets |workers| to the number of workers for a caller's num_threads, where 0 stands for the CPUs of the affinity mask. Fails with
/// INVALID_ARGUMENT.
attune_status chooseWorkers(int64_t threads, int64_t &workers);
/// Returns the bytes of a pool of |workers|.
size_t getPoolBytes(int64_t workers);
/// Creates a pool in |memory|, aligned to ATTUNE_ALIGNMENT, and starts its threads. Fails with OUT_OF_MEMORY if the system starts none.
attune_status createPool(void *memory, int64_t workers, attune_pool *&out);
/// Ends and joins the threads of |pool|, which must not run a loop.
void endPool(attune_pool *pool);

/// A call of an entry whose loops run on |pool|, null for none. While several are under way in this process, a loop gets fewer workers.
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
