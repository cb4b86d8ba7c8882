//===- Caches.cpp - Keys and values that a session keeps ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Caches.h"
#include "CacheElements.h"
#include "EntryTables.h"
#include "Error.h"

#include <cstring>

using namespace attune;

using Long = long long; // the type of %lld

/// Returns the bytes of ATTUNE_CACHE_PANEL tokens in one slot of |cache|, of all heads.
static uint64_t panelBytes(const attune_cache_desc &cache) {
  return static_cast<uint64_t>(cache.heads) * static_cast<uint64_t>(cacheTokenBytes(cache.dtype, cache.size)) * ATTUNE_CACHE_PANEL;
}

int64_t attune_cache_token_bytes(const attune_cache_desc *cache) {
  return cache ? cache->heads * cacheTokenBytes(cache->dtype, cache->size) : 0;
}

bool attune::cacheBytes(const attune_model_desc &desc, const CacheSizes &sizes, uint64_t &out) {
  out = 0;
  for (uint32_t i = 0; i < desc.num_caches; ++i) {
    const attune_cache_desc &cache = desc.caches[i];
    uint64_t slots = cache.of_sources ? sizes.sources : sizes.slots;
    uint64_t panels = cachePanels(cache.of_sources ? sizes.sourceCapacity : sizes.capacity), bytes = panelBytes(cache);
    if (__builtin_mul_overflow(bytes, slots, &bytes) || __builtin_mul_overflow(bytes, panels, &bytes) ||
        __builtin_add_overflow(out, bytes, &out))
      return false;
  }
  return true;
}

CacheView attune::findCache(const attune_model_desc &desc, const Caches &caches, uint32_t index) {
  char *data = caches.memory;
  for (uint32_t i = 0;; ++i) {
    const attune_cache_desc &cache = desc.caches[i];
    int64_t slots = caches.stateDims[cache.of_sources ? 2 : 0], panels = caches.stateDims[cache.of_sources ? 3 : 1];
    int64_t bytes = static_cast<int64_t>(panelBytes(cache)) * panels;
    if (i == index)
      return {data, bytes};
    data += bytes * slots;
  }
}

void attune::initCaches(Caches &caches, const CacheSizes &sizes) {
  caches.sizes = sizes;
  int64_t dims[] = {sizes.slots, cachePanels(sizes.capacity), sizes.sources, cachePanels(sizes.sourceCapacity)};
  memcpy(caches.stateDims, dims, sizeof(dims));
  for (int64_t slot = 0; slot < sizes.slots; ++slot) {
    caches.lengths[slot] = 0;
    caches.sourceOf[slot] = slot < sizes.sources ? slot : 0;
  }
  for (int64_t source = 0; source < sizes.sources; ++source)
    caches.sourceLengths[source] = 0;
  for (int64_t i = 0; i < sizes.slots || i < sizes.sources; ++i)
    caches.marks[i] = 0;
  caches.calls = 0;
}

namespace {
/// The inputs of an entry about the rows of a call: slots, sources and lengths in memory of the session, each null if
/// the entry lacks it, and the mask of the tokens.
struct RowInputs {
  int64_t *slots = nullptr, *sources = nullptr, *pastLengths = nullptr, *sourceLengths = nullptr;
  const int64_t *tokens = nullptr; ///< [rows, length], 0 where the entry skips a token; null if it appends all
  int64_t rows, length;

  RowInputs(const attune_entry_desc &entry, const EntryTables &tables)
      : rows(tensorSize(entry.inputs[0], 0, tables.dims)), length(tensorSize(entry.inputs[0], 1, tables.dims)) {
    for (uint32_t i = 0; i < entry.num_inputs; ++i) {
      int64_t *own = static_cast<int64_t *>(tables.defaults[i]);
      switch (entry.inputs[i].fill) {
      case ATTUNE_FILL_SLOTS:
        slots = own;
        break;
      case ATTUNE_FILL_SOURCES:
        sources = own;
        break;
      case ATTUNE_FILL_PAST_LENGTHS:
        pastLengths = own;
        break;
      case ATTUNE_FILL_SOURCE_LENGTHS:
        sourceLengths = own;
        break;
      case ATTUNE_FILL_TOKENS:
        tokens = static_cast<const int64_t *>(tables.inputs[i]);
        break;
      }
    }
  }

  /// Returns the number of tokens of |row| that the entry appends.
  int64_t countTokens(int64_t row) const {
    int64_t count = tokens ? 0 : length;
    for (int64_t i = 0; tokens && i < length; ++i)
      count += tokens[row * length + i] != 0;
    return count;
  }
};
} // namespace

