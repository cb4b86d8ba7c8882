//===- ToyDecoder.cpp - Compiled decoders written by hand --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ToyDecoder.h"

#include "FakeModel.h"
#include "GenerationReference.h"

#include <algorithm>

toy::Record toy::record;

namespace {

const int64_t kTokens[] = {-1, -2}, kToken[] = {-1, 1}, kRows[] = {-1}, kLogits[] = {-1, toy::vocabSize};
const attune_dim_desc kPrefillDims[] = {
    {"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"length", 16, ATTUNE_DIM_INPUTS, 0}, {"past", toy::positions, ATTUNE_DIM_PAST, 0}};
const attune_dim_desc kDecodeDims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"past", toy::positions, ATTUNE_DIM_PAST, 0}};
const attune_dim_desc kCrossPrefillDims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0},
                                             {"length", 16, ATTUNE_DIM_INPUTS, 0},
                                             {"past", toy::positions, ATTUNE_DIM_PAST, 0},
                                             {"source_length", 16, ATTUNE_DIM_SOURCE_LENGTH, 0}};
const attune_dim_desc kCrossDecodeDims[] = {
    {"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"past", toy::positions, ATTUNE_DIM_PAST, 0}, {"source_length", 16, ATTUNE_DIM_SOURCE_LENGTH, 0}};
const attune_dim_desc kEncodeDims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"source_length", 16, ATTUNE_DIM_INPUTS, 0}};

attune_tensor_desc ids(const char *name, const int64_t *shape) {
  return {name, ATTUNE_I64, 2, shape, ATTUNE_FILL_REQUIRED, 0, toy::vocabSize};
}
attune_tensor_desc rows(const char *name, attune_fill fill) { return {name, ATTUNE_I64, 1, kRows, static_cast<uint32_t>(fill), 0, 0}; }
attune_tensor_desc mask(const char *name, attune_fill fill) { return {name, ATTUNE_I64, 2, kTokens, static_cast<uint32_t>(fill), 0, 2}; }

const attune_tensor_desc kPrefillInputs[] = {ids("input_ids", kTokens), mask("attention_mask", ATTUNE_FILL_TOKENS),
                                             rows("slots", ATTUNE_FILL_SLOTS), rows("past_lengths", ATTUNE_FILL_PAST_LENGTHS)};
const attune_tensor_desc kDecodeInputs[] = {ids("input_ids", kToken), rows("slots", ATTUNE_FILL_SLOTS),
                                            rows("past_lengths", ATTUNE_FILL_PAST_LENGTHS)};
const attune_tensor_desc kEncodeInputs[] = {ids("input_ids", kTokens), mask("attention_mask", ATTUNE_FILL_ONES),
                                            rows("sources", ATTUNE_FILL_SOURCES)};
const attune_tensor_desc kCrossPrefillInputs[] = {ids("decoder_input_ids", kTokens),    mask("decoder_attention_mask", ATTUNE_FILL_TOKENS),
                                                  rows("slots", ATTUNE_FILL_SLOTS),     rows("past_lengths", ATTUNE_FILL_PAST_LENGTHS),
                                                  rows("sources", ATTUNE_FILL_SOURCES), rows("source_lengths", ATTUNE_FILL_SOURCE_LENGTHS)};
const attune_tensor_desc kCrossDecodeInputs[] = {ids("decoder_input_ids", kToken), rows("slots", ATTUNE_FILL_SLOTS),
                                                 rows("past_lengths", ATTUNE_FILL_PAST_LENGTHS), rows("sources", ATTUNE_FILL_SOURCES),
                                                 rows("source_lengths", ATTUNE_FILL_SOURCE_LENGTHS)};
const attune_tensor_desc kOutputs[] = {{"logits", ATTUNE_F32, 2, kLogits, 0, 0, 0}, {"states", ATTUNE_F32, 2, kLogits, 0, 0, 0}};
const attune_cache_desc kCaches[] = {{"past_key_values.0.1", ATTUNE_F32, ATTUNE_CACHE_VALUES, 0, 0, 1, 1},
                                     {"past_key_values.0.3", ATTUNE_F32, ATTUNE_CACHE_VALUES, 1, 0, 1, 1}};

const int64_t *integers(const attune_call *call, int input) { return static_cast<const int64_t *>(call->inputs[input]); }

/// slotOf returns the memory of the ids of |slot|, sourceOf that of the sum of |source|, both in the state of |call|.
float *slotOf(const attune_call *call, int64_t slot) {
  return static_cast<float *>(call->state) + slot * call->state_dims[1] * ATTUNE_CACHE_PANEL;
}
float *sourceOf(const attune_call *call, int64_t source) {
  return slotOf(call, call->state_dims[0]) + source * call->state_dims[3] * ATTUNE_CACHE_PANEL;
}

