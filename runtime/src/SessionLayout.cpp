//===- SessionLayout.cpp - Sizing and laying out a session's memory -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function walks the parts of a session. It runs once without memory, to add up sizes, and once with it, to place
// them: the two can't disagree.
//===----------------------------------------------------------------------===//

#include "Error.h"
#include "Session.h"

#include <cstring>
#include <new>

using namespace attune;

namespace {
/// Hands out consecutive pieces of memory, or only counts them if there is none.
class Pieces {
public:
  explicit Pieces(void *base) : base(static_cast<char *>(base)) {}
  template <typename T>
  T *take(uint64_t count) {
    return static_cast<T *>(takeBytes(count * sizeof(T)));
  }
  void *takeBytes(uint64_t bytes) {
    // Everything is aligned alike: simple, and no two pieces share a cache line.
    used = (used + ATTUNE_ALIGNMENT - 1) / ATTUNE_ALIGNMENT * ATTUNE_ALIGNMENT;
    void *piece = base ? base + used : nullptr;
    if (__builtin_add_overflow(used, bytes, &used) || used > INT64_MAX / 2)
      overflow = true, used = 0;
    return piece;
  }
  uint64_t used = 0;
  bool overflow = false;

private:
  char *base;
};
} // namespace

void attune::writeDefault(const attune_tensor_desc &tensor, const int64_t *dims, void *data) {
  int64_t row = tensor.rank ? tensorSize(tensor, tensor.rank - 1, dims) : 1;
  uint64_t bytes = 0;
  tensorBytes(tensor, dims, bytes);
  int64_t count = bytes / attune_dtype_bytes(static_cast<attune_dtype>(tensor.dtype));
  auto fill = [&](auto *out) {
    for (int64_t i = 0, column = 0; i < count; ++i, column = column + 1 < row ? column + 1 : 0)
      out[i] = tensor.fill == ATTUNE_FILL_ARANGE ? column : tensor.fill == ATTUNE_FILL_ONES || tensor.fill == ATTUNE_FILL_TOKENS;
  };
  if (tensor.dtype == ATTUNE_I64)
    fill(static_cast<int64_t *>(data));
  else
    fill(static_cast<float *>(data));
}

/// Places room for the I64 inputs of |entry| that a caller may give as I32, into |widened| [num_inputs] unless it is null.
static void placeWidened(const attune_entry_desc &entry, const SessionPlan &plan, Pieces &pieces, int64_t **widened) {
  int64_t limits[ATTUNE_MAX_DIMS];
  resolveLimits(entry, plan, limits);
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    const attune_tensor_desc &input = entry.inputs[i];
    bool isGiven = input.fill != ATTUNE_FILL_PAST_LENGTHS && input.fill != ATTUNE_FILL_SOURCE_LENGTHS;
    uint64_t bytes = 0;
    if (input.dtype == ATTUNE_I64 && isGiven && !tensorBytes(input, limits, bytes))
      bytes = UINT64_MAX; // makes |pieces| overflow
    void *data = bytes ? pieces.takeBytes(bytes) : nullptr;
    if (widened)
      widened[i] = static_cast<int64_t *>(data);
  }
}

/// The bytes of the largest area that placeWidened fills for an entry: a session runs one at a time.
static uint64_t widenedBytes(const attune_model_desc &desc, const SessionPlan &plan) {
  uint64_t most = 0;
  for (uint32_t e = 0; e < desc.num_entries; ++e) {
    Pieces pieces(nullptr);
    placeWidened(desc.entries[e], plan, pieces, nullptr);
    uint64_t bytes = pieces.overflow ? UINT64_MAX : pieces.used;
    most = bytes > most ? bytes : most;
  }
  return most;
}

