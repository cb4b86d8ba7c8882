//===- Session.cpp - Making sessions and running entries ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Error.h"
#include "FpEnvironment.h"
#include "Ranks.h"
#include "Signature.h"

#include <sys/mman.h>

using namespace attune;

void attune_session_options_init(attune_session_options *options) {
  if (options)
    *options = attune_session_options{sizeof(attune_session_options), nullptr, 0, 0, nullptr, nullptr, 0, nullptr};
}

attune_status attune_session_memory_bytes(const attune_model *model, const attune_session_options *options, size_t *out_bytes) {
  if (!out_bytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_bytes is null");
  *out_bytes = 0;
  SessionPlan plan;
  ATTUNE_TRY(planSession(model, options, plan));
  *out_bytes = plan.totalBytes;
  return ATTUNE_OK;
}

/// Sets |memory| to the caller's memory and |owned| to null, or both to newly mapped memory if the caller gave none.
/// Fails with INVALID_ARGUMENT if the caller's memory is misaligned, or with OUT_OF_MEMORY if there is too little
/// memory.
static attune_status takeMemory(const SessionPlan &plan, void *&memory, void *&owned) {
  owned = nullptr;
  memory = plan.options.memory;
  if (memory) {
    if (reinterpret_cast<uintptr_t>(memory) % ATTUNE_ALIGNMENT)
      return fail(ATTUNE_INVALID_ARGUMENT, "the session's memory is at %p, a multiple of %u expected", memory, ATTUNE_ALIGNMENT);
    if (plan.options.memory_bytes < plan.totalBytes)
      return fail(ATTUNE_OUT_OF_MEMORY, "the session's memory has %zu bytes, %llu expected", plan.options.memory_bytes,
                  static_cast<unsigned long long>(plan.totalBytes));
    return ATTUNE_OK;
  }
  void *mapped = mmap(nullptr, plan.totalBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(ATTUNE_OUT_OF_MEMORY, "cannot get %llu bytes for the session", static_cast<unsigned long long>(plan.totalBytes));
  // Large pages save walks of page tables when calls read and write the workspace and the caches. The advice is
  // optional, so its failure is ignored.
  if (plan.totalBytes >= size_t(4) << 20)
    madvise(mapped, plan.totalBytes, MADV_HUGEPAGE);
  memory = owned = mapped;
  return ATTUNE_OK;
}

/// Copies the constant defaults of |entry| to the device.
static attune_status uploadDefaults(attune_session &session, const attune_entry_desc &entry, const EntryTables &tables) {
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    uint64_t bytes = 0;
    if (hasConstantDefault(entry.inputs[i]))
      tensorBytes(entry.inputs[i], tables.limits, bytes);
    if (bytes)
      ATTUNE_TRY(session.model->device->upload(*session.onDevice, tables.deviceDefaults[i], tables.defaults[i], bytes));
  }
  return ATTUNE_OK;
}

/// Implements attune_host::all_gather for |of|, an attune_session, by the all_gather of the model's ranks. After the
/// first error in a call of an entry, only returns that error again.
static int32_t gatherOfSession(void *of, const attune_gather *gather) {
  auto &session = *static_cast<attune_session *>(of);
  const attune_ranks &ranks = session.model->ranks;
  // After an error the entry computes with undefined values, and other ranks may have returned from it already.
  if (session.gatherError == 0)
    session.gatherError = ranks.all_gather(ranks.context, gather);
  return session.gatherError;
}

/// Sets session.host, the host that entries are called with: that of the device, the caller's host, or one with a new
/// pool. If the session is on a device, uploads the constant defaults.
static attune_status openHost(attune_session &session, const SessionPlan &plan) {
  if (session.onDevice) {
    const attune_model_desc &desc = *session.model->desc;
    session.host = session.onDevice->host;
    DeviceScope scope;
    ATTUNE_TRY(enterDevice(session, scope));
    for (uint32_t e = 0; e < desc.num_entries; ++e)
      ATTUNE_TRY(uploadDefaults(session, desc.entries[e], session.entries[e]));
    return ATTUNE_OK;
  }
  if (plan.options.host) {
    session.host = *plan.options.host;
  } else {
    ATTUNE_TRY(createPool(session.poolMemory, plan.workers, session.pool, session.model->ranks.sharing));
    session.host = {};
    session.host.abi_version = ATTUNE_ABI_VERSION;
    session.host.pool = session.pool;
    session.host.num_workers = plan.workers;
    session.host.parallel_for = attune_pool_parallel_for;
  }
  session.host.rank = session.model->ranks.rank;
  session.host.ranks = &session;
  session.host.all_gather = session.model->ranks.count > 1 ? gatherOfSession : nullptr;
  return ATTUNE_OK;
}

attune_status attune_session_create(attune_model *model, const attune_session_options *options, attune_session **out_session) {
  if (!out_session)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_session is null");
  *out_session = nullptr;
  SessionPlan plan;
  void *memory, *owned;
  // The size of a session depends on the number of workers of the device, which is known once the model is loaded.
  if (model)
    ATTUNE_TRY(loadOnDevice(*model));
  ATTUNE_TRY(planSession(model, options, plan));
  ATTUNE_TRY(takeMemory(plan, memory, owned));
  DeviceSession *onDevice = nullptr;
  attune_status status = ATTUNE_OK;
  if (model->device)
    status = model->device->create(*model->onDevice.load(), *model->desc, plan.deviceBytes, plan.options.stream, onDevice);
  attune_session *session = nullptr;
  if (status == ATTUNE_OK) {
    session = layOutSession(model, plan, memory, onDevice ? onDevice->memory : nullptr);
    session->onDevice = onDevice;
    session->owned = owned;
    session->ownedBytes = plan.totalBytes;
    session->model = model;
    status = openHost(*session, plan);
  }
  if (status != ATTUNE_OK) {
    if (onDevice)
      model->device->destroy(onDevice);
    if (owned)
      munmap(owned, plan.totalBytes);
    return status;
  }
  retain(model);
  *out_session = session;
  return ATTUNE_OK;
}

void attune_session_destroy(attune_session *session) {
  if (!session)
    return;
  if (session->pool)
    endPool(session->pool);
  if (session->onDevice)
    session->model->device->destroy(session->onDevice);
  release(session->model);
  if (session->owned)
    munmap(session->owned, session->ownedBytes);
}

int64_t attune_session_num_threads(const attune_session *session) { return session ? session->host.num_workers : 0; }

const attune_model *attune_session_model(const attune_session *session) { return session ? session->model : nullptr; }

attune_status attune::enterDevice(const attune_session &session, DeviceScope &scope) {
  return scope.enter(session.model->device, session.onDevice);
}

/// Sets |onDevice| to true if |tensor| is in memory of the device, else to false. Fails with INVALID_ARGUMENT if an
/// input by which the session counts tokens or finds slots and sources is on the device.
static attune_status locateInput(const attune_session &session, const attune_entry_desc &entry, const attune_tensor_desc &desc,
                                 const attune_tensor &tensor, bool &onDevice) {
  onDevice = false;
  if (!session.onDevice)
    return ATTUNE_OK;
  ATTUNE_TRY(session.model->device->locate(*session.onDevice, desc.name, tensor.data, onDevice));
  if (onDevice && entry.cache_use != ATTUNE_CACHE_UNUSED && desc.fill >= ATTUNE_FILL_TOKENS)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is on the GPU, but says which tokens the session keeps: host memory expected",
                desc.name);
  return ATTUNE_OK;
}

