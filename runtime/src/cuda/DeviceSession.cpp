//===- DeviceSession.cpp - Running entries on a GPU ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DeviceSession.h"
#include "../Error.h"
#include "../Session.h"

#include <cstdio>

using namespace attune;
using namespace attune::cuda;

/// What the driver aligns its memory to, and each tensor in ours.
static constexpr uint64_t deviceAlignment = 256;
/// What kernels expect of a caller's tensor.
static constexpr uint64_t tensorAlignment = 16;

static Address address(const void *pointer) { return reinterpret_cast<Address>(pointer); }

attune_status DeviceSession::open(const attune_model_desc &ofModel, const DeviceModel &onDevice, uint64_t bytes, void *callersStream) {
  desc = &ofModel;
  model = &onDevice;
  ContextScope scope = enter();
  const Driver &driver = *model->driver;
  stream = static_cast<Stream>(callersStream);
  if (!stream) {
    ATTUNE_TRY(driver.check(driver.streamCreate(&stream, 0), "making a stream"));
    ownsStream = true;
  }
  char what[128];
  snprintf(what, sizeof(what), "getting %llu bytes on the GPU for the session", static_cast<unsigned long long>(bytes));
  return driver.check(driver.memoryAllocate(&block, bytes ? bytes : 1), what);
}

void DeviceSession::close() {
  if (!model)
    return;
  ContextScope scope = enter();
  const Driver &driver = *model->driver;
  driver.streamSynchronize(stream);
  if (ownsStream)
    driver.streamDestroy(stream);
  if (block)
    driver.memoryFree(block);
  if (stage)
    driver.memoryFree(stage);
  *this = DeviceSession();
}

attune_status DeviceSession::locate(const char *name, const void *data, bool &onDevice) const {
  const Driver &driver = *model->driver;
  unsigned type = 0;
  int ordinal = 0;
  // The driver does not know ordinary memory of the host, which is what failing means here.
  onDevice = driver.pointerGetAttribute(&type, pointerMemoryType, address(data)) == success && type == memoryTypeDevice;
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

attune_status DeviceSession::wait(const char *what) const { return model->driver->check(model->driver->streamSynchronize(stream), what); }

attune_status DeviceSession::upload(void *to, const void *from, uint64_t bytes) {
  ATTUNE_TRY(model->driver->check(model->driver->copyToDevice(address(to), from, bytes, stream), "copying to the GPU"));
  return wait("copying to the GPU");
}

attune_status DeviceSession::download(void *to, const void *from, uint64_t bytes) {
  ATTUNE_TRY(model->driver->check(model->driver->copyToHost(to, address(from), bytes, stream), "copying from the GPU"));
  return wait("copying from the GPU");
}

attune_status DeviceSession::copySlot(const attune_cache_desc &cache, const CachePlace &place, int64_t from, int64_t to, int64_t length) {
  // What a head has of a slot is one piece, used from its beginning on.
  size_t stride = static_cast<size_t>(place.slotElements / cache.heads) * sizeof(float);
  Copy2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = memoryTypeDevice;
  copy.srcDevice = address(place.data + from * place.slotElements);
  copy.dstDevice = address(place.data + to * place.slotElements);
  copy.srcPitch = copy.dstPitch = stride;
  copy.widthBytes = static_cast<size_t>(usedElements(cache, length)) * sizeof(float);
  copy.height = static_cast<size_t>(cache.heads);
  return copy.widthBytes ? model->driver->check(model->driver->copy2D(&copy, stream), "copying a slot") : ATTUNE_OK;
}

attune_status DeviceSession::uploadDefaults(const attune_entry_desc &entry, const EntryTables &tables) {
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (uint32_t fill = entry.inputs[i].fill; fill == ATTUNE_FILL_ZEROS || fill == ATTUNE_FILL_ONES || fill == ATTUNE_FILL_TOKENS) {
      uint64_t bytes = 0;
      tensorBytes(entry.inputs[i], tables.limits, bytes);
      ATTUNE_TRY(upload(tables.deviceDefaults[i], tables.defaults[i], bytes));
    }
  return ATTUNE_OK;
}

/// The bytes of |tensor|, rounded up so that the next one is aligned.
static uint64_t stagedBytes(const attune_tensor_desc &tensor, const int64_t *dims) {
  uint64_t bytes = 0;
  tensorBytes(tensor, dims, bytes);
  return (bytes + deviceAlignment - 1) / deviceAlignment * deviceAlignment;
}

/// Whether the default of |input| is the same for all dimensions.
static bool isConstant(const attune_tensor_desc &input) { return input.fill != ATTUNE_FILL_ARANGE && input.fill < ATTUNE_FILL_SLOTS; }

attune_status DeviceSession::makeStage(const attune_entry_desc &entry, const EntryTables &tables) {
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

attune_status DeviceSession::copyInputs(const attune_entry_desc &entry, EntryTables &tables, bool &mustWait) {
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    bool isDefault = tables.inputs[i] == tables.defaults[i];
    if (tables.inputsOnDevice[i]) {
      tables.deviceInputs[i] = tables.inputs[i];
      continue;
    }
    tables.deviceInputs[i] = isDefault ? tables.deviceDefaults[i] : reinterpret_cast<const void *>(stage + stageUsed);
    if (isDefault && isConstant(entry.inputs[i]))
      continue;
    uint64_t bytes = 0;
    tensorBytes(entry.inputs[i], tables.dims, bytes);
    ATTUNE_TRY(model->driver->check(model->driver->copyToDevice(address(tables.deviceInputs[i]), tables.inputs[i], bytes, stream),
                                    "copying inputs to the GPU"));
    if (!isDefault)
      stageUsed += stagedBytes(entry.inputs[i], tables.dims);
    mustWait |= !isDefault; // the caller may reuse the memory as soon as the call returns
  }
  return ATTUNE_OK;
}

attune_status DeviceSession::copyOutputs(const attune_entry_desc &entry, EntryTables &tables, bool &mustWait) {
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    if (tables.outputsOnDevice[i])
      continue;
    uint64_t bytes = 0;
    tensorBytes(entry.outputs[i], tables.dims, bytes);
    ATTUNE_TRY(model->driver->check(model->driver->copyToHost(tables.outputs[i], address(tables.deviceOutputs[i]), bytes, stream),
                                    "copying outputs from the GPU"));
    mustWait = true;
  }
  return ATTUNE_OK;
}

