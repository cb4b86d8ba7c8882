//===- Caches.h - Keys and values that a session keeps --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cache slots and their reuse. A decoder that continues a sequence reads the keys and values of all its earlier tokens,
// so the session keeps them. Sequences end, fork and come back in an order that only the caller knows; their tensors
// must not move in memory because of it.
//
// A session has `slots`, each with the tokens of one sequence so far, and `sources`, each with the keys and values of
// one encoded input, which cross attention reads. Every cache of the model (keys or values of one layer, or a mask) has
// memory for all slots or for all sources. The caches lie one after the other, those of slots first. Each slot has room
// for the same number of tokens, `capacity`, rounded up to whole panels of ATTUNE_CACHE_PANEL (64) tokens:
//
//   memory   | keys of layer 0 | values of layer 0 | keys of layer 1 | ... | keys of sources | values of sources | ...
//            |    slots        |      slots        |
//             \ 0 | 1 | 2 | 3 /
//
//   one slot of a cache of keys                             one slot of a cache of values
//   head 0   | panel 0     | panel 1     | ...              head 0   | token 0 | token 1 | ... | token capacity - 1 |
//   head 1   | [size x 64] | [size x 64] | ...              head 1   | [size]  | [size]  |
//
// Elements are f32, bf16 or f16, or 8-bit integers, where an f32 scale for each key and value follows: 64 scales at the
// end of each panel of keys, one at the end of each value.
//
// A row of a call is one sequence. The input `slots` maps rows to slots (row i to slot i if it is omitted), and no two
// rows share a slot. Entries append the keys and values of the new tokens at lengths[slot]. So a sequence that ends
// leaves the batch without a copy, and a sequence that forks costs one copy of its slot. Several slots may read one
// source, sourceOf[slot].
//
//             slot 0            slot 1            slot 2            slot 3
//   tokens    [a b c d e . . .] [a b x . . . . .] [. . . . . . . .] [q r s t . . . .]         ids, as long as they are known
//   lengths    5                 3                 0                 4
//   decode of rows 0, 1 with slots = [3, 0]: row 0 is appended at position 4 of slot 3, row 1 at position 5 of slot 0
//   truncate of slot 0 to 2: [a b] stays and can be continued in another way; nothing is written
//
// `tokens` is the record that makes reuse possible: a new prompt that begins with the ids of a slot needs no
// computation for them (generation/PromptCache.h chooses the slot). A token whose keys and values do not follow from
// the ids is recorded as unknownToken, which equals no id.
//
// Invariants. Positions below lengths[slot] of every layer belong to the same sequence; positions from there on are
// undefined, and no result depends on them. Compiled entries write keys, values and masks; the host changes lengths and
// tokens, and only after the call has succeeded (bindRows, then the call, then commitRows), so a call that fails leaves
// each slot as it was. A source is emptied before its call (beginRows), since its keys are overwritten from the first on. A
// copy or write of several layers sets the length to 0 first: if it fails half way, the slot is
// empty and not mixed.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CACHES_H
#define ATTUNE_RUNTIME_CACHES_H

#include "Descriptor.h"
#include "Signature.h"

namespace attune {

struct EntryTables;

/// The numbers of slots and sources of a session, and their capacities.
struct CacheSizes {
  int64_t slots = 0, capacity = 0; ///< the capacity of a slot in tokens is the limit of "past"
  int64_t sources = 0, sourceCapacity = 0;
};

/// The slots and sources of a session.
struct Caches {
  CacheSizes sizes;
  int64_t stateDims[4];   ///< attune_call::state_dims
  int64_t *lengths;       ///< [slots], in tokens
  int64_t *tokens;        ///< [slots, capacity], the id of each token, or unknownToken
  int64_t *sourceOf;      ///< [slots], the source that each slot reads
  int64_t *sourceLengths; ///< [sources], in tokens
  int64_t *marks;         ///< [max(slots, sources)], number of the last check that met it; finds those that a call names twice
  int64_t calls;          ///< number of these checks so far
  char *memory;           ///< the caches, one after the other; null if the model has none; GPU memory for a model on a GPU
};

/// The record of a token whose keys and values are not known to follow from the ids up to it: the caller gave
/// embeddings, positions, or ids in device memory, or wrote the cache, or the entry reads sources.
constexpr int64_t unknownToken = -1;

/// Returns the number of key panels for |capacity| tokens.
inline int64_t cachePanels(int64_t capacity) { return (capacity + ATTUNE_CACHE_PANEL - 1) / ATTUNE_CACHE_PANEL; }

/// Sets |out| to the size in bytes of all caches of |desc|; returns false if it overflows.
bool cacheBytes(const attune_model_desc &desc, const CacheSizes &sizes, uint64_t &out);
/// Sets the sizes of |caches| and empties all slots and sources. The pointers of |caches| must be set.
void initCaches(Caches &caches, const CacheSizes &sizes);

/// Finds the slots, sources and lengths of a call's rows, points |tables|.inputs at them, and sets the dims that come
/// from the caches ("past", "source_length"). Changes nothing of |caches| but marks and calls. Fails with
/// INVALID_ARGUMENT or LIMIT_EXCEEDED.
attune_status bindRows(const attune_entry_desc &entry, Caches &caches, EntryTables &tables);
/// Empties the sources that a call of |entry| is about to overwrite: if the call fails, they may be overwritten in
/// part.
void beginRows(const attune_entry_desc &entry, Caches &caches, const EntryTables &tables);
/// Records the tokens that a successful call has written, and with them the lengths of slots and sources and the source
/// that each slot reads.
void commitRows(const attune_entry_desc &entry, Caches &caches, const EntryTables &tables);

/// The memory of one cache.
struct CacheView {
  char *data;
  int64_t slotBytes; ///< bytes from one slot, or source, to the next
};
/// Returns the number of bytes from the beginning of one head of a slot of |cache| that hold its first |length|
/// tokens; keys occupy whole panels.
int64_t usedBytes(const attune_cache_desc &cache, int64_t length);
/// Returns the memory of cache number |index| of |desc|.
CacheView findCache(const attune_model_desc &desc, const Caches &caches, uint32_t index);

} // namespace attune

#endif // ATTUNE_RUNTIME_CACHES_H
