//===- SessionPlan.cpp - Sizes and memory layout of a session -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the caller's options for a session, and derives workers, caches and workspace from them.
//===----------------------------------------------------------------------===//

#include "Error.h"
#include "Session.h"

#include <cstring>
#include <new>

using namespace attune;

/// The largest product that the limits of an entry's dimensions, except a total length, may have. It keeps workspace
/// formulae far from overflowing 64 bits.
static constexpr uint64_t maxPoints = uint64_t(1) << 40;

static attune_status failByPoints(const attune_entry_desc &entry) {
  return fail(ATTUNE_LIMIT_EXCEEDED, "the limits of entry '%s' multiply to more than 2^40: set lower ones", entry.name);
}

void attune::resolveLimits(const attune_entry_desc &entry, const SessionPlan &plan, int64_t *limits) {
  auto isTotal = [&](uint32_t d) { return entry.dims[d].origin == ATTUNE_DIM_TOTAL_LENGTH; };
  for (uint32_t d = 0; d < entry.num_dims; ++d) {
    limits[d] = entry.dims[d].max ? entry.dims[d].max : isTotal(d) ? INT64_MAX : 1;
    for (size_t i = 0; i < plan.options.num_limits; ++i)
      if (strcmp(plan.options.limits[i].name, entry.dims[d].name) == 0)
        limits[d] = plan.options.limits[i].max;
  }
  // A total length is at most the sum of the limits of "past" and "length".
  int64_t sum = totalLength(entry, limits);
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    if (isTotal(d) && limits[d] > sum)
      limits[d] = sum;
}

/// Checks one of the caller's limits against every entry that has the dimension.
static attune_status checkLimit(const attune_model_desc &desc, const attune_dim_limit &limit) {
  if (!limit.name)
    return fail(ATTUNE_INVALID_ARGUMENT, "a limit has no name");
  bool known = false;
  for (uint32_t e = 0; e < desc.num_entries; ++e) {
    for (uint32_t d = 0; d < desc.entries[e].num_dims; ++d) {
      const attune_dim_desc &dim = desc.entries[e].dims[d];
      if (strcmp(dim.name, limit.name) != 0)
        continue;
      known = true;
      if (limit.max < 1)
        return fail(ATTUNE_INVALID_ARGUMENT, "the limit of %s is %lld, at least 1 expected", limit.name, static_cast<long long>(limit.max));
      if (dim.max && limit.max > dim.max)
        return fail(ATTUNE_LIMIT_EXCEEDED, "the session's limit of %s is %lld, the model's is %lld", limit.name,
                    static_cast<long long>(limit.max), static_cast<long long>(dim.max));
      // Checked before limits are added up, because a sum of larger ones could overflow.
      if (static_cast<uint64_t>(limit.max) > maxPoints)
        return failByPoints(desc.entries[e]);
    }
  }
  if (!known)
    return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' has no dimension '%s' to limit", desc.name, limit.name);
  return ATTUNE_OK;
}

/// Sets plan.workers for a model on a device; to 1 before the model is loaded, when the number of workers is unknown.
/// The host memory of a session does not depend on this number. Fails with INVALID_ARGUMENT if the caller gave a host.
static attune_status planDeviceWorkers(const attune_model &model, SessionPlan &plan) {
  if (plan.options.host)
    return fail(ATTUNE_INVALID_ARGUMENT, "a host is given, but model '%s' runs on a GPU", model.desc->name);
  const DeviceModel *onDevice = model.onDevice.load(std::memory_order_acquire);
  plan.workers = onDevice ? onDevice->workers : 1;
  return ATTUNE_OK;
}