attune_status DeviceSession::run(const attune_entry_desc &entry, const attune_host &host, attune_call call, EntryTables &tables) {
  bool mustWait = ownsStream;
  ATTUNE_TRY(makeStage(entry, tables));
  ATTUNE_TRY(copyInputs(entry, tables, mustWait));
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
  ATTUNE_TRY(copyOutputs(entry, tables, mustWait));
  char what[128];
  snprintf(what, sizeof(what), "running entry '%s' of model '%s'", entry.name, desc->name);
  return mustWait ? wait(what) : ATTUNE_OK;
}

int32_t DeviceSession::launch(void *pool, const attune_launch *launch) {
  DeviceSession &session = *static_cast<DeviceSession *>(pool);
  const DeviceModel &model = *session.model;
  if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2])
    return 0;
  if (launch->function >= session.desc->num_functions || !model.functions[launch->function]) {
    session.launchStatus = fail(ATTUNE_INTERNAL, "model '%s' launches function number %u, which its sm_%u image lacks", session.desc->name,
                                launch->function, model.arch & ~ATTUNE_ARCH_SPECIFIC);
    return 1;
  }
  Code code = model.driver->launchKernel(model.functions[launch->function], launch->grid[0], launch->grid[1], launch->grid[2],
                                         launch->block[0], launch->block[1], launch->block[2], launch->shared_bytes, session.stream,
                                         const_cast<void **>(launch->args), nullptr);
  if (code == success)
    return 0;
  char what[256];
  snprintf(what, sizeof(what), "launching '%s' on %u x %u x %u blocks of %u threads", session.desc->functions[launch->function].symbol,
           launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0] * launch->block[1] * launch->block[2]);
  session.launchStatus = model.driver->check(code, what);
  return 1;
}

int32_t DeviceSession::encodeMap(void *pool, const attune_tensor_map *map, void *out) {
  DeviceSession &session = *static_cast<DeviceSession *>(pool);
  const Driver &driver = *session.model->driver;
  unsigned ones[5] = {1, 1, 1, 1, 1};
  for (uint32_t dim = 0; dim < map->rank; ++dim)
    if (map->sizes[dim] == 0)
      return 0; // nothing will be launched, and the driver takes no empty tensor
  Code code = driver.tensorMapEncode(out, map->element_bytes == 2 ? tensorMapUint16 : tensorMapUint32, map->rank, address(map->data),
                                     map->sizes, map->strides + 1, map->box, ones, tensorMapNone,
                                     map->swizzle ? tensorMapSwizzle128 : tensorMapNone, tensorMapPromote256, tensorMapNone);
  if (code == success)
    return 0;
  session.launchStatus = driver.check(code, "describing a tensor to the GPU");
  return 1;
}
