//===- PromptCache.cpp - Reuse of tokens that slots hold already ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PromptCache.h"
#include "../Error.h"

#include <algorithm>

using namespace attune;

using Long = long long; // the type of %lld

PromptCache::PromptCache(const GenerationPlan &plan, Caches &caches, Arena &arena) : plan(plan), caches(caches) {
  chosen = arena.take<int64_t>(plan.sequences);
  common = arena.take<int64_t>(plan.rows);
  taken = arena.take<uint8_t>(caches.sizes.slots);
  newIds = arena.take<int64_t>(plan.reuse ? plan.rows * plan.length : 0);
  newMask = arena.take<int64_t>(plan.reuse ? plan.rows * plan.length : 0);
}

bool PromptCache::isVisible(int64_t row, int64_t column) const {
  return !plan.mask || static_cast<const int64_t *>(plan.mask->data)[row * plan.length + column] != 0;
}

int64_t PromptCache::countVisible(int64_t row) const {
  int64_t count = 0;
  for (int64_t column = 0; column < plan.length; ++column)
    count += isVisible(row, column);
  return count;
}

/// Returns how many tokens at the beginning of |slot| agree with the visible tokens of |row|; 0 if the plan reuses
/// nothing. The token in the last column does not count, since the logits after it have to be computed.
int64_t PromptCache::countCommon(int64_t row, int64_t slot) const {
  if (!plan.reuse)
    return 0;
  const int64_t *ids = static_cast<const int64_t *>(plan.ids->data) + row * plan.length;
  const int64_t *tokens = caches.tokens + slot * caches.sizes.capacity;
  int64_t count = 0;
  for (int64_t column = 0; column + 1 < plan.length && count < caches.lengths[slot]; ++column) {
    if (!isVisible(row, column))
      continue;
    if (ids[column] != tokens[count])
      break;
    ++count;
  }
  return count;
}

attune_status PromptCache::takeGiven() {
  const int64_t *given = static_cast<const int64_t *>(plan.slots->data);
  for (int64_t row = 0; row < plan.rows; ++row) {
    int64_t slot = given[row];
    if (slot < 0 || slot >= caches.sizes.slots)
      return fail(ATTUNE_INVALID_ARGUMENT, "row %lld is in slot %lld, the session has 0 to %lld", Long(row), Long(slot),
                  Long(caches.sizes.slots - 1));
    if (taken[slot])
      return fail(ATTUNE_INVALID_ARGUMENT, "row %lld is in slot %lld, as an earlier row is", Long(row), Long(slot));
    taken[slot] = 1;
    chosen[row] = slot;
  }
  return ATTUNE_OK;
}

/// Gives each sequence without a slot the best of the free slots, the first of equally good ones.
void PromptCache::chooseSlots() {
  for (int64_t sequence = plan.slots ? plan.rows : 0; sequence < plan.sequences; ++sequence) {
    int64_t best = -1, bestGain = 0;
    for (int64_t slot = 0; slot < caches.sizes.slots; ++slot) {
      if (taken[slot])
        continue;
      int64_t saved = sequence < plan.rows ? countCommon(sequence, slot) : 0, lost = caches.lengths[slot] - saved;
      if (best < 0 || saved - lost > bestGain)
        best = slot, bestGain = saved - lost;
    }
    taken[best] = 1;
    chosen[sequence] = best;
  }
}

/// Writes the tokens after the common ones to |newIds| and |newMask|, padded on the left to |newLength|, the largest
/// number of such tokens in a row.
void PromptCache::collectTokens() {
  for (int64_t row = 0; row < plan.rows; ++row)
    newLength = std::max(newLength, countVisible(row) - common[row]);
  for (int64_t row = 0; row < plan.rows; ++row) {
    const int64_t *ids = static_cast<const int64_t *>(plan.ids->data) + row * plan.length;
    int64_t padding = newLength - (countVisible(row) - common[row]), skipped = 0;
    int64_t *id = std::fill_n(newIds + row * newLength, padding, ids[0]), *shown = std::fill_n(newMask + row * newLength, padding, 0);
    for (int64_t column = 0; column < plan.length; ++column) {
      if (!isVisible(row, column) || skipped++ < common[row])
        continue;
      *id++ = ids[column];
      *shown++ = 1;
    }
  }
}

attune_status PromptCache::open() {
  std::fill_n(taken, caches.sizes.slots, uint8_t(0));
  if (plan.slots)
    ATTUNE_TRY(takeGiven());
  if (!plan.options.reuse_cache || plan.encode)
    initCaches(caches, CacheSizes(caches.sizes));
  chooseSlots();
  int64_t least = plan.length;
  for (int64_t row = 0; row < plan.rows; ++row) {
    common[row] = countCommon(row, chosen[row]);
    least = std::min(least, common[row]);
  }
  for (int64_t row = 0; row < plan.rows; ++row) {
    // Without a mask prefill cannot skip padding, so all rows compute the same number of tokens.
    common[row] = plan.maskName ? common[row] : least;
    caches.lengths[chosen[row]] = common[row];
    if (caches.sizes.sources)
      caches.sourceOf[chosen[row]] = row;
    reusedTokens += common[row];
  }
  if (reusedTokens > 0)
    collectTokens();
  return ATTUNE_OK;
}
