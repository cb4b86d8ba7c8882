//===- PromptCache.h - Tokens of prompts that slots hold already ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slot that holds the beginning of a prompt saves computing it again. Each row of a generation gets a slot of its own: the one that saves
// most and loses least, as the tokens of a slot beyond those that agree are lost. A row computes at least its last token, whose logits it
// needs.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_PROMPTCACHE_H
#define ATTUNE_RUNTIME_GENERATION_PROMPTCACHE_H

#include "../Caches.h"
#include "Arena.h"
#include "GenerationPlan.h"

namespace attune {

/// The slots of one generation and the tokens that are left to compute.
class PromptCache {
public:
  /// Takes memory from |arena|; |plan| and |caches| must outlive this.
  PromptCache(const GenerationPlan &plan, Caches &caches, Arena &arena);

  /// Chooses slots for all sequences and truncates those of rows to the tokens that agree; without reuse, empties all slots first. Fails
  /// with INVALID_ARGUMENT if the caller's slots do not exist or are not distinct; nothing has changed then.
  attune_status open();

  /// The slot of each sequence: those of the rows first, then the further ones. [plan.sequences]
  const int64_t *slots() const { return chosen; }
  /// Tokens of all rows that slots hold already.
  int64_t reused() const { return reusedTokens; }
  /// The tokens that are left to compute, padded on the left: ids and mask [plan.rows, length()]. Only after open, if reused() is not 0.
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
  int64_t *common;           // [rows], tokens that stay
  uint8_t *taken;            // [slots of the session]
  int64_t *newIds, *newMask; // [rows, plan.length]
  int64_t newLength = 0, reusedTokens = 0;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_PROMPTCACHE_H
