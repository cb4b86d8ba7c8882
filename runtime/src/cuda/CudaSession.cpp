//===- CudaSession.cpp - Running entries on a GPU -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CudaSession.h"
#include "../Descriptor.h"
#include "../EntryTables.h"
#include "../Error.h"

#include <cstdio>
#include <cstdlib>
#include <new>

using namespace attune;
using namespace attune::cuda;

/// The alignment in bytes of memory that the driver allocates, and of each tensor in |stage|.
static constexpr uint64_t deviceAlignment = 256;
/// The alignment in bytes that kernels expect of a caller's tensor.
static constexpr uint64_t tensorAlignment = 16;
/// The largest x dimension of a grid.
static constexpr uint32_t maxBlocks = 0x7fffffff;

static Address address(const void *pointer) { return reinterpret_cast<Address>(pointer); }

attune_status CudaSession::create(const DeviceModel &model, const attune_model_desc &desc, uint64_t bytes, void *stream,
                                  DeviceSession *&out) {
  out = nullptr;
  void *memory = malloc(sizeof(CudaSession));
  if (!memory)
    return fail(ATTUNE_OUT_OF_MEMORY, "no memory for a session of model '%s'", desc.name);
  CudaSession *session = new (memory) CudaSession;
  session->desc = &desc;
  session->model = static_cast<const CudaModel *>(&model);
  session->host = {ATTUNE_ABI_VERSION, model.arch, session, model.workers, nullptr, launch, encodeMap, 0, nullptr, nullptr};
  attune_status status = session->open(bytes, stream);
  if (status == ATTUNE_OK)
    out = session;
  else
    destroy(session);
  return status;
}

void CudaSession::destroy(DeviceSession *session) {
  static_cast<CudaSession *>(session)->close();
  free(static_cast<CudaSession *>(session));
}

attune_status CudaSession::open(uint64_t bytes, void *callersStream) {
  ContextScope scope;
  ATTUNE_TRY(enter(scope));
  const Driver &driver = *model->driver;
  if (callersStream == reinterpret_cast<void *>(perThreadStream))
    return fail(ATTUNE_INVALID_ARGUMENT, "the session's stream is the per-thread default stream (2), which is another one in each thread: "
                                         "a stream that has been created expected, or the legacy default stream (1)");
  if (callersStream) {
    stream = static_cast<Stream>(callersStream);
    ATTUNE_TRY(refuseCapture("making a session"));
    ATTUNE_TRY(driver.check(driver.eventCreate(&copied, eventDisableTiming), "making an event"));
    ATTUNE_TRY(driver.check(driver.eventCreate(&finished, eventDisableTiming), "making an event"));
  } else {
    ATTUNE_TRY(driver.check(driver.streamCreate(&stream, streamBlocking), "making a stream"));
    ownsStream = true;
  }
  char what[128];
  snprintf(what, sizeof(what), "getting %llu bytes on the GPU for the session", static_cast<unsigned long long>(bytes));
  Address block = 0;
  ATTUNE_TRY(driver.check(driver.memoryAllocate(&block, bytes ? bytes : 1), what));
  memory = reinterpret_cast<void *>(block);
  return ATTUNE_OK;
}

void CudaSession::close() {
  ContextScope scope;
  if (enter(scope) != ATTUNE_OK)
    return;
  const Driver &driver = *model->driver;
  if (ownsStream) {
    driver.streamSynchronize(stream);
    driver.streamDestroy(stream);
  }
  // Waits for events and not for the caller's stream, which may be in a capture, or destroyed already.
  Event events[] = {finished, copied};
  for (Event event : events)
    if (event) {
      driver.eventSynchronize(event);
      driver.eventDestroy(event);
    }
  if (memory)
    driver.memoryFree(address(memory));
  if (stage)
    driver.memoryFree(stage);
}

/// Sets |capture| to the CUstreamCaptureStatus of the stream; the session's own stream is never captured. Fails with
/// INVALID_ARGUMENT if the stream is the default stream and another stream is being captured.
attune_status CudaSession::findCapture(int &capture) const {
  capture = captureNone;
  if (ownsStream)
    return ATTUNE_OK;
  Code code = model->driver->streamIsCapturing(stream, &capture);
  if (code == captureImplicit)
    return fail(ATTUNE_INVALID_ARGUMENT, "the session's stream is the default stream, which no call may use while another stream is being "
                                         "captured into a graph");
  return model->driver->check(code, "asking whether the session's stream is being captured");
}

