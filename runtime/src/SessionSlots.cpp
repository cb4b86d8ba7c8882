//===- SessionSlots.cpp - Functions of the C API on a session's caches ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, writes, copies and truncates slots; Caches.h shows their layout. Tensors of the caller are dense, [rows,
// heads, length, head size]. In a slot of keys, the tokens of a panel are adjacent for each component instead. Each
// slot is converted token by token (CacheElements.h) in host memory: in place on a CPU, in a copy of the slot for a
// GPU. Below, k10 is component 0 of the key of token 1:
//
//   tensor, one row and head                 slot of keys, same head                slot of values, same head
//   token 0     k00 k01 k02 ...              panel 0    k00 k10 k20 ... (64)        v00 v01 v02 ...
//   token 1     k10 k11 k12 ...     <->                 k01 k11 k21 ...      or     v10 v11 v12 ...
//   token 2     k20 k21 k22 ...                         k02 k12 k22 ...             v20 v21 v22 ...
//===----------------------------------------------------------------------===//

#include "CacheElements.h"
#include "Descriptor.h"
#include "Error.h"
#include "FpEnvironment.h"
#include "Session.h"

#include <cstdlib>
#include <cstring>

using namespace attune;

using Long = long long; // the type of %lld

namespace {
/// One slot of a cache in host memory: the memory of the cache itself on a CPU, or a copy of the slot of a cache on a
/// device.
class SlotView {
public:
  SlotView(attune_session &session, const CacheView &view, int64_t slot)
      : session(session), home(view.data + slot * view.slotBytes), bytes(static_cast<size_t>(view.slotBytes)) {}
  ~SlotView() {
    if (data != home)
      free(data);
  }
  SlotView(const SlotView &) = delete;
  /// Makes |data| valid; copies the slot from the device if the session is on one.
  attune_status open() {
    data = home;
    if (!session.onDevice)
      return ATTUNE_OK;
    data = static_cast<char *>(malloc(bytes));
    if (!data)
      return fail(ATTUNE_OUT_OF_MEMORY, "no memory for %zu bytes of a cache", bytes);
    DeviceScope scope;
    ATTUNE_TRY(enterDevice(session, scope));
    return session.model->device->download(*session.onDevice, data, home, bytes);
  }
  /// Copies |data| back to the cache on the device; does nothing on a CPU.
  attune_status store() {
    if (!session.onDevice)
      return ATTUNE_OK;
    DeviceScope scope;
    ATTUNE_TRY(enterDevice(session, scope));
    return session.model->device->upload(*session.onDevice, home, data, bytes);
  }
  char *data = nullptr;

private:
  attune_session &session;
  char *home;
  size_t bytes;
};

/// A tensor of the caller, and the cache that it is copied from or to.
struct CacheAccess {
  const attune_cache_desc *cache;
  CacheView view;
  float *data;
  int64_t rows, length;
};
} // namespace

/// Fails with INVALID_ARGUMENT if the stream of |session| is being captured: a graph cannot contain |what| ("copying a
/// slot"). Does nothing on a CPU.
static attune_status refuseCapture(const attune_session &session, const char *what) {
  DeviceScope scope;
  ATTUNE_TRY(enterDevice(session, scope));
  return session.onDevice ? session.model->device->refuseCapture(*session.onDevice, what) : ATTUNE_OK;
}

/// Checks that the session has slot number |slot|.
static attune_status checkSlot(const Caches &caches, int64_t slot) {
  if (slot < 0 || slot >= caches.sizes.slots)
    return fail(ATTUNE_INVALID_ARGUMENT, "slot %lld, the session has 0 to %lld", Long(slot), Long(caches.sizes.slots - 1));
  return ATTUNE_OK;
}

int64_t attune_session_num_slots(const attune_session *session) { return session ? session->caches.sizes.slots : 0; }

int64_t attune_session_slot_length(const attune_session *session, int64_t slot) {
  return session && slot >= 0 && slot < session->caches.sizes.slots ? session->caches.lengths[slot] : -1;
}

attune_status attune_session_slot_truncate(attune_session *session, int64_t slot, int64_t length) {
  SessionLock lock(session);
  ATTUNE_TRY(lock.tryLock());
  Caches &caches = session->caches;
  ATTUNE_TRY(checkSlot(caches, slot));
  if (length < 0 || length > caches.lengths[slot])
    return fail(ATTUNE_INVALID_ARGUMENT, "slot %lld has %lld tokens, cannot keep %lld", Long(slot), Long(caches.lengths[slot]),
                Long(length));
  caches.lengths[slot] = length;
  if (length == 0)
    caches.sourceOf[slot] = slot < caches.sizes.sources ? slot : 0;
  return ATTUNE_OK;
}

