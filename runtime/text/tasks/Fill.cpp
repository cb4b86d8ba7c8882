//===- Fill.cpp - Tokens for masks ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/src/Error.h"
#include "runtime/text/tasks/Task.h"

#include <cstring>

using namespace attune;
using namespace attune::text;

const char *attune_fill_mask(const attune_text *text, size_t *outBytes) {
  TaskSettings settings(text);
  size_t bytes = 0;
  const char *mask = settings.stringAt(settings.header.maskToken, bytes);
  // If the folder names no mask token, the tokenizer may have one of these.
  static const char *const usual[] = {"[MASK]", "<mask>"};
  for (const char *known : usual)
    if (!bytes && attune_text_token_id(text, known, strlen(known)) >= 0) {
      mask = known;
      bytes = strlen(known);
    }
  if (outBytes)
    *outBytes = bytes;
  return bytes ? mask : nullptr;
}

/// Copies |bytes| bytes of |text| to memory of the results and returns the copy; null if there is too little memory.
static const char *keep(attune_task &task, const char *text, size_t bytes) {
  Array<char> copy = task.results.take<char>(bytes ? bytes : 1);
  if (copy.capacity < bytes || !copy.capacity)
    return nullptr;
  memcpy(copy.data, text, bytes);
  return copy.data;
}

namespace {

/// A mask in the text: the index of its token.
struct MaskPlace {
  uint32_t token;
};

/// A token and its probability.
struct Choice {
  int32_t id;
  float score;
};

} // namespace

/// Writes the |top| best of the |count| scores at |scores| to |choices|, best first; of equal ones the smaller id
/// first. Writes all if there are fewer. |choices| has room for |top|.
static void chooseBest(const float *scores, int64_t count, Array<Choice> &choices, size_t top) {
  choices.clear();
  for (int64_t id = 0; id < count; ++id) {
    if (choices.size == top && !(scores[id] > choices[top - 1].score))
      continue;
    if (choices.size < top)
      choices.push({});
    size_t at = choices.size - 1;
    for (; at > 0 && scores[id] > choices[at - 1].score; --at)
      choices[at] = choices[at - 1];
    choices[at] = {int32_t(id), scores[id]};
  }
}

/// Sets |text| to the decoded text of |count| ids at |ids|, in memory of the results, and |bytes| to its length. Fails
/// with LIMIT_EXCEEDED if there is too little memory.
static attune_status decode(attune_task &task, const int32_t *ids, size_t count, int skipSpecial, const char *&text, size_t &bytes) {
  ATTUNE_TRY(attune_tokenizer_decode(task.tokenizer, ids, count, skipSpecial, &text, &bytes));
  text = keep(task, text, bytes);
  return text ? ATTUNE_OK
              : fail(ATTUNE_LIMIT_EXCEEDED, "the candidates need more memory than the task has: raise max_text_bytes or lower top_k");
}

attune_status attune_fill_text(attune_task *task, const attune_text_input *text, int64_t topK, const attune_candidate **outCandidates,
                               size_t *outNum) {
  if (!outCandidates || !outNum)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_candidates or out_num is null");
  *outCandidates = nullptr;
  *outNum = 0;
  ATTUNE_TRY(checkKind(task, ATTUNE_TASK_FILL));
  CallLock lock;
  ATTUNE_TRY(lock.take(task->running, "task"));
  const int64_t vocabulary = task->shape.features;
  if (!text || topK < 1 || topK > vocabulary)
    return fail(ATTUNE_INVALID_ARGUMENT, text ? "top_k: expected 1 to %lld, got %lld" : "text is null", static_cast<long long>(vocabulary),
                static_cast<long long>(topK));
  const size_t pairBytes = text->pair ? text->pair_bytes : 0;
  if (text->bytes > task->maxTextBytes || pairBytes > task->maxTextBytes - text->bytes)
    return fail(ATTUNE_LIMIT_EXCEEDED, "expected at most %zu bytes (max_text_bytes), got %zu", task->maxTextBytes,
                text->bytes > SIZE_MAX - pairBytes ? SIZE_MAX : text->bytes + pairBytes);
  size_t maskBytes;
  const char *mask = attune_fill_mask(task->text, &maskBytes);
  int64_t maskId = mask ? attune_text_token_id(task->text, mask, maskBytes) : -1;
  if (maskId < 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "expected a tokenizer with a mask token, got one without");

  task->numCut = 0;
  task->ids.clear();
  task->rows.clear();
  ATTUNE_TRY(appendText(*task, *text, 0, cutOptions(*task)));
  const size_t length = task->rows[0].length;
  Memory &memory = task->results;
  memory.release(0);
  Array<MaskPlace> places = memory.take<MaskPlace>(length);
  for (size_t i = 0; i < length; ++i)
    if (task->ids[i] == maskId)
      places.push({uint32_t(i)});
  if (places.size == 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "expected a text with the mask '%.*s', got one without", int(maskBytes), mask);
  ATTUNE_TRY(runBatch(*task, 0, 1, 0));

  Array<Choice> choices = memory.take<Choice>(size_t(topK));
  Array<int32_t> sequence = memory.take<int32_t>(length);
  Array<attune_candidate> candidates = memory.take<attune_candidate>(places.size * size_t(topK));
  if (sequence.capacity < length || candidates.capacity < places.size * size_t(topK))
    return fail(ATTUNE_LIMIT_EXCEEDED, "the candidates need more memory than the task has: raise max_text_bytes or lower top_k");
  attune_encode_options defaults;
  attune_encode_options_init(task->text, &defaults);
  float *logits = static_cast<float *>(task->batchOutputs[task->shape.outputs[0]]);
  for (size_t number = 0; number < places.size; ++number) {
    float *scores = logits + int64_t(places[number].token) * vocabulary;
    if (!softmax(scores, vocabulary))
      return fail(ATTUNE_INVALID_ARGUMENT, "mask %zu: expected logits that are numbers, got NaN or infinite ones", number);
    chooseBest(scores, vocabulary, choices, size_t(topK));
    for (size_t i = 0; i < choices.size; ++i) {
      attune_candidate candidate = {int64_t(number), choices[i].id, choices[i].score, nullptr, 0, nullptr, 0};
      ATTUNE_TRY(decode(*task, &choices[i].id, 1, 0, candidate.word, candidate.word_bytes));
      sequence.clear();
      for (size_t k = 0; k < length; ++k) {
        int32_t id = k == places[number].token ? choices[i].id : task->ids[k];
        if (id != int32_t(defaults.pad_id))
          sequence.push(id);
      }
      // Special tokens are skipped if there is one mask. With several masks they stay, so that the other masks are
      // shown.
      ATTUNE_TRY(decode(*task, sequence.data, sequence.size, places.size == 1, candidate.sequence, candidate.sequence_bytes));
      candidates.push(candidate);
    }
  }
  *outCandidates = candidates.data;
  *outNum = candidates.size;
  return ATTUNE_OK;
}
