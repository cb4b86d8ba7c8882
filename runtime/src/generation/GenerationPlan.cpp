//===- GenerationPlan.cpp - Entries and sizes of a generation -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GenerationPlan.h"
#include "../Descriptor.h"
#include "../Error.h"
#include "../Model.h"
#include "WideInputs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

using namespace attune;

using Long = long long; // the type of %lld

static const attune_tensor_desc *findInput(const attune_entry_desc *entry, const char *name) {
  for (uint32_t i = 0; entry && i < entry->num_inputs; ++i)
    if (strcmp(entry->inputs[i].name, name) == 0)
      return &entry->inputs[i];
  return nullptr;
}

/// Finds the entries of generation and the size of the vocabulary, and checks that every tensor that the caller passes
/// is an input of `prefill` or `encode`.
static attune_status findEntries(const attune_model &model, GenerationPlan &plan) {
  plan.desc = model.desc;
  if (!attune_model_entry(&model, "prefill") && !attune_model_entry(&model, "decode"))
    return fail(ATTUNE_INVALID_ARGUMENT,
                "model '%s' (%s) cannot generate: it has no decoder that continues sequences (entries 'prefill' and 'decode'), "
                "its first entry is '%s'",
                model.desc->name, model.desc->architecture, model.desc->entries[0].name);
  ATTUNE_TRY(findEntry(*model.desc, "prefill", plan.prefill));
  ATTUNE_TRY(findEntry(*model.desc, "decode", plan.decode));
  plan.encode = attune_model_entry(&model, "encode");
  if (plan.inputs.count && !plan.inputs.tensors)
    return fail(ATTUNE_INVALID_ARGUMENT, "%zu inputs given but their array is null", plan.inputs.count);
  for (size_t i = 0; i < plan.inputs.count; ++i) {
    const char *name = plan.inputs.tensors[i].name;
    if (!name)
      return fail(ATTUNE_INVALID_ARGUMENT, "input %zu has no name", i);
    if (!findInput(plan.prefill, name) && !findInput(plan.encode, name))
      return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' generates without an input '%s'; '%s' is what it begins with", plan.desc->name, name,
                  plan.prefill->num_inputs ? plan.prefill->inputs[0].name : "");
  }
  const attune_tensor_desc *logits = nullptr;
  for (uint32_t i = 0; i < plan.decode->num_outputs; ++i)
    if (strcmp(plan.decode->outputs[i].name, "logits") == 0)
      logits = &plan.decode->outputs[i];
  if (!logits || logits->dtype != ATTUNE_F32 || logits->rank < 2 || logits->shape[logits->rank - 1] < 1)
    return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' was compiled without the output 'logits', which generation needs", plan.desc->name);
  plan.vocabSize = logits->shape[logits->rank - 1];
  return ATTUNE_OK;
}

/// Checks that the integers of |tensor| are aligned.
static attune_status checkAlignment(const attune_tensor &tensor) {
  if (reinterpret_cast<uintptr_t>(tensor.data) % alignof(int64_t))
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' has data at %p, expected a multiple of %zu", tensor.name, tensor.data,
                alignof(int64_t));
  return ATTUNE_OK;
}

/// Checks that |tensor| is an I64 matrix that is not empty, with aligned data of its size.
static attune_status checkMatrix(const attune_tensor &tensor) {
  if (dtypeOf(tensor) != ATTUNE_I64 || tensor.rank != 2 || !tensor.shape || tensor.shape[0] < 1 || tensor.shape[1] < 1)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is %s %s, expected i64 [rows, length]", tensor.name, dtypeNameOf(tensor),
                formatShape(tensor.shape, tensor.rank).text);
  uint64_t bytes = static_cast<uint64_t>(tensor.shape[0]);
  if (!tensor.data || __builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.shape[1]), &bytes) ||
      tensor.bytes / sizeof(int64_t) < bytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' has %zu bytes of data, too few for its shape %s", tensor.name,
                tensor.data ? tensor.bytes : 0, formatShape(tensor.shape, tensor.rank).text);
  return checkAlignment(tensor);
}

/// Finds the prompts, or the start id if the caller gave none. Sets the length of the prompts, and their number if they
/// are given.
static attune_status findPrompt(GenerationPlan &plan) {
  const attune_tensor_desc *begin = plan.prefill->num_inputs ? plan.prefill->inputs : nullptr;
  if (!begin || begin->dtype != ATTUNE_I64 || begin->rank != 2)
    return fail(ATTUNE_INVALID_ARGUMENT, "entry 'prefill' of model '%s' does not take ids, which generation needs", plan.desc->name);
  plan.ids = plan.inputs.find(begin->name);
  if (plan.ids) {
    ATTUNE_TRY(checkMatrix(*plan.ids));
    plan.rows = plan.ids->shape[0], plan.length = plan.ids->shape[1];
    return ATTUNE_OK;
  }
  if (!plan.encode)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is missing", begin->name);
  plan.startId = plan.options.decoder_start_token_id >= 0 ? plan.options.decoder_start_token_id : plan.options.bos_token_id;
  if (plan.startId < 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "decoder_start_token_id is not set, which sequences begin with if input '%s' is missing",
                begin->name);
  plan.length = 1;
  return ATTUNE_OK;
}