attune_status attune_session_slot_copy(attune_session *session, int64_t from, int64_t to) {
  SessionLock lock(session);
  ATTUNE_TRY(lock.tryLock());
  ATTUNE_TRY(checkSlot(session->caches, from));
  ATTUNE_TRY(checkSlot(session->caches, to));
  ATTUNE_TRY(refuseCapture(*session, "copying a slot"));
  return from != to ? copySlot(*session, from, to) : ATTUNE_OK;
}

attune_status attune::copySlot(attune_session &session, int64_t from, int64_t to) {
  const attune_model_desc &desc = *session.model->desc;
  Caches &caches = session.caches;
  int64_t length = caches.lengths[from];
  DeviceScope scope;
  ATTUNE_TRY(enterDevice(session, scope));
  caches.lengths[to] = 0; // until all is copied, since the slot has keys of two sequences meanwhile
  for (uint32_t i = 0; i < desc.num_caches; ++i) {
    const attune_cache_desc &cache = desc.caches[i];
    if (cache.of_sources)
      continue;
    // The memory of one head of a slot is contiguous and filled from the beginning.
    CacheView view = findCache(desc, caches, i);
    int64_t stride = view.slotBytes / cache.heads;
    char *source = view.data + from * view.slotBytes, *target = view.data + to * view.slotBytes;
    auto bytes = static_cast<size_t>(usedBytes(cache, length));
    if (session.onDevice)
      ATTUNE_TRY(session.model->device->copyRows(*session.onDevice, target, source, bytes, static_cast<size_t>(stride),
                                                 static_cast<size_t>(cache.heads)));
    for (int64_t head = 0; !session.onDevice && head < cache.heads; ++head)
      memcpy(target + head * stride, source + head * stride, bytes);
  }
  memcpy(caches.tokens + to * caches.sizes.capacity, caches.tokens + from * caches.sizes.capacity,
         static_cast<size_t>(length) * sizeof(int64_t));
  caches.lengths[to] = length;
  caches.sourceOf[to] = caches.sourceOf[from];
  return ATTUNE_OK;
}

/// Finds the cache that |tensor| names, checks the type, shape and memory of |tensor|, and sets |access|. Fails with
/// LIMIT_EXCEEDED if the tensor is longer than a slot, or with INVALID_ARGUMENT.
static attune_status openCache(const attune_session &session, const attune_tensor &tensor, CacheAccess &access) {
  const attune_model_desc &desc = *session.model->desc;
  uint32_t index = 0;
  while (tensor.name && index < desc.num_caches && strcmp(desc.caches[index].name, tensor.name) != 0)
    ++index;
  if (!tensor.name || index == desc.num_caches)
    return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' has no cache '%s'", desc.name, tensor.name ? tensor.name : "(null)");
  const attune_cache_desc &cache = desc.caches[index];
  const CacheSizes &sizes = session.caches.sizes;
  uint32_t rank = cache.kind == ATTUNE_CACHE_MASK ? 2 : 4;
  int64_t rows = cache.of_sources ? sizes.sources : sizes.slots, capacity = cache.of_sources ? sizes.sourceCapacity : sizes.capacity;
  bool good = dtypeOf(tensor) == ATTUNE_F32 && tensor.rank == rank && tensor.shape && tensor.shape[0] >= 1 && tensor.shape[0] <= rows;
  if (good && rank == 4)
    good = tensor.shape[1] == cache.heads && tensor.shape[3] == cache.size;
  int64_t length = good ? tensor.shape[rank / 2] : 0;
  if (!good || length < 1 || length > capacity)
    return fail(good && length > capacity ? ATTUNE_LIMIT_EXCEEDED : ATTUNE_INVALID_ARGUMENT,
                "cache '%s' has at most %lld rows of %lld tokens, %lld heads of %lld, f32 of rank %u, but got %s %s", cache.name,
                Long(rows), Long(capacity), Long(cache.heads), Long(cache.size), rank, dtypeNameOf(tensor),
                formatShape(tensor.shape, tensor.rank).text);
  if (!tensor.data || tensor.bytes / sizeof(float) < static_cast<uint64_t>(tensor.shape[0] * cache.heads * length * cache.size))
    return fail(ATTUNE_INVALID_ARGUMENT, "'%s' has %zu bytes of data, too few for its shape %s", cache.name, tensor.data ? tensor.bytes : 0,
                formatShape(tensor.shape, tensor.rank).text);
  if (reinterpret_cast<uintptr_t>(tensor.data) % alignof(float))
    return fail(ATTUNE_INVALID_ARGUMENT, "'%s' has data at %p, expected a multiple of %zu", cache.name, tensor.data, alignof(float));
  access = {&cache, findCache(desc, session.caches, index), static_cast<float *>(tensor.data), tensor.shape[0], length};
  return ATTUNE_OK;
}

