//===- Caches.h - Keys and values that a session keeps --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cache slots and their reuse. A decoder that continues a sequence reads the keys and values of all its earlier tokens,
// so the session keeps them. Sequences end, fork and come back in an order that only the caller knows; their tensors
// must not move in memory because of it.
//
// A session has `slots`, each for the tokens of one sequence so far, and `sources`, each for one encoded input, whose
// keys and values cross attention reads. Every cache of the model (keys or values of one layer, or a mask) has memory
// for all slots or for all sources. The caches lie one after the other, those of slots first. Each slot has memory for
// the same number of tokens, `capacity` rounded up to whole panels of ATTUNE_CACHE_PANEL (64) tokens:
//
//   memory   | keys of layer 0 | values of layer 0 | keys of layer 1 | ... | keys of sources | values of sources | ...
//            |    slots        |      slots        |
//             \ 0 | 1 | 2 | 3 /
//
//   one slot of a cache of keys                             one slot of a cache of values
//   head 0   | panel 0     | panel 1     | ...              head 0   | token 0 | token 1 | ... | token capacity - 1 |
//   head 1   | [size x 64] | [size x 64] | ...              head 1   | [size]  | [size]  |
//
// Elements of keys and values are f32, bf16 or f16, or 8-bit integers, with an f32 scale for each key and value: 64
// scales at the end of each panel of keys, one at the end of each value. Masks are f32.
//
// A row of a call is one sequence. The input `slots` maps rows to slots (row i to slot i if the input is omitted), and
// no two rows share a slot. Entries append the keys and values of the new tokens from position lengths[slot] on. So a
// sequence that ends leaves the batch without a copy, and a sequence that forks costs one copy of its slot. A slot
// reads the source sourceOf[slot]; several slots may read the same source.
//
//             slot 0            slot 1            slot 2            slot 3
//   tokens    [a b c d e . . .] [a b x . . . . .] [. . . . . . . .] [q r s t . . . .]         ids, as long as they are known
//   lengths    5                 3                 0                 4
//   decode of rows 0, 1 with slots = [3, 0]: row 0 is appended at position 4 of slot 3, row 1 at position 5 of slot 0
//   truncate of slot 0 to 2: [a b] stays and can be continued in another way; nothing is written
//
// `tokens` is the record that makes reuse possible: a new prompt that begins with the ids of a slot needs no
// computation for these ids (generation/PromptCache.h chooses the slot). A token whose keys and values do not follow
// from the ids is recorded as unknownToken, which equals no id.
//
// Invariants. In every layer, positions below lengths[slot] belong to the same sequence; positions from there on are
// undefined, and no result depends on them. Compiled entries write keys, values and masks. The runtime changes lengths
// and tokens, and only after the call of an entry has succeeded (bindRows, then the call, then commitRows), so a call
// that fails leaves each slot as it was. The runtime empties a source before the call that writes it (beginRows), since
// the call overwrites the source from the first key on. copySlot and attune_session_cache_write, which write several
// caches, set the length of a slot or source to 0 first: if they fail half way, it is empty and does not have tokens of
// two sequences.
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
  int64_t sources = 0, sourceCapacity = 0; ///< that of a source is the limit of "source_length"
};

/// The slots and sources of a session.
struct Caches {
  CacheSizes sizes;
  int64_t stateDims[4];   ///< attune_call::state_dims
  int64_t *lengths;       ///< [slots], in tokens
  int64_t *tokens;        ///< [slots, capacity], the id of each token, or unknownToken
  int64_t *sourceOf;      ///< [slots], the source that each slot reads
  int64_t *sourceLengths; ///< [sources], in tokens
  int64_t *marks;         ///< [max(slots, sources)], for each slot or source the number of the last check of rows in
                          ///< which it occurred, by which a check finds those that a call names twice
  int64_t calls;          ///< number of checks of rows so far
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

/// Finds the slots, sources and lengths of a call's rows, writes them to |tables|.defaults, points |tables|.inputs at
/// them, and sets the dims that come from the caches ("past", "source_length"). Changes nothing of |caches| but marks
/// and calls. Fails with INVALID_ARGUMENT or LIMIT_EXCEEDED.
attune_status bindRows(const attune_entry_desc &entry, Caches &caches, EntryTables &tables);
/// Empties the sources that a call of |entry| is about to overwrite, since a call that fails may have overwritten a
/// part of them. bindRows has succeeded for the call.
void beginRows(const attune_entry_desc &entry, Caches &caches, const EntryTables &tables);
/// Records the tokens that a successful call has appended to its slots, the new lengths of slots or sources, and the
/// source that each slot reads.
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
