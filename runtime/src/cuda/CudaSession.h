//===- CudaSession.h - The part of a session on a GPU ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session queues all its work in one stream: copies of the inputs, launches of the entry, copies of the outputs. A
// call waits for its own work at most once, at its end. A copy reads or writes host memory when the stream reaches it,
// which may be after the call has returned. Hence:
//
// - a call with one of the caller's tensors in host memory returns, with success or failure, only after its copies are
//   done;
// - the session writes its own host memory (defaults of inputs, slots, lengths) again only after `copied`, an event
//   that it records after the copies;
// - the session frees device memory only after its queued work is done. When it is destroyed, it waits for its own
//   stream, or in the caller's stream for `finished`, an event that it records after the last work.
//
// A caller that captures its stream into a graph may replay the launches of a call any number of times. A replay is
// right only if the launches depend on shapes alone, so checkCapture() refuses calls that copy host memory or use
// caches.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CUDA_CUDASESSION_H
#define ATTUNE_RUNTIME_CUDA_CUDASESSION_H

#include "CudaModel.h"

namespace attune::cuda {

/// A session that runs entries in a stream. Its public functions except create(), destroy() and getModel() require that
/// the context of the GPU is current.
class CudaSession : public DeviceSession {
public:
  /// Implements attune_device_functions::create. Fails with INVALID_ARGUMENT if |stream| is being captured or is the
  /// per-thread default stream.
  static attune_status create(const DeviceModel &model, const attune_model_desc &desc, uint64_t bytes, void *stream, DeviceSession *&out);
  /// Implements attune_device_functions::destroy.
  static void destroy(DeviceSession *session);

  const CudaModel &getModel() const { return *model; }
  // The attune_device_functions of the same names:
  attune_status beginCall();
  attune_status locate(const char *name, const void *data, bool &onDevice) const;
  attune_status run(const attune_entry_desc &entry, attune_call call, EntryTables &tables);
  attune_status refuseCapture(const char *what) const;
  attune_status upload(void *to, const void *from, uint64_t bytes);
  attune_status download(void *to, const void *from, uint64_t bytes);
  attune_status copyRows(void *to, const void *from, size_t bytes, size_t pitch, size_t count);

private:
  attune_status open(uint64_t bytes, void *callersStream);
  void close();
  attune_status enter(ContextScope &scope) const { return scope.enter(*model->driver, model->context); }
  static int32_t launch(void *pool, const attune_launch *launch);
  static int32_t encodeMap(void *pool, const attune_tensor_map *map, void *out);
  attune_status findCapture(int &capture) const;
  attune_status checkCapture(const attune_entry_desc &entry, const EntryTables &tables) const;
  attune_status wait(const char *what) const;
  attune_status record(Event event);
  void drain();
  attune_status makeStage(const attune_entry_desc &entry, const EntryTables &tables);
  attune_status copyInputs(const attune_entry_desc &entry, EntryTables &tables, bool &usesOwnMemory);
  attune_status copyOutputs(const attune_entry_desc &entry, EntryTables &tables);
  attune_status queue(const attune_entry_desc &entry, attune_call call, EntryTables &tables, bool mustWait);

  const attune_model_desc *desc = nullptr;
  const CudaModel *model = nullptr;
  Stream stream = nullptr;
  bool ownsStream = false;
  bool isCapturing = false; ///< true if the stream was being captured at beginCall()
  // Events in the caller's stream; null if the session has a stream of its own:
  Event copied = nullptr;      ///< after the last copies of the session's own host memory
  Event finished = nullptr;    ///< after all work
  bool copiesInFlight = false; ///< |copied| has been recorded and not waited for
  Address stage = 0;           ///< device memory for copies of the caller's tensors in host memory: |stageBytes| bytes,
                               ///< of which the current call has used |stageUsed|; grows if a call needs more
  uint64_t stageBytes = 0, stageUsed = 0;
  attune_status launchStatus = ATTUNE_OK;
};

} // namespace attune::cuda

#endif // ATTUNE_RUNTIME_CUDA_CUDASESSION_H
