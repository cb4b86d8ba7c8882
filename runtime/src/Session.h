//===- Session.h - Sessions -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session is one block of memory: attune_session, memory for I64 copies of I32 inputs, the tables of each entry with
// the defaults of optional inputs, the caches with the lengths and tokens of their slots, the pool, and last the
// workspace, so that an access past the end of the workspace leaves the block. A session on a device has no pool, and
// has the caches and the workspace in a second block, in device memory, together with copies of the defaults.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_SESSION_H
#define ATTUNE_RUNTIME_SESSION_H

#include "Caches.h"
#include "Descriptor.h"
#include "EntryTables.h"
#include "Model.h"
#include "Pool.h"

namespace attune {

/// The caller's options of a session, checked and completed, and the sizes that follow from them.
struct SessionPlan {
  attune_session_options options;
  int64_t workers;
  CacheSizes caches;
  uint64_t cacheBytes;
  uint64_t workspaceBytes;
  uint64_t totalBytes;  // host memory
  uint64_t deviceBytes; // device memory: caches, workspace and defaults
};

/// Checks |options| (null = defaults) against |model| and computes |plan|. Fails with INVALID_ARGUMENT, INCOMPATIBLE or
/// LIMIT_EXCEEDED.
attune_status planSession(const attune_model *model, const attune_session_options *options, SessionPlan &plan);
/// Writes the limit of each dimension of |entry| under |plan| to |limits| [num_dims].
void resolveLimits(const attune_entry_desc &entry, const SessionPlan &plan, int64_t *limits);
/// Computes plan.totalBytes and plan.deviceBytes from the rest of |plan|. Fails with LIMIT_EXCEEDED if they overflow.
attune_status measureSession(const attune_model *model, SessionPlan &plan);
/// Lays out a session in |memory|, plan.totalBytes long, and, for a model on a device, in |deviceMemory|,
/// plan.deviceBytes long. Fills the tables and the constant defaults, but leaves model, host, pool, onDevice and owned
/// memory of the session to the caller. Does not access |deviceMemory|.
attune_session *layOutSession(const attune_model *model, const SessionPlan &plan, void *memory, void *deviceMemory);

/// Writes the default of |tensor| (by its fill) for |dims| to |data|.
void writeDefault(const attune_tensor_desc &tensor, const int64_t *dims, void *data);

} // namespace attune

/// A session. The block of memory that begins with this structure also holds the tables and, unless the session is on a
/// device, the caches, the pool and the workspace.
struct attune_session {
  attune_model *model;
  attune_host host;
  int32_t gatherError;             // the first error of all_gather in a call, 0 if there is none
  attune_pool *pool;               // null if the caller brought a host or the model is on a device
  attune::DeviceSession *onDevice; // null for a model on the CPU
  void *poolMemory;
  void *workspace;
  attune::EntryTables *entries; // [num_entries]
  attune::Caches caches;
  void *owned; // memory that the runtime mapped, null if the memory is the caller's
  size_t ownedBytes;
  std::atomic<uint32_t> running; // 1 during a call, else 0; not a byte, which RISC-V needs a library to exchange
};

namespace attune {

/// Locks a session for one call. A second call is refused; it does not wait.
class SessionLock {
public:
  explicit SessionLock(attune_session *session) : session(session) {}
  ~SessionLock() {
    if (taken)
      session->running.store(0, std::memory_order_release);
  }
  /// Locks the session until the end of the scope. Fails with INVALID_ARGUMENT if it is null, or with BUSY if another
  /// call has it.
  attune_status tryLock();

private:
  attune_session *session;
  bool taken = false;
};

/// Makes the device of |session|, if it has one, current in the calling thread until the end of |scope|. Fails with
/// DEVICE_ERROR or OUT_OF_MEMORY.
attune_status enterDevice(const attune_session &session, DeviceScope &scope);
/// Copies the tokens, keys, values and masks of slot |from|, and the number of the source that this slot reads, to slot
/// |to|, which is another slot. On a device, fails with DEVICE_ERROR or OUT_OF_MEMORY; slot |to| may be empty then.
attune_status copySlot(attune_session &session, int64_t from, int64_t to);
/// Checks and runs one call of entry |name| (null = the first). Fails as attune_session_run does. The caller must have
/// locked the session.
attune_status runEntry(attune_session &session, const char *name, TensorList inputs, TensorList outputs);

} // namespace attune

#endif // ATTUNE_RUNTIME_SESSION_H
