//===- SessionModel.h - A session as a model that makes steps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every open sequence of a generation a slot of the session's caches. The first child of a sequence keeps the
// slot of its parent; further children get copies, in slots whose sequences no child continues (BeamLoop.cpp has a
// figure). There is always a free slot: a step has at most as many sequences as the generation has slots, and each
// sequence needs one. Three numberings meet here:
//
//   sequence of the call   0  1  2        row of ids and logits; changes with every step
//   slot of the generation 0  2  1        slots[sequence]; from 0 to plan.sequences - 1
//   slot of the session    4  7  5        cache.slots()[slot]: PromptCache has chosen 4, 5 and 7
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_SESSIONMODEL_H
#define ATTUNE_RUNTIME_GENERATION_SESSIONMODEL_H

#include "../Session.h"
#include "Arena.h"
#include "GenerationPlan.h"
#include "PromptCache.h"

namespace attune {

/// The session as the model of one generation.
class SessionModel {
public:
  /// Takes memory from |arena|. With an arena that only measures, the object must not be used.
  SessionModel(attune_session &session, const GenerationPlan &plan, Arena &arena);

  /// Checks that |session| is large enough for |plan|. Fails with LIMIT_EXCEEDED.
  static attune_status check(const attune_session &session, const GenerationPlan &plan);

  StepModel steps() { return {this, plan.vocabSize, startModel, stepModel}; }
  /// Returns the prompts of all rows, for the search.
  GenerationPrompt prompt();
  /// Returns the number of tokens of the prompts that slots held when the generation began.
  int64_t reused() const { return cache.reused(); }

private:
  /// A call of an entry. |inputs| has the caller's tensors for the entry, followed by those that the generation adds.
  struct Call {
    const attune_entry_desc *entry;
    attune_tensor *inputs, *outputs;
    int64_t *shapes; ///< [outputs, ATTUNE_MAX_RANK]
    size_t numInputs;
    uint32_t logits; ///< number of the output "logits", UINT32_MAX if there is none
  };

  static attune_status startModel(void *state, int64_t rows, float *logits) {
    return static_cast<SessionModel *>(state)->start(rows, logits);
  }
  static attune_status stepModel(void *state, const int64_t *parents, const int64_t *ids, int64_t count, float *logits) {
    return static_cast<SessionModel *>(state)->step(parents, ids, count, logits);
  }

  Call placeCall(const attune_entry_desc *entry, Arena &arena);
  void addInput(Call &call, const char *name, int64_t *values, const int64_t *shape, uint32_t rank, int64_t count);
  void addSlots(Call &call);
  void skipReused();
  attune_status run(Call &call, int64_t rows, float *logits);
  attune_status start(int64_t rows, float *logits);
  attune_status step(const int64_t *parents, const int64_t *ids, int64_t count, float *logits);
  attune_status moveSlots(const int64_t *parents, int64_t count);

  attune_session &session;
  const GenerationPlan &plan;
  Call encode{}, prefill{}, decode{};
  PromptCache cache;
  int64_t *slots, *nextSlots; // [sequences], slots of the generation
  int64_t *callSlots;         // [sequences], the slots of the session for the rows of a call
  int64_t *startIds;          // [rows]
  int64_t *nextIds;           // [sequences]
  uint8_t *taken;             // [sequences], 1 for a slot of the generation that a sequence has
  int64_t idShape[2];         // the shape of startIds and nextIds in a call: {rows of the call, 1}
  int64_t newShape[2];        // the shape of the tokens left to prefill: {plan.rows, cache.length()}
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_SESSIONMODEL_H