/// Points tables.inputs[index] at the checked data of |tensor|, or at an I64 copy of the data if |tensor| is I32. Fails
/// with INVALID_ARGUMENT for I32 in memory of the device.
static attune_status bindValues(const attune_tensor_desc &desc, const attune_tensor &tensor, bool onDevice, uint32_t index,
                                EntryTables &tables) {
  tables.inputs[index] = tensor.data;
  if (desc.dtype != ATTUNE_I64 || tensor.dtype != ATTUNE_I32)
    return ATTUNE_OK;
  if (onDevice)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is i32 on the GPU, expected i64 there or i32 in host memory", desc.name);
  tables.inputs[index] = tables.widened[index];
  const int32_t *values = static_cast<const int32_t *>(tensor.data);
  uint64_t bytes = 0;
  tensorBytes(desc, tables.dims, bytes);
  for (uint64_t i = 0; i < bytes / sizeof(int64_t); ++i)
    tables.widened[index][i] = values[i];
  return ATTUNE_OK;
}

/// Checks the data of |inputs|, and points tables.inputs at this data and at the defaults of omitted inputs. Writes the
/// defaults that depend on the dims; bindRows writes those that depend on the caches.
static attune_status bindInputs(const attune_session &session, const attune_entry_desc &entry, TensorList inputs, EntryTables &tables) {
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    const attune_tensor_desc &desc = entry.inputs[i];
    if (const attune_tensor *tensor = inputs.find(desc.name)) {
      if (desc.fill == ATTUNE_FILL_PAST_LENGTHS || desc.fill == ATTUNE_FILL_SOURCE_LENGTHS)
        return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is what the session knows of its caches, it cannot be given", desc.name);
      bool onDevice;
      ATTUNE_TRY(locateInput(session, entry, desc, *tensor, onDevice));
      ATTUNE_TRY(checkInputData(desc, *tensor, /*isReadable=*/!onDevice));
      ATTUNE_TRY(bindValues(desc, *tensor, onDevice, i, tables));
      if (tables.inputsOnDevice)
        tables.inputsOnDevice[i] = onDevice;
      continue;
    }
    if (tables.inputsOnDevice)
      tables.inputsOnDevice[i] = false;
    tables.inputs[i] = tables.defaults[i];
    if (desc.fill != ATTUNE_FILL_ARANGE)
      continue; // a constant default, written when the session was made, or one that bindRows writes
    int64_t row = desc.rank ? tensorSize(desc, desc.rank - 1, tables.dims) : 1;
    if (desc.max_value > 0 && row > desc.max_value)
      return fail(ATTUNE_LIMIT_EXCEEDED, "input '%s' is left out and would count to %lld, expected 0 to %lld", desc.name,
                  static_cast<long long>(row - 1), static_cast<long long>(desc.max_value - 1));
    writeDefault(desc, tables.dims, tables.defaults[i]);
  }
  return ATTUNE_OK;
}

