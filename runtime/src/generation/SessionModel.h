//===- SessionModel.h - A session as a model that makes steps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every open sequence has a slot of the session's caches. A sequence that continues another takes over its slot; only further ones of the
// same parent get copies, in slots that no sequence has any more. Sequences and their slots are numbered within the generation; PromptCache
// says which slots of the session these are.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_SESSIONMODEL_H
#define ATTUNE_RUNTIME_GENERATION_SESSIONMODEL_H

#include "../Session.h"
#include "Arena.h"
#include "GenerationPlan.h"
#include "PromptCache.h"

namespace attune {

/// The model of one generation.
class SessionModel {
public:
  /// Takes memory from |arena|; run once to measure and once for good.
  SessionModel(attune_session &session, const GenerationPlan &plan, Arena &arena);

  /// Checks that |session| is large enough for |plan|.
  static attune_status check(const attune_session &session, const GenerationPlan &plan);

  StepModel steps() { return {this, plan.vocabSize, startModel, stepModel}; }
  /// Returns the prompt of the rows.
  GenerationPrompt prompt();
  /// Tokens of the prompts that the session held when the generation began.
  int64_t reused() const { return cache.reused(); }

private:
  /// An entry with the caller's tensors for it, followed by ours, and its outputs.
  struct Call {
    const attune_entry_desc *entry;
    attune_tensor *inputs, *outputs;
    int64_t *shapes; ///< of the outputs, ATTUNE_MAX_RANK each
    size_t numInputs;
    uint32_t logits; ///< number of the output
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
  int64_t *slots, *nextSlots; // [sequences], numbers in cache.slots()
  int64_t *callSlots;         // [sequences], the session's slots of a call's rows
  int64_t *startIds;          // [rows]
  int64_t *nextIds;           // [sequences]
  uint8_t *taken;             // [sequences], by number in cache.slots()
  int64_t idShape[2];         // [rows of the call, 1]
  int64_t newShape[2];        // [rows of the prompt, tokens that are new]
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_SESSIONMODEL_H
