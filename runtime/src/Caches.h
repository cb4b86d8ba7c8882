//===- Caches.h - Keys and values that a session keeps --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session has slots, each the tokens of one sequence so far, and sources, each the keys and values that cross attention
// reads. Which rows of a call are in which slots is the caller's choice; how many tokens are in each is known here.
// Compiled entries write keys, values and masks; lengths change only when a call has succeeded.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CACHES_H
#define ATTUNE_RUNTIME_CACHES_H

#include "Descriptor.h"
#include "Signature.h"

namespace attune {

struct EntryTables;

/// The numbers of slots and sources of a session and their capacities.
struct CacheSizes {
  int64_t slots = 0, capacity = 0; ///< capacity in tokens, the limit of "past"
  int64_t sources = 0, sourceCapacity = 0;
};

/// The slots and sources of a session.
struct Caches {
  CacheSizes sizes;
  int64_t stateDims[4];   ///< as in attune_call
  int64_t *lengths;       ///< [slots]
  int64_t *tokens;        ///< [slots, capacity], the ids that each slot was filled with, or unknownToken
  int64_t *sourceOf;      ///< [slots]
  int64_t *sourceLengths; ///< [sources]
  int64_t *marks;         ///< [max(slots, sources)], to find rows that are named twice
  int64_t calls;          ///< the mark of the last call
  char *memory;           ///< null if the model has no caches; on the GPU for a model there
};

/// The mark of a token whose keys and values do not follow from the ids before it: embeddings, positions or sources of the caller's, caches
/// that were written.
constexpr int64_t unknownToken = -1;

/// Returns the number of key panels for |capacity| tokens.
inline int64_t cachePanels(int64_t capacity) { return (capacity + ATTUNE_CACHE_PANEL - 1) / ATTUNE_CACHE_PANEL; }

/// Computes the bytes of all caches of |desc|; returns false if they cannot be addressed.
bool cacheBytes(const attune_model_desc &desc, const CacheSizes &sizes, uint64_t &out);
/// Empties all slots and sources of |caches|, whose arrays have been placed.
void initCaches(Caches &caches, const CacheSizes &sizes);

/// Finds the slots, sources and lengths of a call's rows: points |tables|.inputs at them and sets the dims that the session knows. Nothing
/// of |caches| changes but marks. Fails with INVALID_ARGUMENT or LIMIT_EXCEEDED.
attune_status bindRows(const attune_entry_desc &entry, Caches &caches, EntryTables &tables);
/// Records the tokens that a successful call has written.
void commitRows(const attune_entry_desc &entry, Caches &caches, const EntryTables &tables);

/// The beginning of a cache in memory, and the size of one of its slots.
struct CachePlace {
  float *data;
  int64_t slotElements, panels;
};
/// Returns the elements that |length| tokens occupy in the part of a slot that belongs to one head of |cache|, from its beginning.
int64_t usedElements(const attune_cache_desc &cache, int64_t length);
/// Returns the place of cache number |index|.
CachePlace findCache(const attune_model_desc &desc, const Caches &caches, uint32_t index);

} // namespace attune

#endif // ATTUNE_RUNTIME_CACHES_H