/// Sets |slot| to the slot or source of |row|: slots[row], or |row| if |slots| is null. Fails with INVALID_ARGUMENT if
/// the session has no such slot or source.
static attune_status chooseSlot(const attune_session &session, const CacheAccess &access, const int64_t *slots, int64_t row,
                                int64_t &slot) {
  slot = slots ? slots[row] : row;
  int64_t count = access.cache->of_sources ? session.caches.sizes.sources : session.caches.sizes.slots;
  if (slot < 0 || slot >= count)
    return fail(ATTUNE_INVALID_ARGUMENT, "row %lld is of slot %lld, the session has 0 to %lld", Long(row), Long(slot), Long(count - 1));
  return ATTUNE_OK;
}

/// Calls |visit|(dense, head, token) for each head and token of row |row|: |dense| points to the components of the
/// token in the caller's tensor, |head| to the memory of the head in the slot that begins at |slot|.
template <typename Visit>
static void forEachToken(const CacheAccess &access, int64_t row, char *slot, Visit visit) {
  const attune_cache_desc &cache = *access.cache;
  float *dense = access.data + row * cache.heads * access.length * cache.size;
  int64_t stride = access.view.slotBytes / cache.heads;
  for (int64_t head = 0; head < cache.heads; ++head, slot += stride)
    for (int64_t token = 0; token < access.length; ++token, dense += cache.size)
      visit(dense, slot, token);
}

attune_status attune_session_cache_read(attune_session *session, const int64_t *slots, const attune_tensor *tensor) {
  SessionLock lock(session);
  ATTUNE_TRY(lock.tryLock());
  if (!tensor)
    return fail(ATTUNE_INVALID_ARGUMENT, "the tensor is null");
  CacheAccess access;
  ATTUNE_TRY(openCache(*session, *tensor, access));
  ATTUNE_TRY(refuseCapture(*session, "reading a cache"));
  FpEnvironmentScope conversions;
  for (int64_t row = 0, slot; row < access.rows; ++row) {
    ATTUNE_TRY(chooseSlot(*session, access, slots, row, slot));
    int64_t length = (access.cache->of_sources ? session->caches.sourceLengths : session->caches.lengths)[slot];
    if (access.length > length)
      return fail(ATTUNE_INVALID_ARGUMENT, "'%s' of row %lld: slot %lld has %lld tokens, cannot read %lld", tensor->name, Long(row),
                  Long(slot), Long(length), Long(access.length));
  }
  for (int64_t row = 0; row < access.rows; ++row) {
    SlotView slot(*session, access.view, slots ? slots[row] : row);
    ATTUNE_TRY(slot.open());
    forEachToken(access, row, slot.data, [&](float *dense, char *head, int64_t token) { loadToken(*access.cache, head, token, dense); });
  }
  return ATTUNE_OK;
}

/// Checks the |tensors| of attune_session_cache_write: each fits its cache, no cache is given twice, and the session
/// has all |slots|. The tensors that name caches of sequences must agree in rows and length and, if there are any,
/// include the keys and values of all layers. The same holds for the tensors that name caches of sources.
static attune_status checkWrite(const attune_session &session, const int64_t *slots, const attune_tensor *tensors, size_t count) {
  const attune_model_desc &desc = *session.model->desc;
  CacheAccess first[2];
  bool present[2] = {};
  for (size_t i = 0; i < count; ++i) {
    CacheAccess access;
    ATTUNE_TRY(openCache(session, tensors[i], access));
    CacheAccess &same = first[access.cache->of_sources];
    bool isFirst = !present[access.cache->of_sources];
    if (isFirst)
      same = access;
    present[access.cache->of_sources] = true;
    if (same.rows != access.rows || same.length != access.length)
      return fail(ATTUNE_INVALID_ARGUMENT, "'%s' has %lld rows of %lld tokens, '%s' %lld of %lld", access.cache->name, Long(access.rows),
                  Long(access.length), same.cache->name, Long(same.rows), Long(same.length));
    for (size_t j = 0; j < i; ++j)
      if (strcmp(tensors[j].name, tensors[i].name) == 0)
        return fail(ATTUNE_INVALID_ARGUMENT, "cache '%s' is given twice", tensors[i].name);
    for (int64_t row = 0, slot; row < access.rows; ++row) {
      ATTUNE_TRY(chooseSlot(session, access, slots, row, slot));
      for (int64_t other = 0; isFirst && slots && other < row; ++other)
        if (slots[other] == slot)
          return fail(ATTUNE_INVALID_ARGUMENT, "rows %lld and %lld of '%s' have the same slot, %lld", Long(other), Long(row),
                      access.cache->name, Long(slot));
    }
  }
  for (uint32_t c = 0; c < desc.num_caches; ++c) {
    const attune_cache_desc &cache = desc.caches[c];
    bool found = cache.kind == ATTUNE_CACHE_MASK || !present[cache.of_sources];
    for (size_t i = 0; i < count && !found; ++i)
      found = strcmp(tensors[i].name, cache.name) == 0;
    if (!found)
      return fail(ATTUNE_INVALID_ARGUMENT, "cache '%s' is missing: keys and values of all layers belong together", cache.name);
  }
  return ATTUNE_OK;
}

