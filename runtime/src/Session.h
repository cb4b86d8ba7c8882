//===- Session.h - Sessions -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session is one block of memory: this struct, tables per entry, the pool, defaults of optional inputs, the caches, and
// last the workspace, so that an access past its end leaves the block. A session on a device has a second block there, with copies of
// the defaults, the caches and the workspace.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_SESSION_H
#define ATTUNE_RUNTIME_SESSION_H

#include "Caches.h"
#include "Descriptor.h"
#include "EntryTables.h"
#include "Model.h"
#include "Pool.h"

namespace attune {

/// The sizes of a session: the caller's options, checked and completed.
struct SessionPlan {
  attune_session_options options;
  int64_t workers;
  CacheSizes caches;
  uint64_t cacheBytes;
  uint64_t workspaceBytes;
  uint64_t totalBytes;  // of host memory
  uint64_t deviceBytes; // on a device: caches, workspace and defaults
};

/// Checks |options| (null = defaults) against |model| and computes sizes.
attune_status planSession(const attune_model *model, const attune_session_options *options, SessionPlan &plan);
/// Limits of |entry| under |plan|, into |limits|.
void resolveLimits(const attune_entry_desc &entry, const SessionPlan &plan, int64_t *limits);
/// Computes plan.totalBytes and plan.deviceBytes from the rest of |plan|.
attune_status measureSession(const attune_model *model, SessionPlan &plan);
/// Lays a session out in |memory|, plan.totalBytes long, and, for a model on a device, in plan.deviceBytes of |deviceMemory|, which is not
/// touched; fills its tables and constant defaults.
attune_session *layOutSession(const attune_model *model, const SessionPlan &plan, void *memory, void *deviceMemory);

/// Writes the default |fill| of |tensor| for |dims| to |data|.
void writeDefault(const attune_tensor_desc &tensor, const int64_t *dims, void *data);

} // namespace attune

struct attune_session {
  attune_model *model;
  attune_host host;
  attune_pool *pool;               // null if the caller brought a host or the model is on a device
  attune::DeviceSession *onDevice; // null for a model on the CPU
  void *poolMemory;
  void *workspace;
  attune::EntryTables *entries; // [num_entries]
  attune::Caches caches;
  void *owned; // mapped by the runtime, null if the memory is the caller's
  size_t ownedBytes;
  std::atomic<uint32_t> running; // 0 or 1; a word, as RISC-V exchanges no bytes without a library
};

namespace attune {

/// The session while one call has it; a second call is refused meanwhile.
class SessionTurn {
public:
  explicit SessionTurn(attune_session *session) : session(session) {}
  ~SessionTurn() {
    if (taken)
      session->running.store(0, std::memory_order_release);
  }
  /// Fails with INVALID_ARGUMENT if there is no session, or BUSY.
  attune_status take();

private:
  attune_session *session;
  bool taken = false;
};

/// Makes the device of |session|, if it has one, current in the calling thread until the end of |scope|. Fails with DEVICE_ERROR.
attune_status enterDevice(const attune_session &session, DeviceScope &scope);
/// Copies the tokens of slot |from| to slot |to|.
attune_status copySlot(attune_session &session, int64_t from, int64_t to);
/// Checks and runs one call of entry |name|; the caller has the turn.
attune_status runEntry(attune_session &session, const char *name, TensorList inputs, TensorList outputs);

} // namespace attune

#endif // ATTUNE_RUNTIME_SESSION_H