/// Finds the first input of the encoder and sets plan.rows and plan.sourceLength by its shape; the prompts, if they are
/// given, must have as many rows. Sets plan.sourceIds if an option needs ids of sources; without an encoder these are
/// the prompts.
static attune_status findSources(GenerationPlan &plan) {
  bool hasIds = plan.encode && plan.encode->inputs[0].dtype == ATTUNE_I64, penalized = plan.options.encoder_repetition_penalty != 1;
  if (plan.options.encoder_no_repeat_ngram_size > 0 && !hasIds)
    return fail(ATTUNE_INVALID_ARGUMENT, "encoder_no_repeat_ngram_size is %lld, expected 0, as model '%s' has no ids of sources",
                Long(plan.options.encoder_no_repeat_ngram_size), plan.desc->name);
  if (penalized && plan.encode && !hasIds)
    return fail(ATTUNE_INVALID_ARGUMENT, "encoder_repetition_penalty is %g, expected 1, as model '%s' has no ids of sources",
                plan.options.encoder_repetition_penalty, plan.desc->name);
  bool needsIds = plan.options.encoder_no_repeat_ngram_size > 0 || penalized;
  if (!plan.encode) {
    // As in transformers, penalties of source ids apply to the prompt if there is no encoder.
    plan.sourceIds = needsIds ? plan.ids : nullptr;
    return ATTUNE_OK;
  }
  const attune_tensor_desc &begin = plan.encode->inputs[0];
  const attune_tensor *source = plan.inputs.find(begin.name);
  if (!source)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is missing", begin.name);
  if (source->rank < 2 || !source->shape || source->shape[0] < 1 || source->shape[1] < 1)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' has shape %s, expected [rows, length] and more", begin.name,
                formatShape(source->shape, source->rank).text);
  if (plan.ids && plan.rows != source->shape[0])
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' has %lld rows, '%s' has %lld", source->name, Long(source->shape[0]), plan.ids->name,
                Long(plan.rows));
  plan.rows = source->shape[0];
  plan.sourceLength = source->shape[1];
  if (needsIds) {
    ATTUNE_TRY(checkMatrix(*source));
    plan.sourceIds = source;
  }
  return ATTUNE_OK;
}

/// Checks that the ids of the prompts are in the vocabulary.
static attune_status checkIds(const GenerationPlan &plan) {
  const int64_t *ids = plan.ids ? static_cast<const int64_t *>(plan.ids->data) : &plan.startId;
  int64_t count = plan.ids ? plan.rows * plan.length : 1;
  for (int64_t i = 0; i < count; ++i)
    if (ids[i] < 0 || ids[i] >= plan.vocabSize)
      return fail(ATTUNE_INVALID_ARGUMENT, "%s is %lld, expected an id below the vocabulary's %lld",
                  plan.ids ? "an id of the prompts" : "decoder_start_token_id", Long(ids[i]), Long(plan.vocabSize));
  return ATTUNE_OK;
}

/// Finds the mask of the prompts, and sets |visible| to the largest number of visible tokens of a prompt. Fails with
/// INVALID_ARGUMENT if the mask has another shape than the prompts, or the last token of a row is hidden.
static attune_status findMask(GenerationPlan &plan, int64_t &visible) {
  visible = plan.length;
  for (uint32_t i = 0; i < plan.prefill->num_inputs && !plan.mask; ++i)
    if (plan.prefill->inputs[i].fill == ATTUNE_FILL_TOKENS)
      plan.mask = plan.inputs.find(plan.maskName = plan.prefill->inputs[i].name);
  if (!plan.mask)
    return ATTUNE_OK;
  ATTUNE_TRY(checkMatrix(*plan.mask));
  if (plan.mask->shape[0] != plan.rows || plan.mask->shape[1] != plan.length)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is %s, expected [%lld, %lld] as the prompts are", plan.mask->name,
                formatShape(plan.mask->shape, 2).text, Long(plan.rows), Long(plan.length));
  visible = 0;
  for (int64_t row = 0; row < plan.rows; ++row) {
    const int64_t *mask = static_cast<const int64_t *>(plan.mask->data) + row * plan.length;
    if (mask[plan.length - 1] == 0)
      return fail(ATTUNE_INVALID_ARGUMENT, "row %lld of input '%s' ends with 0, expected prompts that are padded on the left", Long(row),
                  plan.mask->name);
    visible = std::max<int64_t>(visible, plan.length - std::count(mask, mask + plan.length, 0));
  }
  return ATTUNE_OK;
}