/// Checks the options num_threads, host and stream, and sets plan.workers.
static attune_status planWorkers(const attune_model &model, SessionPlan &plan) {
  const attune_session_options &options = plan.options;
  if (model.device)
    return planDeviceWorkers(model, plan);
  if (options.stream)
    return fail(ATTUNE_INVALID_ARGUMENT, "a stream is given, but model '%s' runs on the CPU", model.desc->name);
  if (const attune_host *host = options.host) {
    if (host->abi_version != ATTUNE_ABI_VERSION)
      return fail(ATTUNE_INCOMPATIBLE, "the host has ABI version %u, this runtime %u", host->abi_version, ATTUNE_ABI_VERSION);
    if (!host->parallel_for || host->num_workers < 1 || host->num_workers > ATTUNE_MAX_THREADS)
      return fail(ATTUNE_INVALID_ARGUMENT, "the host has %lld workers and %s parallel_for, 1 to %lld workers expected",
                  static_cast<long long>(host->num_workers), host->parallel_for ? "a" : "no", static_cast<long long>(ATTUNE_MAX_THREADS));
    if (options.num_threads)
      return fail(ATTUNE_INVALID_ARGUMENT, "num_threads is %lld but a host is given, which has its own threads",
                  static_cast<long long>(options.num_threads));
    plan.workers = host->num_workers;
    return ATTUNE_OK;
  }
  ATTUNE_TRY(chooseWorkers(options.num_threads, plan.workers));
  // By default, ranks that share CPUs divide them.
  if (!options.num_threads && model.ranks.sharing > 1)
    plan.workers = plan.workers > model.ranks.sharing ? plan.workers / model.ranks.sharing : 1;
  return ATTUNE_OK;
}

/// Returns the limit under |plan| of the dimension of |entry| whose origin is |origin| (attune_dim_origin), 0 if
/// |entry| has no such dimension.
static int64_t limitOf(const attune_entry_desc &entry, const SessionPlan &plan, uint32_t origin) {
  int64_t limits[ATTUNE_MAX_DIMS];
  resolveLimits(entry, plan, limits);
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    if (entry.dims[d].origin == origin)
      return limits[d];
  return 0;
}

/// Sets plan.caches and plan.cacheBytes. There are as many slots and sources as the largest number of rows, at the
/// limits, of an entry that uses them. A slot has room for as many tokens as the limit of "past", a source for as many
/// as the limit of "source_length". Fails with LIMIT_EXCEEDED if the size overflows.
static attune_status planCaches(const attune_model_desc &desc, SessionPlan &plan) {
  auto raise = [](int64_t &size, int64_t to) { size = to > size ? to : size; };
  plan.caches = {};
  for (uint32_t e = 0; e < desc.num_entries; ++e) {
    const attune_entry_desc &entry = desc.entries[e];
    int64_t limits[ATTUNE_MAX_DIMS];
    resolveLimits(entry, plan, limits);
    for (uint32_t i = 0; i < entry.num_inputs; ++i) {
      const attune_tensor_desc &input = entry.inputs[i];
      if (input.fill == ATTUNE_FILL_SLOTS)
        raise(plan.caches.slots, tensorSize(input, 0, limits));
      if (input.fill == ATTUNE_FILL_SOURCES)
        raise(plan.caches.sources, tensorSize(input, 0, limits));
    }
    raise(plan.caches.capacity, limitOf(entry, plan, ATTUNE_DIM_PAST));
    raise(plan.caches.sourceCapacity, limitOf(entry, plan, ATTUNE_DIM_SOURCE_LENGTH));
  }
  if (!cacheBytes(desc, plan.caches, plan.cacheBytes))
    return fail(ATTUNE_LIMIT_EXCEEDED, "the caches of a session with these limits would need more memory than can be addressed");
  return ATTUNE_OK;
}

