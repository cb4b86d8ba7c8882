//===- SessionModel.cpp - A session as a model that makes steps -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SessionModel.h"
#include "../Error.h"

#include <algorithm>
#include <cstring>

using namespace attune;

using Long = long long; // the type of %lld

attune_status SessionModel::check(const attune_session &session, const GenerationPlan &plan) {
  const CacheSizes &sizes = session.caches.sizes;
  if (plan.sequences > sizes.slots)
    return fail(ATTUNE_LIMIT_EXCEEDED, "generating needs %lld sequences at once, the session's limit of batch is %lld",
                Long(plan.sequences), Long(sizes.slots));
  if (plan.room > sizes.capacity)
    return fail(ATTUNE_LIMIT_EXCEEDED, "generating %lld ids needs room for %lld, the session's limit of past is %lld",
                Long(plan.options.max_length), Long(plan.room), Long(sizes.capacity));
  return ATTUNE_OK;
}

/// Returns true if the shape of |tensor| is the same in every call.
static bool isStatic(const attune_tensor_desc &tensor) {
  return std::all_of(tensor.shape, tensor.shape + tensor.rank, [](int64_t size) { return size >= 0; });
}

/// Computes the shape, and the size in bytes, of output |index| of |entry| for |rows| rows of one token.
static attune_status sizeOutput(const attune_session &session, const attune_entry_desc &entry, uint32_t index, int64_t rows, int64_t *shape,
                                size_t *bytes) {
  int64_t dims[ATTUNE_MAX_DIMS];
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    dims[d] = strcmp(entry.dims[d].name, "batch") == 0 ? rows : 1;
  return attune_output_shape(session.model, entry.name, index, dims, shape, bytes);
}

SessionModel::SessionModel(attune_session &session, const GenerationPlan &plan, Arena &arena)
    : session(session), plan(plan), cache(plan, session.caches, arena) {
  slots = arena.take<int64_t>(plan.sequences);
  nextSlots = arena.take<int64_t>(plan.sequences);
  callSlots = arena.take<int64_t>(plan.sequences);
  startIds = arena.take<int64_t>(plan.rows);
  nextIds = arena.take<int64_t>(plan.sequences);
  taken = arena.take<uint8_t>(plan.sequences);
  if (plan.encode)
    encode = placeCall(plan.encode, arena);
  prefill = placeCall(plan.prefill, arena);
  decode = placeCall(plan.decode, arena);
  if (!slots)
    return; // the arena only measures
  std::fill_n(startIds, plan.rows, plan.startId);
  idShape[1] = 1;
  if (!plan.ids)
    addInput(prefill, prefill.entry->inputs[0].name, startIds, idShape, 2, plan.rows);
  addSlots(prefill);
  addInput(decode, decode.entry->inputs[0].name, nextIds, idShape, 2, plan.sequences);
  addSlots(decode);
}

SessionModel::Call SessionModel::placeCall(const attune_entry_desc *entry, Arena &arena) {
  Call call{entry,
            arena.take<attune_tensor>(entry->num_inputs),
            arena.take<attune_tensor>(entry->num_outputs),
            arena.take<int64_t>(entry->num_outputs * ATTUNE_MAX_RANK),
            0,
            UINT32_MAX};
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    int64_t shape[ATTUNE_MAX_RANK];
    size_t bytes = 0;
    bool isLogits = strcmp(entry->outputs[i].name, "logits") == 0;
    sizeOutput(session, *entry, i, plan.sequences, shape, &bytes);
    // Entries write all outputs, so those that generation does not read get memory, too.
    char *scratch = isLogits ? nullptr : arena.take<char>(static_cast<int64_t>(bytes));
    if (isLogits)
      call.logits = i;
    if (call.outputs)
      call.outputs[i] = {entry->outputs[i].name,
                         static_cast<attune_dtype>(entry->outputs[i].dtype),
                         entry->outputs[i].rank,
                         call.shapes + i * ATTUNE_MAX_RANK,
                         scratch,
                         bytes};
  }
  // Of the caller's inputs, decode steps get only those whose shape is the same in every call.
  for (uint32_t i = 0; call.inputs && i < entry->num_inputs; ++i)
    if (const attune_tensor *tensor = plan.inputs.find(entry->inputs[i].name))
      if (tensor != plan.slots && (entry != plan.decode || isStatic(entry->inputs[i])))
        call.inputs[call.numInputs++] = *tensor;
  return call;
}