attune_status CudaSession::refuseCapture(const char *what) const {
  int capture;
  ATTUNE_TRY(findCapture(capture));
  if (capture != captureNone)
    return fail(ATTUNE_INVALID_ARGUMENT, "the session's stream is being captured into a graph: %s is not possible meanwhile", what);
  return ATTUNE_OK;
}

attune_status CudaSession::beginCall() {
  int capture;
  ATTUNE_TRY(findCapture(capture));
  if (capture == captureInvalidated)
    return fail(ATTUNE_INVALID_ARGUMENT,
                "the capture of the session's stream has been invalidated: expected that it is ended before a call");
  isCapturing = capture == captureActive;
  if (copiesInFlight)
    ATTUNE_TRY(model->driver->check(model->driver->eventSynchronize(copied), "finishing the copies of an earlier call"));
  copiesInFlight = false;
  return ATTUNE_OK;
}

attune_status CudaSession::locate(const char *name, const void *data, bool &onDevice) const {
  const Driver &driver = *model->driver;
  unsigned type = 0;
  int ordinal = 0;
  // The driver does not know pageable host memory and reports an invalid value.
  Code code = driver.pointerGetAttribute(&type, pointerMemoryType, address(data));
  if (code != success && code != invalidValue)
    return driver.check(code, "asking where a tensor is");
  onDevice = code == success && type == memoryTypeDevice;
  if (!onDevice)
    return ATTUNE_OK;
  ATTUNE_TRY(driver.check(driver.pointerGetAttribute(&ordinal, pointerDeviceOrdinal, address(data)), "asking for the GPU of a tensor"));
  if (ordinal != model->ordinal)
    return fail(ATTUNE_INVALID_ARGUMENT, "'%s' is in the memory of GPU %d, the model is on GPU %d", name, ordinal, model->ordinal);
  if (address(data) % tensorAlignment)
    return fail(ATTUNE_INVALID_ARGUMENT, "'%s' has data at %p on the GPU, expected a multiple of %llu", name, data,
                static_cast<unsigned long long>(tensorAlignment));
  return ATTUNE_OK;
}

attune_status CudaSession::wait(const char *what) const { return model->driver->check(model->driver->streamSynchronize(stream), what); }

/// Records |event| after all work queued so far; does nothing if it is null.
attune_status CudaSession::record(Event event) {
  return event ? model->driver->check(model->driver->eventRecord(event, stream), "recording an event") : ATTUNE_OK;
}

/// Waits until no copy of a failed call is pending; while the stream is being captured, calls queue no copies. Keeps
/// the message of the failure.
void CudaSession::drain() {
  if (!isCapturing && model->driver->streamSynchronize(stream) == success)
    copiesInFlight = false;
}

attune_status CudaSession::upload(void *to, const void *from, uint64_t bytes) {
  ATTUNE_TRY(model->driver->check(model->driver->copyToDevice(address(to), from, bytes, stream), "copying to the GPU"));
  return wait("copying to the GPU");
}

attune_status CudaSession::download(void *to, const void *from, uint64_t bytes) {
  ATTUNE_TRY(model->driver->check(model->driver->copyToHost(to, address(from), bytes, stream), "copying from the GPU"));
  return wait("copying from the GPU");
}

attune_status CudaSession::copyRows(void *to, const void *from, size_t bytes, size_t pitch, size_t count) {
  Copy2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = memoryTypeDevice;
  copy.srcDevice = address(from);
  copy.dstDevice = address(to);
  copy.srcPitch = copy.dstPitch = pitch;
  copy.widthBytes = bytes;
  copy.height = count;
  if (!copy.widthBytes)
    return ATTUNE_OK;
  ATTUNE_TRY(model->driver->check(model->driver->copy2D(&copy, stream), "copying a slot"));
  return record(finished);
}

/// Returns the size in bytes of |tensor|, rounded up so that the next tensor in |stage| is aligned.
static uint64_t stagedBytes(const attune_tensor_desc &tensor, const int64_t *dims) {
  uint64_t bytes = 0;
  tensorBytes(tensor, dims, bytes);
  return (bytes + deviceAlignment - 1) / deviceAlignment * deviceAlignment;
}