/// Writes the slot or source of each row to |own|: the caller's |given| [rows], or |fallback|(row) if it is null. All
/// must be from 0 to |count| - 1; others fail with INVALID_ARGUMENT, or with LIMIT_EXCEEDED if |given| is null. If
/// |distinct| is true, two equal ones fail with INVALID_ARGUMENT. |what| ("slot", "source") is for messages.
template <typename Fallback>
static attune_status chooseRows(const int64_t *given, const char *what, int64_t rows, int64_t count, bool distinct, Caches &caches,
                                Fallback fallback, int64_t *own) {
  ++caches.calls;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t chosen = given ? given[row] : fallback(row);
    if (chosen < 0 || chosen >= count)
      return fail(given ? ATTUNE_INVALID_ARGUMENT : ATTUNE_LIMIT_EXCEEDED, "row %lld is in %s %lld, the session has 0 to %lld", Long(row),
                  what, Long(chosen), Long(count - 1));
    if (distinct && caches.marks[chosen] == caches.calls)
      return fail(ATTUNE_INVALID_ARGUMENT, "row %lld is in %s %lld, as an earlier row is", Long(row), what, Long(chosen));
    if (distinct)
      caches.marks[chosen] = caches.calls;
    own[row] = chosen;
  }
  return ATTUNE_OK;
}

/// Returns true if the caller gave input number |index| of the current call, false if its default is used.
static bool isGiven(const EntryTables &tables, uint32_t index) { return tables.inputs[index] != tables.defaults[index]; }

/// Returns the caller's values of the input of |entry| that has this fill, null if the caller omitted it or |entry| has
/// none.
static const int64_t *findByFill(const attune_entry_desc &entry, const EntryTables &tables, uint32_t fill) {
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (entry.inputs[i].fill == fill)
      return isGiven(tables, i) ? static_cast<const int64_t *>(tables.inputs[i]) : nullptr;
  return nullptr;
}

/// Sets the dims of |entry| that come from |origin| to |value|.
static void setDim(const attune_entry_desc &entry, uint32_t origin, int64_t value, int64_t *dims) {
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    if (entry.dims[d].origin == origin)
      dims[d] = value;
}

/// Checks that the mask of |row| leaves at least one token. Fails with INVALID_ARGUMENT.
static attune_status checkTokens(const RowInputs &own, int64_t row) {
  if (own.countTokens(row) == 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "row %lld has no token that is visible, expected at least one", Long(row));
  return ATTUNE_OK;
}

/// Finds the slot and the number of past tokens of each row, and sets the dim "past" to the largest number.
static attune_status bindSlots(const attune_entry_desc &entry, const int64_t *given, Caches &caches, EntryTables &tables, RowInputs &own) {
  ATTUNE_TRY(chooseRows(given, "slot", own.rows, caches.sizes.slots, true, caches, [](int64_t row) { return row; }, own.slots));
  int64_t past = 0;
  for (int64_t row = 0; row < own.rows; ++row) {
    int64_t slot = own.slots[row], length = caches.lengths[slot], tokens = own.countTokens(row);
    if (entry.cache_use == ATTUNE_CACHE_CONTINUE && length == 0)
      return fail(ATTUNE_INVALID_ARGUMENT, "slot %lld of row %lld is empty: '%s' continues what another entry has begun", Long(slot),
                  Long(row), entry.name);
    ATTUNE_TRY(checkTokens(own, row));
    if (length + tokens > caches.sizes.capacity)
      return fail(ATTUNE_LIMIT_EXCEEDED, "past is %lld with the new tokens of row %lld, the limit of the session is %lld",
                  Long(length + tokens), Long(row), Long(caches.sizes.capacity));
    own.pastLengths[row] = length;
    past = length > past ? length : past;
  }
  setDim(entry, ATTUNE_DIM_PAST, past, tables.dims);
  return ATTUNE_OK;
}

