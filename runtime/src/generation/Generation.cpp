//===- Generation.cpp - attune_generate -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Error.h"
#include "ScratchBuffer.h"
#include "SessionModel.h"
#include "WideInputs.h"

using namespace attune;

namespace {

/// The beginning of the memory of a result. The public structure comes first, so that its address is that of the
/// memory.
struct StoredGeneration {
  attune_generation shown;
  GenerationResult result;

  /// Lays out a result for |plan| and its arrays in |arena|; returns null if the arena only measures.
  static StoredGeneration *place(const GenerationPlan &plan, Arena &arena) {
    const attune_generation_options &options = plan.options;
    int64_t rows = plan.rows * options.num_return_sequences, steps = options.max_length - plan.length;
    auto *stored = arena.take<StoredGeneration>(1);
    int64_t *sequences = arena.take<int64_t>(rows * options.max_length);
    float *scores = options.num_beams > 1 ? arena.take<float>(rows) : nullptr;
    float *logits = options.want_step_logits ? arena.take<float>(rows * steps * plan.vocabSize) : nullptr;
    if (stored) {
      stored->result = {sequences, scores, logits, 0, 0};
      stored->shown = {rows, 0, 0, plan.vocabSize, sequences, scores, logits, 0};
    }
    return stored;
  }
};

} // namespace

/// Runs |plan| on |session| and writes the result to |stored|.
static attune_status runPlan(attune_session &session, const GenerationPlan &plan, StoredGeneration &stored) {
  Arena measure;
  SessionModel measured(session, plan, measure);
  ScratchBuffer buffer;
  ATTUNE_TRY(buffer.allocate(measure.getBytes()));
  Arena arena(buffer.get());
  SessionModel model(session, plan, arena);
  ATTUNE_TRY(generate(model.steps(), plan.options, model.prompt(), stored.result));
  stored.shown.length = stored.result.length;
  stored.shown.steps = stored.result.steps;
  stored.shown.reused_tokens = model.reused();
  return ATTUNE_OK;
}

/// Fails with INVALID_ARGUMENT if one of |inputs| is in memory of the session's device, which the host cannot read.
static attune_status checkHostInputs(attune_session &session, TensorList inputs) {
  if (!session.onDevice || !inputs.tensors)
    return ATTUNE_OK;
  DeviceScope scope;
  ATTUNE_TRY(enterDevice(session, scope));
  for (size_t i = 0; i < inputs.count; ++i) {
    const attune_tensor &tensor = inputs.tensors[i];
    bool onDevice = false;
    if (tensor.data)
      ATTUNE_TRY(session.model->device->locate(*session.onDevice, tensor.name ? tensor.name : "", tensor.data, onDevice));
    if (onDevice)
      return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is in memory of the GPU, expected memory of the host, which attune_generate reads",
                  tensor.name ? tensor.name : "");
  }
  return ATTUNE_OK;
}

attune_status attune_generate(attune_session *session, const attune_generation_options *options, const attune_tensor *inputs,
                              size_t num_inputs, attune_generation **out_generation) {
  if (!out_generation)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_generation is null");
  *out_generation = nullptr;
  SessionLock lock(session);
  ATTUNE_TRY(lock.tryLock());
  ATTUNE_TRY(checkHostInputs(*session, {inputs, num_inputs}));
  WideInputs wide;
  ATTUNE_TRY(wide.open({inputs, num_inputs}));
  GenerationPlan plan;
  ATTUNE_TRY(planGeneration(*session->model, options, wide.list(), plan));
  ATTUNE_TRY(SessionModel::check(*session, plan));
  Arena measure;
  StoredGeneration::place(plan, measure);
  ScratchBuffer buffer;
  ATTUNE_TRY(buffer.allocate(measure.getBytes()));
  Arena arena(buffer.get());
  StoredGeneration *stored = StoredGeneration::place(plan, arena);
  ATTUNE_TRY(runPlan(*session, plan, *stored));
  *out_generation = static_cast<attune_generation *>(buffer.release());
  return ATTUNE_OK;
}

void attune_generation_free(attune_generation *generation) { std::free(generation); }