attune_status CudaSession::makeStage(const attune_entry_desc &entry, const EntryTables &tables) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (!tables.inputsOnDevice[i] && tables.inputs[i] != tables.defaults[i])
      bytes += stagedBytes(entry.inputs[i], tables.dims);
  for (uint32_t i = 0; i < entry.num_outputs; ++i)
    if (!tables.outputsOnDevice[i])
      bytes += stagedBytes(entry.outputs[i], tables.dims);
  stageUsed = 0;
  if (bytes <= stageBytes)
    return ATTUNE_OK;
  const Driver &driver = *model->driver;
  if (stage) {
    ATTUNE_TRY(wait("finishing earlier calls"));
    driver.memoryFree(stage);
  }
  stage = 0;
  stageBytes = 0;
  char what[128];
  snprintf(what, sizeof(what), "getting %llu bytes on the GPU for tensors in host memory", static_cast<unsigned long long>(bytes));
  ATTUNE_TRY(driver.check(driver.memoryAllocate(&stage, bytes), what));
  stageBytes = bytes;
  return ATTUNE_OK;
}

/// Sets the device addresses of all inputs and queues copies of the inputs in host memory, except constant defaults,
/// which are on the device already. Sets |usesOwnMemory| to true if one of these copies reads a default, which is in
/// host memory of the session, else to false.
attune_status CudaSession::copyInputs(const attune_entry_desc &entry, EntryTables &tables, bool &usesOwnMemory) {
  usesOwnMemory = false;
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    bool isDefault = tables.inputs[i] == tables.defaults[i];
    if (tables.inputsOnDevice[i]) {
      tables.deviceInputs[i] = tables.inputs[i];
      continue;
    }
    tables.deviceInputs[i] = isDefault ? tables.deviceDefaults[i] : reinterpret_cast<const void *>(stage + stageUsed);
    if (isDefault && hasConstantDefault(entry.inputs[i]))
      continue;
    uint64_t bytes = 0;
    tensorBytes(entry.inputs[i], tables.dims, bytes);
    if (bytes)
      ATTUNE_TRY(model->driver->check(model->driver->copyToDevice(address(tables.deviceInputs[i]), tables.inputs[i], bytes, stream),
                                      "copying inputs to the GPU"));
    if (!isDefault)
      stageUsed += stagedBytes(entry.inputs[i], tables.dims);
    usesOwnMemory |= isDefault;
  }
  return ATTUNE_OK;
}

attune_status CudaSession::copyOutputs(const attune_entry_desc &entry, EntryTables &tables) {
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    if (tables.outputsOnDevice[i])
      continue;
    uint64_t bytes = 0;
    tensorBytes(entry.outputs[i], tables.dims, bytes);
    if (bytes)
      ATTUNE_TRY(model->driver->check(model->driver->copyToHost(tables.outputs[i], address(tables.deviceOutputs[i]), bytes, stream),
                                      "copying outputs from the GPU"));
  }
  return ATTUNE_OK;
}

/// Returns true if a tensor that the caller gave is in host memory.
static bool hasHostTensors(const attune_entry_desc &entry, const EntryTables &tables) {
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (!tables.inputsOnDevice[i] && tables.inputs[i] != tables.defaults[i])
      return true;
  for (uint32_t i = 0; i < entry.num_outputs; ++i)
    if (!tables.outputsOnDevice[i])
      return true;
  return false;
}

/// Fails with INVALID_ARGUMENT unless a graph may replay a call with these tensors. A replay must not copy host memory,
/// which may have other contents by then, nor append to caches, whose lengths the host counts.
attune_status CudaSession::checkCapture(const attune_entry_desc &entry, const EntryTables &tables) const {
  if (entry.cache_use != ATTUNE_CACHE_UNUSED)
    return fail(ATTUNE_INVALID_ARGUMENT,
                "the session's stream is being captured into a graph: entry '%s' uses the session's caches, which no graph can continue",
                entry.name);
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (!tables.inputsOnDevice[i] && !(tables.inputs[i] == tables.defaults[i] && hasConstantDefault(entry.inputs[i])))
      return fail(ATTUNE_INVALID_ARGUMENT, "the session's stream is being captured into a graph: input '%s' %s, expected in GPU memory",
                  entry.inputs[i].name, tables.inputs[i] == tables.defaults[i] ? "is left out" : "is in host memory");
  for (uint32_t i = 0; i < entry.num_outputs; ++i)
    if (!tables.outputsOnDevice[i])
      return fail(ATTUNE_INVALID_ARGUMENT,
                  "the session's stream is being captured into a graph: output '%s' is in host memory, expected in GPU memory",
                  entry.outputs[i].name);
  return ATTUNE_OK;
}