/// Sets the lengths of the slots and sources that the checked |tensors| fill: to the lengths of the tensors, or to 0 if
/// |areEmpty|. Records the tokens of these slots as unknown.
static attune_status setLengths(attune_session &session, const int64_t *slots, const attune_tensor *tensors, size_t count, bool areEmpty) {
  Caches &caches = session.caches;
  for (size_t i = 0; i < count; ++i) {
    CacheAccess access;
    ATTUNE_TRY(openCache(session, tensors[i], access));
    for (int64_t row = 0; row < access.rows; ++row) {
      int64_t slot = slots ? slots[row] : row;
      (access.cache->of_sources ? caches.sourceLengths : caches.lengths)[slot] = areEmpty ? 0 : access.length;
      for (int64_t token = 0; !access.cache->of_sources && token < access.length; ++token)
        caches.tokens[slot * caches.sizes.capacity + token] = unknownToken;
    }
  }
  return ATTUNE_OK;
}

attune_status attune_session_cache_write(attune_session *session, const int64_t *slots, const attune_tensor *tensors, size_t num_tensors) {
  SessionLock lock(session);
  ATTUNE_TRY(lock.tryLock());
  if (num_tensors && !tensors)
    return fail(ATTUNE_INVALID_ARGUMENT, "%zu tensors given but their array is null", num_tensors);
  ATTUNE_TRY(checkWrite(*session, slots, tensors, num_tensors));
  ATTUNE_TRY(refuseCapture(*session, "writing caches"));
  FpEnvironmentScope conversions;
  Caches &caches = session->caches;
  const attune_model_desc &desc = *session->model->desc;
  // Until all copies have succeeded, a slot may have keys and values of two sequences, so its length is 0.
  ATTUNE_TRY(setLengths(*session, slots, tensors, num_tensors, /*areEmpty=*/true));
  // All masks of these slots and sources become zeros first; the loop below overwrites those that are among |tensors|.
  for (uint32_t c = 0; c < desc.num_caches; ++c)
    for (size_t i = 0; i < num_tensors; ++i) {
      CacheAccess access;
      ATTUNE_TRY(openCache(*session, tensors[i], access));
      if (desc.caches[c].kind != ATTUNE_CACHE_MASK || desc.caches[c].of_sources != access.cache->of_sources)
        continue;
      CacheView view = findCache(desc, caches, c);
      for (int64_t row = 0; row < access.rows; ++row) {
        SlotView slot(*session, view, slots ? slots[row] : row);
        ATTUNE_TRY(slot.open());
        memset(slot.data, 0, static_cast<size_t>(access.length) * sizeof(float));
        ATTUNE_TRY(slot.store());
      }
      break;
    }
  for (size_t i = 0; i < num_tensors; ++i) {
    CacheAccess access;
    ATTUNE_TRY(openCache(*session, tensors[i], access));
    for (int64_t row = 0; row < access.rows; ++row) {
      SlotView slot(*session, access.view, slots ? slots[row] : row);
      ATTUNE_TRY(slot.open());
      forEachToken(access, row, slot.data,
                   [&](float *dense, char *head, int64_t token) { storeToken(*access.cache, head, token, dense); });
      ATTUNE_TRY(slot.store());
    }
  }
  return setLengths(*session, slots, tensors, num_tensors, /*areEmpty=*/false);
}
