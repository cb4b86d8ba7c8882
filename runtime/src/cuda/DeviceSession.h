//===- DeviceSession.h - What a session has on a GPU --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a stream is the only order: inputs are copied, entries queue their launches, outputs are copied back, and only then does
// anybody wait, if at all.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CUDA_DEVICESESSION_H
#define ATTUNE_RUNTIME_CUDA_DEVICESESSION_H

#include "../Caches.h"
#include "DeviceModel.h"

namespace attune {
struct EntryTables;
}

namespace attune::cuda {

class DeviceSession {
public:
  /// Takes |bytes| of |model|'s GPU, and makes a stream unless |stream| is the caller's. Fails with OUT_OF_MEMORY or DEVICE_ERROR.
  attune_status open(const attune_model_desc &desc, const DeviceModel &model, uint64_t bytes, void *stream);
  /// Waits for what is queued and gives all back.
  void close();
  /// The memory of the session: caches, workspace, defaults of inputs.
  void *memory() const { return reinterpret_cast<void *>(block); }

  /// Makes the GPU the calling thread's while the scope lives.
  ContextScope enter() const { return ContextScope(*model->driver, model->context); }
  /// Whether |data| of tensor |name| is memory of this GPU. Fails with INVALID_ARGUMENT if it is another GPU's or not aligned.
  attune_status locate(const char *name, const void *data, bool &onDevice) const;

  /// Copies the constant defaults of |entry| to their places on the GPU.
  attune_status uploadDefaults(const attune_entry_desc &entry, const EntryTables &tables);
  /// Runs |entry| with the tensors of |tables|, copying those that are in host memory. Waits for the end unless the stream is the caller's
  /// and no tensor of the caller is in host memory.
  attune_status run(const attune_entry_desc &entry, const attune_host &host, attune_call call, EntryTables &tables);
  /// attune_host::launch; |pool| is a DeviceSession.
  static int32_t launch(void *pool, const attune_launch *launch);
  /// attune_host::encode_map; |pool| is a DeviceSession.
  static int32_t encodeMap(void *pool, const attune_tensor_map *map, void *out);

  /// Copies what |length| tokens have of slot |from| to slot |to|.
  attune_status copySlot(const attune_cache_desc &cache, const CachePlace &place, int64_t from, int64_t to, int64_t length);
  /// Copy |bytes| and wait.
  attune_status download(void *to, const void *from, uint64_t bytes);
  attune_status upload(void *to, const void *from, uint64_t bytes);

private:
  attune_status wait(const char *what) const;
  attune_status makeStage(const attune_entry_desc &entry, const EntryTables &tables);
  attune_status copyInputs(const attune_entry_desc &entry, EntryTables &tables, bool &mustWait);
  attune_status copyOutputs(const attune_entry_desc &entry, EntryTables &tables, bool &mustWait);

  const attune_model_desc *desc = nullptr;
  const DeviceModel *model = nullptr;
  Stream stream = nullptr;
  bool ownsStream = false;
  Address block = 0;
  Address stage = 0; ///< for tensors in host memory, as large as the largest call so far
  uint64_t stageBytes = 0, stageUsed = 0;
  attune_status launchStatus = ATTUNE_OK;
};

} // namespace attune::cuda

#endif // ATTUNE_RUNTIME_CUDA_DEVICESESSION_H