attune_status SessionLock::tryLock() {
  if (!session)
    return fail(ATTUNE_INVALID_ARGUMENT, "the session is null");
  if (session->running.exchange(1, std::memory_order_acquire))
    return fail(ATTUNE_BUSY, "the session is running another call; make one session per thread");
  taken = true;
  return ATTUNE_OK;
}

/// Points tables.outputs at the data of the checked |outputs| and, on a device, sets tables.outputsOnDevice.
static attune_status bindOutputs(const attune_session &session, const attune_entry_desc &entry, TensorList outputs, EntryTables &tables) {
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    tables.outputs[i] = outputs.find(entry.outputs[i].name)->data;
    if (session.onDevice)
      ATTUNE_TRY(session.model->device->locate(*session.onDevice, entry.outputs[i].name, tables.outputs[i], tables.outputsOnDevice[i]));
  }
  return ATTUNE_OK;
}

/// Runs |entry| in the calling thread and the workers of |session|.
static attune_status runOnCpu(attune_session &session, const attune_entry_desc &entry, const attune_call &call) {
  FpEnvironmentScope scope;
  PoolCallScope running(session.pool);
  session.gatherError = 0;
  int32_t code = entry.run(&session.host, &call);
  if (session.gatherError)
    return fail(ATTUNE_IO_ERROR, "rank %lld of %lld cannot gather in entry '%s' of model '%s': code %d",
                static_cast<long long>(session.host.rank), static_cast<long long>(session.model->ranks.count), entry.name,
                session.model->desc->name, session.gatherError);
  if (code)
    return fail(ATTUNE_INTERNAL, "entry '%s' of model '%s' failed with code %d", entry.name, session.model->desc->name, code);
  return ATTUNE_OK;
}

/// Checks a call of |entry|, sets tables.dims, and points |tables| at the inputs and outputs of the call.
static attune_status bindCall(attune_session &session, const attune_entry_desc &entry, TensorList inputs, TensorList outputs,
                              EntryTables &tables) {
  ATTUNE_TRY(inferDims(entry, inputs, tables.dims));
  ATTUNE_TRY(checkLimits(entry, tables.dims, tables.limits, "session"));
  ATTUNE_TRY(bindInputs(session, entry, inputs, tables));
  ATTUNE_TRY(bindRows(entry, session.caches, tables));
  ATTUNE_TRY(checkOutputs(entry, tables.dims, inputs, outputs));
  return bindOutputs(session, entry, outputs, tables);
}

/// Checks and runs a call of |entry|, and records the tokens that the call has written to the caches. The device of the
/// session, if it has one, must be current.
static attune_status runChecked(attune_session &session, const attune_entry_desc &entry, TensorList inputs, TensorList outputs) {
  const attune_model_desc &desc = *session.model->desc;
  EntryTables &tables = session.entries[&entry - desc.entries];
  Caches &caches = session.caches;
  attune_status checked = bindCall(session, entry, inputs, outputs, tables);
  if (checked != ATTUNE_OK && session.model->ranks.count <= 1)
    return checked;
  attune_call call{session.model->weights.data(),
                   session.workspace,
                   desc.num_caches ? caches.memory : nullptr,
                   caches.stateDims,
                   tables.dims,
                   tables.inputs,
                   tables.outputs};
  if (session.model->ranks.count > 1)
    ATTUNE_TRY(agreeOnCall(session.model->ranks, desc, entry, call, checked));
  beginRows(entry, caches, tables);
  ATTUNE_TRY(session.onDevice ? session.model->device->run(*session.onDevice, entry, call, tables) : runOnCpu(session, entry, call));
  commitRows(entry, caches, tables);
  return ATTUNE_OK;
}

attune_status attune::runEntry(attune_session &session, const char *name, TensorList inputs, TensorList outputs) {
  const attune_model_desc &desc = *session.model->desc;
  const attune_entry_desc *entry;
  ATTUNE_TRY(findEntry(desc, name, entry));
  DeviceScope scope;
  ATTUNE_TRY(enterDevice(session, scope));
  if (session.onDevice)
    ATTUNE_TRY(session.model->device->beginCall(*session.onDevice));
  return runChecked(session, *entry, inputs, outputs);
}

attune_status attune_session_run(attune_session *session, const char *entry, const attune_tensor *inputs, size_t num_inputs,
                                 const attune_tensor *outputs, size_t num_outputs) {
  SessionLock lock(session);
  ATTUNE_TRY(lock.tryLock());
  return runEntry(*session, entry, {inputs, num_inputs}, {outputs, num_outputs});
}
