//===- CudaSession.h - What a session has on a GPU --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a stream is the only order: inputs are copied, entries queue their launches, outputs are copied back, and only then does
// anybody wait, if at all. A copy reads or writes host memory when the stream comes to it, which need not be before the call returns.
// Hence:
//
// - a call with a tensor of the caller's in host memory returns, with success or failure, after its copies;
// - the session's own host memory (defaults of inputs, slots, lengths) is written again only after `copied`, an event behind the copies;
// - memory is given back only after `finished`, an event behind the last work.
//
// A caller that captures its stream into a graph gets the launches of a call, which may be replayed any number of times. So nothing may
// depend on what the host knows at the time of the call but the shapes: a call that copies host memory or uses caches is refused.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CUDA_CUDASESSION_H
#define ATTUNE_RUNTIME_CUDA_CUDASESSION_H

#include "../Caches.h"
#include "CudaModel.h"

namespace attune {
struct EntryTables;
}

namespace attune::cuda {

class CudaSession {
public:
  /// Takes |bytes| of |model|'s GPU, and makes a stream unless |stream| is the caller's. Fails with OUT_OF_MEMORY or DEVICE_ERROR, and with
  /// INVALID_ARGUMENT for a stream that is being captured or the per-thread default stream.
  attune_status open(const attune_model_desc &desc, const CudaModel &model, uint64_t bytes, void *stream);
  /// Waits for what is queued and gives all back.
  void close();
  /// The memory of the session: caches, workspace, defaults of inputs.
  void *memory() const { return reinterpret_cast<void *>(block); }

  /// Makes the GPU the calling thread's while |scope| lives; comes before every other function but open and close. Fails with DEVICE_ERROR.
  attune_status enter(ContextScope &scope) const { return scope.enter(*model->driver, model->context); }
  /// Begins a call: finds out whether the stream is being captured and waits until the session's own host memory may be written. Fails with
  /// DEVICE_ERROR, and with INVALID_ARGUMENT if the stream's capture has been invalidated.
  attune_status beginCall();
  /// Fails with INVALID_ARGUMENT if the stream is being captured: |what| ("copying a slot") is not for graphs.
  attune_status refuseCapture(const char *what) const;
  /// Whether |data| of tensor |name| is memory of this GPU. Fails with INVALID_ARGUMENT if it is another GPU's or not aligned.
  attune_status locate(const char *name, const void *data, bool &onDevice) const;

  /// Copies the constant defaults of |entry| to their places on the GPU.
  attune_status uploadDefaults(const attune_entry_desc &entry, const EntryTables &tables);
  /// Runs |entry| with the tensors of |tables|, copying those that are in host memory, after beginCall. Waits for the end unless the stream
  /// is the caller's and no tensor of the caller is in host memory. If it fails, no copy of host memory is still to come.
  attune_status run(const attune_entry_desc &entry, const attune_host &host, attune_call call, EntryTables &tables);
  /// attune_host::launch; |pool| is a CudaSession.
  static int32_t launch(void *pool, const attune_launch *launch);
  /// attune_host::encode_map; |pool| is a CudaSession.
  static int32_t encodeMap(void *pool, const attune_tensor_map *map, void *out);

  /// Queues a copy of what |length| tokens have of slot |from| to slot |to|.
  attune_status copySlot(const attune_cache_desc &cache, const CachePlace &place, int64_t from, int64_t to, int64_t length);
  /// Copy |bytes| and wait.
  attune_status download(void *to, const void *from, uint64_t bytes);
  attune_status upload(void *to, const void *from, uint64_t bytes);

private:
  attune_status findCapture(int &capture) const;
  attune_status checkCapture(const attune_entry_desc &entry, const EntryTables &tables) const;
  attune_status wait(const char *what) const;
  attune_status record(Event event);
  void drain();
  attune_status makeStage(const attune_entry_desc &entry, const EntryTables &tables);
  attune_status copyInputs(const attune_entry_desc &entry, EntryTables &tables, bool &usesOwnMemory);
  attune_status copyOutputs(const attune_entry_desc &entry, EntryTables &tables);
  attune_status queue(const attune_entry_desc &entry, const attune_host &host, attune_call call, EntryTables &tables, bool mustWait);

  const attune_model_desc *desc = nullptr;
  const CudaModel *model = nullptr;
  Stream stream = nullptr;
  bool ownsStream = false;
  bool isCapturing = false; ///< the stream, as of beginCall
  // For a stream of the caller's, else null:
  Event copied = nullptr;      ///< behind the last copies of the session's own host memory that no call has waited for
  Event finished = nullptr;    ///< behind all work
  bool copiesInFlight = false; ///< |copied| has been recorded and not waited for
  Address block = 0;
  Address stage = 0; ///< for tensors in host memory, as large as the largest call so far
  uint64_t stageBytes = 0, stageUsed = 0;
  attune_status launchStatus = ATTUNE_OK;
};

} // namespace attune::cuda

#endif // ATTUNE_RUNTIME_CUDA_CUDASESSION_H