/// Finds the caller's slots and checks that there is one for each row.
static attune_status findSlots(GenerationPlan &plan) {
  for (uint32_t i = 0; i < plan.prefill->num_inputs; ++i)
    if (plan.prefill->inputs[i].fill == ATTUNE_FILL_SLOTS)
      plan.slots = plan.inputs.find(plan.prefill->inputs[i].name);
  if (!plan.slots)
    return ATTUNE_OK;
  const attune_tensor &slots = *plan.slots;
  if (dtypeOf(slots) != ATTUNE_I64 || slots.rank != 1 || !slots.shape || slots.shape[0] != plan.rows)
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is %s %s, expected i64 [%lld]", slots.name, dtypeNameOf(slots),
                formatShape(slots.shape, slots.rank).text, Long(plan.rows));
  if (!slots.data || slots.bytes / sizeof(int64_t) < static_cast<uint64_t>(plan.rows))
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' has %zu bytes of data, too few for its shape %s", slots.name,
                slots.data ? slots.bytes : 0, formatShape(slots.shape, 1).text);
  return checkAlignment(slots);
}

/// Returns true if the keys and values of a prompt's tokens depend on its ids alone, so that a slot with the same ids
/// has the same keys and values: there is no encoder, no position that counts from the first token of a call, and no
/// input beside ids, their mask and slots.
static bool followsFromIds(const GenerationPlan &plan) {
  bool follows = plan.ids && !plan.encode;
  for (uint32_t i = 0; i < plan.prefill->num_inputs; ++i)
    follows = follows && plan.prefill->inputs[i].fill != ATTUNE_FILL_ARANGE && plan.prefill->inputs[i].fill != ATTUNE_FILL_SOURCES;
  for (size_t i = 0; i < plan.inputs.count; ++i) {
    const attune_tensor *tensor = &plan.inputs.tensors[i];
    follows = follows && (tensor == plan.ids || tensor == plan.mask || tensor == plan.slots);
  }
  return follows;
}

/// Computes plan.sequences and plan.room; |visible| is the largest number of visible tokens of a prompt. Fails with
/// LIMIT_EXCEEDED if there are too many sequences, or too many tokens for the model.
static attune_status measure(GenerationPlan &plan, int64_t visible) {
  const attune_generation_options &options = plan.options;
  if (__builtin_mul_overflow(plan.rows, std::max(options.num_beams, options.num_return_sequences), &plan.sequences) ||
      plan.sequences > INT32_MAX)
    return fail(ATTUNE_LIMIT_EXCEEDED, "%lld rows of num_beams = %lld and num_return_sequences = %lld are too many", Long(plan.rows),
                Long(options.num_beams), Long(options.num_return_sequences));
  // The model does not read the last id that is chosen.
  int64_t chosen = options.max_length - plan.length, most = 0;
  plan.room = visible + chosen - 1;
  for (uint32_t d = 0; d < plan.decode->num_dims; ++d)
    if (strcmp(plan.decode->dims[d].name, "past") == 0)
      most = plan.decode->dims[d].max;
  if (plan.room > (most ? most : INT32_MAX))
    return fail(ATTUNE_LIMIT_EXCEEDED, "max_length is %lld, at most %lld expected after these prompts: the model has %lld positions",
                Long(options.max_length), Long((most ? most : INT32_MAX) - visible + plan.length + 1), Long(most ? most : INT32_MAX));
  return ATTUNE_OK;
}

attune_status attune::planGeneration(const attune_model &model, const attune_generation_options *options, TensorList inputs,
                                     GenerationPlan &plan) {
  plan = GenerationPlan{};
  plan.inputs = inputs;
  attune_generation_options_init(&model, &plan.options);
  ATTUNE_TRY(copyOptions(&plan.options, sizeof(plan.options), options, "attune_generation_options"));
  ATTUNE_TRY(findEntries(model, plan));
  ATTUNE_TRY(findPrompt(plan));
  ATTUNE_TRY(findSources(plan));
  ATTUNE_TRY(checkIds(plan));
  int64_t visible;
  ATTUNE_TRY(findMask(plan, visible));
  ATTUNE_TRY(findSlots(plan));
  plan.reuse = plan.options.reuse_cache != 0 && followsFromIds(plan);
  ATTUNE_TRY(checkGenerationOptions(plan.options, plan.vocabSize, plan.length));
  return measure(plan, visible);
}

attune_status attune_generation_limits(const attune_model *model, const attune_generation_options *options, const attune_tensor *inputs,
                                       size_t num_inputs, attune_dim_limit *out_limits, size_t *out_num_limits) {
  if (out_num_limits)
    *out_num_limits = 0;
  if (!model || !out_limits || !out_num_limits)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is null", !model ? "the model" : !out_limits ? "out_limits" : "out_num_limits");
  WideInputs wide;
  ATTUNE_TRY(wide.open({inputs, num_inputs}));
  GenerationPlan plan;
  ATTUNE_TRY(planGeneration(*model, options, wide.list(), plan));
  const attune_dim_limit limits[] = {
      {"batch", plan.sequences}, {"length", plan.length}, {"past", plan.room}, {"source_length", plan.sourceLength}};
  for (const attune_dim_limit &limit : limits)
    if (limit.max > 0)
      out_limits[(*out_num_limits)++] = limit;
  return ATTUNE_OK;
}