void SessionModel::addInput(Call &call, const char *name, int64_t *values, const int64_t *shape, uint32_t rank, int64_t count) {
  call.inputs[call.numInputs++] = {name, ATTUNE_I64, rank, shape, values, static_cast<size_t>(count) * sizeof(int64_t)};
}

/// Adds the slots of the rows to the inputs of |call|.
void SessionModel::addSlots(Call &call) {
  for (uint32_t i = 0; i < call.entry->num_inputs; ++i)
    if (call.entry->inputs[i].fill == ATTUNE_FILL_SLOTS)
      addInput(call, call.entry->inputs[i].name, callSlots, idShape, 1, plan.sequences);
}

/// Replaces the inputs of |prefill| by the ids and the mask of the tokens that no slot holds, and the slots.
void SessionModel::skipReused() {
  newShape[0] = plan.rows, newShape[1] = cache.length();
  prefill.numInputs = 0;
  addInput(prefill, plan.ids->name, cache.ids(), newShape, 2, plan.rows * cache.length());
  if (plan.maskName)
    addInput(prefill, plan.maskName, cache.mask(), newShape, 2, plan.rows * cache.length());
  addSlots(prefill);
}

GenerationPrompt SessionModel::prompt() {
  GenerationPrompt prompt{plan.rows, plan.length, plan.ids ? static_cast<const int64_t *>(plan.ids->data) : startIds};
  if (plan.mask)
    prompt.mask = static_cast<const int64_t *>(plan.mask->data);
  if (plan.sourceIds)
    prompt.sources = static_cast<const int64_t *>(plan.sourceIds->data), prompt.sourceLength = plan.sourceIds->shape[1];
  return prompt;
}

attune_status SessionModel::run(Call &call, int64_t rows, float *logits) {
  idShape[0] = rows;
  for (int64_t row = 0; row < rows; ++row)
    callSlots[row] = cache.slots()[slots[row]];
  for (uint32_t i = 0; i < call.entry->num_outputs; ++i) {
    size_t bytes;
    ATTUNE_TRY(sizeOutput(session, *call.entry, i, rows, call.shapes + i * ATTUNE_MAX_RANK, &bytes));
    if (i == call.logits)
      call.outputs[i].data = logits, call.outputs[i].bytes = bytes;
  }
  return runEntry(session, call.entry->name, {call.inputs, call.numInputs}, {call.outputs, call.entry->num_outputs});
}

attune_status SessionModel::start(int64_t rows, float *logits) {
  ATTUNE_TRY(cache.open());
  if (cache.reused() > 0)
    skipReused();
  for (int64_t row = 0; row < rows; ++row)
    slots[row] = row;
  if (plan.encode)
    ATTUNE_TRY(run(encode, rows, nullptr));
  return run(prefill, rows, logits);
}

attune_status SessionModel::step(const int64_t *parents, const int64_t *ids, int64_t count, float *logits) {
  ATTUNE_TRY(moveSlots(parents, count));
  std::copy_n(ids, count, nextIds);
  return run(decode, count, logits);
}

/// Gives sequence i of |count| a slot with the cached keys and values of the sequence that it continues, which is
/// sequence |parents|[i] of the previous call. The first child of a parent takes over the parent's slot; each further
/// child gets a free slot, into which the parent's cache is copied. Slots of sequences without children become free.
attune_status SessionModel::moveSlots(const int64_t *parents, int64_t count) {
  std::fill_n(taken, plan.sequences, uint8_t(0));
  for (int64_t i = 0; i < count; ++i) {
    int64_t slot = slots[parents[i]];
    nextSlots[i] = taken[slot] ? -1 : slot;
    taken[slot] = 1;
  }
  for (int64_t i = 0, free = 0; i < count; ++i) {
    if (nextSlots[i] >= 0)
      continue;
    while (taken[free])
      ++free;
    ATTUNE_TRY(copySlot(session, cache.slots()[slots[parents[i]]], cache.slots()[free]));
    taken[free] = 1;
    nextSlots[i] = free;
  }
  std::copy_n(nextSlots, count, slots);
  return ATTUNE_OK;
}