attune_status attune::planSession(const attune_model *model, const attune_session_options *options, SessionPlan &plan) {
  if (!model)
    return fail(ATTUNE_INVALID_ARGUMENT, "the model is null");
  attune_session_options_init(&plan.options);
  ATTUNE_TRY(copyOptions(&plan.options, sizeof(plan.options), options, "attune_session_options"));
  ATTUNE_TRY(planWorkers(*model, plan));
  if (plan.options.num_limits && !plan.options.limits)
    return fail(ATTUNE_INVALID_ARGUMENT, "%zu limits given but their array is null", plan.options.num_limits);
  for (size_t i = 0; i < plan.options.num_limits; ++i)
    ATTUNE_TRY(checkLimit(*model->desc, plan.options.limits[i]));
  ATTUNE_TRY(planCaches(*model->desc, plan));
  plan.workspaceBytes = 0;
  for (uint32_t e = 0; e < model->desc->num_entries; ++e) {
    const attune_entry_desc &entry = model->desc->entries[e];
    int64_t limits[ATTUNE_MAX_DIMS];
    resolveLimits(entry, plan, limits);
    uint64_t points = 1;
    for (uint32_t d = 0; d < entry.num_dims; ++d)
      if (entry.dims[d].origin != ATTUNE_DIM_TOTAL_LENGTH &&
          (__builtin_mul_overflow(points, static_cast<uint64_t>(limits[d]), &points) || points > maxPoints))
        return failByPoints(entry);
    // A formula of the compiler does not decrease when a dimension grows (attune_size_fn), so its value at the limits
    // is enough for every call.
    uint64_t bytes = entry.workspace_bytes(limits, plan.workers);
    plan.workspaceBytes = bytes > plan.workspaceBytes ? bytes : plan.workspaceBytes;
  }
  return measureSession(model, plan);
}

//===----------------------------------------------------------------------===//
// placeSession walks over the parts of a session. It runs once without memory, to add up sizes, and once with memory,
// to place the parts, so sizes and layout cannot disagree.
//===----------------------------------------------------------------------===//

namespace {
/// Hands out consecutive pieces of a block of memory. Without a block, returns null and only counts bytes. |overflow|
/// tells that the sizes are too large to add up.
class Pieces {
public:
  explicit Pieces(void *base) : base(static_cast<char *>(base)) {}
  template <typename T>
  T *take(uint64_t count) {
    return static_cast<T *>(takeBytes(count * sizeof(T)));
  }
  void *takeBytes(uint64_t bytes) {
    // Every piece begins at a multiple of ATTUNE_ALIGNMENT, so no two pieces share a cache line.
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

/// Places memory in |pieces| for I64 copies of the inputs of |entry| that a caller may give as I32. Writes the
/// addresses, null for other inputs, to |widened| [num_inputs] unless |widened| is null.
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

/// Returns the size in bytes of the largest area that placeWidened fills for an entry. All entries share one area,
/// because a session runs one entry at a time. Returns UINT64_MAX if the size overflows.
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

/// Places the tables and defaults of |entry| in |pieces|, and copies of the defaults in |device|, which is null on a
/// CPU. |widened| is the area for placeWidened. Writes the tables to |tables|, which is null while sizes are counted.
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

/// Places the caches in |large| and their lengths, tokens, sources and marks in |pieces|. Initializes |caches|, which
/// is null while sizes are counted.
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

/// Places all parts of a session in |pieces|. If |device| is not null, places the caches and the workspace in |device|
/// instead, and copies of the defaults, too. Returns null if |pieces| only counts.
static attune_session *placeSession(const attune_model *model, const SessionPlan &plan, Pieces &pieces, Pieces *device) {
  void *self = pieces.takeBytes(sizeof(attune_session));
  attune_session *session = self ? new (self) attune_session() : nullptr;
  EntryTables *tables = pieces.take<EntryTables>(model->desc->num_entries);
  void *widened = pieces.takeBytes(widenedBytes(*model->desc, plan));
  for (uint32_t e = 0; e < model->desc->num_entries; ++e)
    placeEntry(model->desc->entries[e], plan, pieces, device, widened, tables ? &tables[e] : nullptr);
  Pieces &large = device ? *device : pieces;
  placeCaches(plan, pieces, large, session ? &session->caches : nullptr);
  void *pool = pieces.takeBytes(plan.options.host || device ? 0 : getPoolBytes(plan.workers));
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
  return placeSession(model, plan, pieces, model->device ? &device : nullptr);
}

attune_status attune::measureSession(const attune_model *model, SessionPlan &plan) {
  Pieces pieces(nullptr), device(nullptr);
  placeSession(model, plan, pieces, model->device ? &device : nullptr);
  plan.totalBytes = pieces.used;
  plan.deviceBytes = device.used;
  if (pieces.overflow || device.overflow)
    return fail(ATTUNE_LIMIT_EXCEEDED, "a session with these limits would need more memory than can be addressed");
  return ATTUNE_OK;
}