/// Appends the |length| |ids| of each row, except those that |mask| hides, to the row's slot of |slots|, which has
/// |past| ids. Writes the logits after them to both outputs. |mask| may be null. |sources|, unless null, has the source
/// of each row, whose sum comes before the ids of the slot.
void append(const attune_call *call, int64_t length, const int64_t *ids, const int64_t *mask, const int64_t *slots, const int64_t *past,
            const int64_t *sources) {
  for (int64_t row = 0; row < call->dims[0]; ++row) {
    float *kept = slotOf(call, slots[row]);
    int64_t count = past[row];
    for (int64_t i = row * length; i < (row + 1) * length; ++i)
      if (!mask || mask[i])
        kept[count++] = static_cast<float>(ids[i]);
    reference::Ids sequence(kept, kept + count);
    if (sources)
      sequence.insert(sequence.begin(), static_cast<int64_t>(*sourceOf(call, sources[row])));
    std::vector<float> logits = reference::toyLogits(sequence, toy::vocabSize);
    for (int output = 0; output < 2; ++output)
      std::copy(logits.begin(), logits.end(), static_cast<float *>(call->outputs[output]) + row * toy::vocabSize);
  }
}

int32_t prefill(const attune_host *, const attune_call *call) {
  toy::record.prefilled += std::count(integers(call, 1), integers(call, 1) + call->dims[0] * call->dims[1], 1);
  append(call, call->dims[1], integers(call, 0), integers(call, 1), integers(call, 2), integers(call, 3), nullptr);
  return 0;
}
int32_t crossPrefill(const attune_host *, const attune_call *call) {
  append(call, call->dims[1], integers(call, 0), integers(call, 1), integers(call, 2), integers(call, 3), integers(call, 4));
  return 0;
}
int32_t decodeStep(const attune_call *call, const int64_t *sources) {
  toy::record.slots.emplace_back(integers(call, 1), integers(call, 1) + call->dims[0]);
  append(call, 1, integers(call, 0), nullptr, integers(call, 1), integers(call, 2), sources);
  return 0;
}
int32_t decode(const attune_host *, const attune_call *call) { return decodeStep(call, nullptr); }
int32_t crossDecode(const attune_host *, const attune_call *call) { return decodeStep(call, integers(call, 3)); }
int32_t encode(const attune_host *, const attune_call *call) {
  for (int64_t row = 0; row < call->dims[0]; ++row) {
    float sum = 0;
    for (int64_t i = row * call->dims[1]; i < (row + 1) * call->dims[1]; ++i)
      sum += static_cast<float>(integers(call, 0)[i] * integers(call, 1)[i]);
    *sourceOf(call, integers(call, 2)[row]) = sum;
  }
  toy::record.encoded += call->dims[0];
  return 0;
}

uint64_t none(const int64_t *, int64_t) { return 0; }

const attune_entry_desc kEntries[] = {
    {"prefill", 3, 4, 2, ATTUNE_CACHE_APPEND, kPrefillDims, kPrefillInputs, kOutputs, prefill, none, none, nullptr, nullptr, nullptr},
    {"decode", 2, 3, 2, ATTUNE_CACHE_CONTINUE, kDecodeDims, kDecodeInputs, kOutputs, decode, none, none, nullptr, nullptr, nullptr}};
const attune_entry_desc kCrossEntries[] = {
    {"encode", 2, 3, 0, ATTUNE_CACHE_ENCODE, kEncodeDims, kEncodeInputs, nullptr, encode, none, none, nullptr, nullptr, nullptr},
    {"prefill", 4, 6, 2, ATTUNE_CACHE_APPEND, kCrossPrefillDims, kCrossPrefillInputs, kOutputs, crossPrefill, none, none, nullptr, nullptr,
     nullptr},
    {"decode", 3, 5, 2, ATTUNE_CACHE_CONTINUE, kCrossDecodeDims, kCrossDecodeInputs, kOutputs, crossDecode, none, none, nullptr, nullptr,
     nullptr}};

attune_model_desc makeModel(const attune_entry_desc *entries, uint32_t numEntries, uint32_t numCaches,
                            const attune_generation_options *generation) {
  attune_model_desc desc = attune_model_fake;
  desc.entries = entries, desc.num_entries = numEntries;
  desc.caches = kCaches, desc.num_caches = numCaches;
  desc.generation = generation;
  return desc;
}

} // namespace

attune_model_desc toy::makeDecoder(const attune_generation_options *generation) { return makeModel(kEntries, 2, 1, generation); }
attune_model_desc toy::makeEncoderDecoder(const attune_generation_options *generation) {
  return makeModel(kCrossEntries, 3, 2, generation);
}