/// Queues all work of a call. |mustWait| is true if run() waits for the end of this work; then the copies of the
/// session's own host memory need no event.
attune_status CudaSession::queue(const attune_entry_desc &entry, attune_call call, EntryTables &tables, bool mustWait) {
  bool usesOwnMemory;
  ATTUNE_TRY(copyInputs(entry, tables, usesOwnMemory));
  if (usesOwnMemory && !mustWait) {
    ATTUNE_TRY(record(copied));
    copiesInFlight = true;
  }
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    tables.deviceOutputs[i] = tables.outputsOnDevice[i] ? tables.outputs[i] : reinterpret_cast<void *>(stage + stageUsed);
    stageUsed += tables.outputsOnDevice[i] ? 0 : stagedBytes(entry.outputs[i], tables.dims);
  }
  call.weights = reinterpret_cast<const void *>(model->weights);
  call.inputs = tables.deviceInputs;
  call.outputs = tables.deviceOutputs;
  launchStatus = ATTUNE_OK;
  if (int32_t code = entry.run(&host, &call))
    return launchStatus != ATTUNE_OK ? launchStatus
                                     : fail(ATTUNE_INTERNAL, "entry '%s' of model '%s' failed with code %d", entry.name, desc->name, code);
  ATTUNE_TRY(copyOutputs(entry, tables));
  return isCapturing ? ATTUNE_OK : record(finished);
}

attune_status CudaSession::run(const attune_entry_desc &entry, attune_call call, EntryTables &tables) {
  if (isCapturing)
    ATTUNE_TRY(checkCapture(entry, tables));
  // The caller may reuse its host memory as soon as the call returns.
  bool mustWait = ownsStream || hasHostTensors(entry, tables);
  ATTUNE_TRY(makeStage(entry, tables));
  if (attune_status status = queue(entry, call, tables, mustWait); status != ATTUNE_OK) {
    drain();
    return status;
  }
  char what[128];
  snprintf(what, sizeof(what), "running entry '%s' of model '%s'", entry.name, desc->name);
  return mustWait ? wait(what) : ATTUNE_OK;
}

int32_t CudaSession::launch(void *pool, const attune_launch *launch) {
  CudaSession &session = *static_cast<CudaSession *>(pool);
  const CudaModel &model = *session.model;
  if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2])
    return 0;
  if (launch->function >= session.desc->num_functions || !model.functions[launch->function]) {
    session.launchStatus = fail(ATTUNE_INTERNAL, "model '%s' launches function number %u, which its sm_%u image lacks", session.desc->name,
                                launch->function, model.arch & ~ATTUNE_ARCH_SPECIFIC);
    return 1;
  }
  const char *symbol = session.desc->functions[launch->function].symbol;
  if (launch->grid[0] > maxBlocks) {
    session.launchStatus = fail(ATTUNE_DEVICE_ERROR,
                                "launching '%s' needs more than %u blocks, the most that a GPU launches at once: "
                                "run fewer or shorter rows in a call",
                                symbol, maxBlocks);
    return 1;
  }
  Code code = model.driver->launchKernel(model.functions[launch->function], launch->grid[0], launch->grid[1], launch->grid[2],
                                         launch->block[0], launch->block[1], launch->block[2], launch->shared_bytes, session.stream,
                                         const_cast<void **>(launch->args), nullptr);
  if (code == success)
    return 0;
  char what[256];
  snprintf(what, sizeof(what), "launching '%s' on %u x %u x %u blocks of %u threads", symbol, launch->grid[0], launch->grid[1],
           launch->grid[2], launch->block[0] * launch->block[1] * launch->block[2]);
  session.launchStatus = model.driver->check(code, what);
  return 1;
}

int32_t CudaSession::encodeMap(void *pool, const attune_tensor_map *map, void *out) {
  CudaSession &session = *static_cast<CudaSession *>(pool);
  const Driver &driver = *session.model->driver;
  unsigned ones[5] = {1, 1, 1, 1, 1};
  for (uint32_t dim = 0; dim < map->rank; ++dim)
    if (map->sizes[dim] == 0)
      return 0; // nothing will be launched on the tensor, and the driver accepts no empty one
  Code code = driver.tensorMapEncode(out, map->element_bytes == 2 ? tensorMapUint16 : tensorMapUint32, map->rank, address(map->data),
                                     map->sizes, map->strides + 1, map->box, ones, tensorMapNone,
                                     map->swizzle ? tensorMapSwizzle128 : tensorMapNone, tensorMapPromote256, tensorMapNone);
  if (code == success)
    return 0;
  session.launchStatus = driver.check(code, "describing a tensor to the GPU");
  return 1;
}