/// Places one entry's tables and defaults; |device| is null on a CPU, |widened| is the area that placeWidened fills.
static void placeEntry(const attune_entry_desc &entry, const SessionPlan &plan, Pieces &pieces, Pieces *device, void *widened,
                       EntryTables *tables) {
  EntryTables placed{};
  placed.limits = pieces.take<int64_t>(entry.num_dims);
  placed.dims = pieces.take<int64_t>(entry.num_dims);
  placed.inputs = pieces.take<const void *>(entry.num_inputs);
  placed.outputs = pieces.take<void *>(entry.num_outputs);
  placed.defaults = pieces.take<void *>(entry.num_inputs);
  placed.widened = pieces.take<int64_t *>(entry.num_inputs);
  if (device) {
    placed.deviceInputs = pieces.take<const void *>(entry.num_inputs);
    placed.deviceOutputs = pieces.take<void *>(entry.num_outputs);
    placed.deviceDefaults = pieces.take<void *>(entry.num_inputs);
    placed.inputsOnDevice = pieces.take<bool>(entry.num_inputs);
    placed.outputsOnDevice = pieces.take<bool>(entry.num_outputs);
  }
  int64_t limits[ATTUNE_MAX_DIMS];
  resolveLimits(entry, plan, limits);
  if (tables) {
    memcpy(placed.limits, limits, entry.num_dims * sizeof(int64_t));
    Pieces area(widened);
    placeWidened(entry, plan, area, placed.widened);
  }
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    void *data = nullptr, *copy = nullptr;
    if (entry.inputs[i].fill != ATTUNE_FILL_REQUIRED) {
      uint64_t bytes;
      if (!tensorBytes(entry.inputs[i], limits, bytes))
        bytes = UINT64_MAX; // makes |pieces| overflow
      data = pieces.takeBytes(bytes);
      copy = device ? device->takeBytes(bytes) : nullptr;
      if (data)
        writeDefault(entry.inputs[i], limits, data);
    }
    if (tables)
      placed.defaults[i] = data;
    if (tables && device)
      placed.deviceDefaults[i] = copy;
  }
  if (tables)
    *tables = placed;
}

/// Places the caches in |large| and what is known of them in |pieces|.
static void placeCaches(const SessionPlan &plan, Pieces &pieces, Pieces &large, Caches *caches) {
  const CacheSizes &sizes = plan.caches;
  Caches placed{};
  placed.lengths = pieces.take<int64_t>(sizes.slots);
  placed.tokens = pieces.take<int64_t>(static_cast<uint64_t>(sizes.slots) * static_cast<uint64_t>(sizes.capacity));
  placed.sourceOf = pieces.take<int64_t>(sizes.slots);
  placed.sourceLengths = pieces.take<int64_t>(sizes.sources);
  placed.marks = pieces.take<int64_t>(sizes.slots > sizes.sources ? sizes.slots : sizes.sources);
  placed.memory = static_cast<char *>(large.takeBytes(plan.cacheBytes));
  if (!caches)
    return;
  *caches = placed;
  initCaches(*caches, sizes);
}

/// Places everything in |pieces|, but caches and workspace in |device| if there is one; returns null if they only count.
static attune_session *placeSession(const attune_model *model, const SessionPlan &plan, Pieces &pieces, Pieces *device) {
  void *self = pieces.takeBytes(sizeof(attune_session));
  attune_session *session = self ? new (self) attune_session() : nullptr;
  EntryTables *tables = pieces.take<EntryTables>(model->desc->num_entries);
  void *widened = pieces.takeBytes(widenedBytes(*model->desc, plan));
  for (uint32_t e = 0; e < model->desc->num_entries; ++e)
    placeEntry(model->desc->entries[e], plan, pieces, device, widened, tables ? &tables[e] : nullptr);
  Pieces &large = device ? *device : pieces;
  placeCaches(plan, pieces, large, session ? &session->caches : nullptr);
  void *pool = pieces.takeBytes(plan.options.host || device ? 0 : Pool::bytes(plan.workers));
  void *workspace = large.takeBytes(plan.workspaceBytes);
  if (session) {
    session->entries = tables;
    session->poolMemory = pool;
    session->workspace = workspace;
  }
  return session;
}

attune_session *attune::layOutSession(const attune_model *model, const SessionPlan &plan, void *memory, void *deviceMemory) {
  Pieces pieces(memory), device(deviceMemory);
  return placeSession(model, plan, pieces, model->desc->device == ATTUNE_DEVICE_CUDA ? &device : nullptr);
}

attune_status attune::measureSession(const attune_model *model, SessionPlan &plan) {
  Pieces pieces(nullptr), device(nullptr);
  placeSession(model, plan, pieces, model->desc->device == ATTUNE_DEVICE_CUDA ? &device : nullptr);
  plan.totalBytes = pieces.used;
  plan.deviceBytes = device.used;
  if (pieces.overflow || device.overflow)
    return fail(ATTUNE_LIMIT_EXCEEDED, "a session with these limits would need more memory than can be addressed");
  return ATTUNE_OK;
}