/// Finds the source of each row. Unless |entry| encodes, finds the lengths of the sources, too, and sets the dim
/// "source_length".
static attune_status bindSources(const attune_entry_desc &entry, const int64_t *given, Caches &caches, EntryTables &tables,
                                 RowInputs &own) {
  bool encodes = entry.cache_use == ATTUNE_CACHE_ENCODE;
  ATTUNE_TRY(chooseRows(
      given, "source", own.rows, caches.sizes.sources, encodes, caches,
      [&](int64_t row) { return encodes ? row : caches.sourceOf[own.slots[row]]; }, own.sources));
  if (encodes) {
    if (own.length > caches.sizes.sourceCapacity)
      return fail(ATTUNE_LIMIT_EXCEEDED, "source_length is %lld, the limit of the session is %lld", Long(own.length),
                  Long(caches.sizes.sourceCapacity));
    for (int64_t row = 0; row < own.rows; ++row)
      ATTUNE_TRY(checkTokens(own, row));
    return ATTUNE_OK;
  }
  int64_t longest = 0;
  for (int64_t row = 0; row < own.rows; ++row) {
    int64_t length = caches.sourceLengths[own.sources[row]];
    if (length == 0)
      return fail(ATTUNE_INVALID_ARGUMENT, "source %lld of row %lld is empty: run 'encode' first", Long(own.sources[row]), Long(row));
    own.sourceLengths[row] = length;
    longest = length > longest ? length : longest;
  }
  setDim(entry, ATTUNE_DIM_SOURCE_LENGTH, longest, tables.dims);
  return ATTUNE_OK;
}

attune_status attune::bindRows(const attune_entry_desc &entry, Caches &caches, EntryTables &tables) {
  if (entry.cache_use == ATTUNE_CACHE_UNUSED)
    return ATTUNE_OK;
  RowInputs own(entry, tables);
  const int64_t *slots = findByFill(entry, tables, ATTUNE_FILL_SLOTS), *sources = findByFill(entry, tables, ATTUNE_FILL_SOURCES);
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (entry.inputs[i].fill >= ATTUNE_FILL_SLOTS)
      tables.inputs[i] = tables.defaults[i];
  if (own.slots)
    ATTUNE_TRY(bindSlots(entry, slots, caches, tables, own));
  return own.sources ? bindSources(entry, sources, caches, tables, own) : ATTUNE_OK;
}

/// Returns the ids of the call, [rows, length], if they and the earlier ids determine the keys and values of its
/// tokens; null if they do not, or are in device memory.
static const int64_t *knownIds(const attune_entry_desc &entry, const EntryTables &tables, const RowInputs &own) {
  const attune_tensor_desc &ids = entry.inputs[0];
  bool known = ids.dtype == ATTUNE_I64 && ids.rank == 2 && !own.sources && !(tables.inputsOnDevice && tables.inputsOnDevice[0]);
  for (uint32_t i = 1; i < entry.num_inputs; ++i)
    known = known && (entry.inputs[i].fill >= ATTUNE_FILL_TOKENS || !isGiven(tables, i));
  return known ? static_cast<const int64_t *>(tables.inputs[0]) : nullptr;
}

/// Records the tokens of |row|, which the call has appended to |slot|; |ids| is [rows, length], or null if they are
/// unknown.
static void noteTokens(const RowInputs &own, const int64_t *ids, int64_t row, int64_t slot, Caches &caches) {
  int64_t *tokens = caches.tokens + slot * caches.sizes.capacity + caches.lengths[slot];
  for (int64_t i = row * own.length; i < (row + 1) * own.length; ++i)
    if (!own.tokens || own.tokens[i] != 0)
      *tokens++ = ids ? ids[i] : unknownToken;
}

void attune::beginRows(const attune_entry_desc &entry, Caches &caches, const EntryTables &tables) {
  if (entry.cache_use != ATTUNE_CACHE_ENCODE)
    return;
  RowInputs own(entry, tables);
  for (int64_t row = 0; row < own.rows; ++row)
    caches.sourceLengths[own.sources[row]] = 0;
}

void attune::commitRows(const attune_entry_desc &entry, Caches &caches, const EntryTables &tables) {
  if (entry.cache_use == ATTUNE_CACHE_UNUSED)
    return;
  RowInputs own(entry, tables);
  const int64_t *ids = knownIds(entry, tables, own);
  for (int64_t row = 0; row < own.rows; ++row) {
    if (entry.cache_use == ATTUNE_CACHE_ENCODE) {
      caches.sourceLengths[own.sources[row]] = own.countTokens(row);
      continue;
    }
    noteTokens(own, ids, row, own.slots[row], caches);
    caches.lengths[own.slots[row]] += own.countTokens(row);
    if (own.sources)
      caches.sourceOf[own.slots[row]] = own.sources[row];
  }
}

int64_t attune::usedBytes(const attune_cache_desc &cache, int64_t length) {
  int64_t tokens = cache.kind == ATTUNE_CACHE_KEYS ? cachePanels(length) * ATTUNE_CACHE_PANEL : length;
  return tokens * cacheTokenBytes(cache.dtype, cache.size);
}
