//===- PromptCache.h - Reuse of tokens that slots hold already ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slot that holds the beginning of a prompt saves computing this beginning again, as in a conversation whose turns
// are sent with all the text before them. Each row of a generation gets a slot of its own. Rows choose in order, each
// the free slot with the largest saved - lost: the tokens at its beginning that agree with the prompt, less those after
// them, which are overwritten.
//
//   prompt          a b c d x y          agree   saved - lost
//   slot 0          a b c d e f g          4       4 - 3 =  1
//   slot 1          a b c                  3       3 - 0 =  3   chosen: a b c stays, prefill computes d x y
//   slot 2          (empty)                0       0 - 0 =  0
//   slot 3          q r s                  0       0 - 3 = -3
//
// A row computes at least its last token, because generation needs the logits after it. Further sequences (beams,
// several results per row) save nothing in any slot, so they take the emptiest slots. The tokens left to compute are
// padded on the left to one length; a model without a mask cannot skip padding, so its rows all keep as many tokens as
// the row that agrees least.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_PROMPTCACHE_H
#define ATTUNE_RUNTIME_GENERATION_PROMPTCACHE_H

#include "../Caches.h"
#include "Arena.h"
#include "GenerationPlan.h"

namespace attune {

/// The slots of one generation, and the tokens of its prompts that are left to compute.
class PromptCache {
public:
  /// Takes memory from |arena|; |plan| and |caches| must outlive this.
  PromptCache(const GenerationPlan &plan, Caches &caches, Arena &arena);

  /// Chooses slots for all sequences and truncates the slots of rows to the tokens that agree. Without
  /// options.reuse_cache, or with an encoder, empties all slots and sources first. Fails with INVALID_ARGUMENT if the
  /// caller's slots do not exist or are not distinct; then the caches are unchanged.
  attune_status open();

  /// Returns the slots of the session, [plan.sequences]: first those of the rows, then those of further sequences.
  const int64_t *slots() const { return chosen; }
  /// Returns the number of tokens, of all rows together, that slots hold already.
  int64_t reused() const { return reusedTokens; }
  /// ids() and mask() return the tokens that are left to compute and their mask, [plan.rows, length()], padded on the
  /// left. They and length() are valid after open() if reused() is not 0.
  int64_t *ids() { return newIds; }
  int64_t *mask() { return newMask; }
  int64_t length() const { return newLength; }

private:
  attune_status takeGiven();
  void chooseSlots();
  void collectTokens();
  bool isVisible(int64_t row, int64_t column) const;
  int64_t countVisible(int64_t row) const;
  int64_t countCommon(int64_t row, int64_t slot) const;

  const GenerationPlan &plan;
  Caches &caches;
  int64_t *chosen;           // [sequences]
  int64_t *common;           // [rows], number of tokens that stay in the row's slot
  uint8_t *taken;            // [slots of the session], 1 for slots of this generation
  int64_t *newIds, *newMask; // [rows, plan.length]
  int64_t newLength = 0, reusedTokens = 0;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_PROMPTCACHE_H
