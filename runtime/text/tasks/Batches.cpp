//===- Batches.cpp - Texts of a call, turn by turn ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/src/Error.h"
#include "runtime/text/tasks/Task.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace attune;
using namespace attune::text;

bool attune::text::softmax(float *logits, int64_t count) {
  float largest = logits[0], sum = 0;
  for (int64_t i = 1; i < count; ++i)
    largest = logits[i] > largest ? logits[i] : largest;
  for (int64_t i = 0; i < count; ++i)
    sum += logits[i] = expf(logits[i] - largest);
  for (int64_t i = 0; i < count; ++i)
    logits[i] /= sum;
  return sum == sum;
}

attune_encode_options attune::text::cutOptions(const attune_task &task) {
  attune_encode_options options;
  attune_encode_options_init(task.text, &options);
  options.max_length = task.maxLength;
  return options;
}

attune_status attune::text::appendText(attune_task &task, const attune_text_input &input, uint32_t output,
                                       const attune_encode_options &options) {
  attune_encode_options whole = options;
  whole.max_length = -1;
  const attune_encoding *encodings;
  size_t count;
  ATTUNE_TRY(attune_tokenizer_encode(task.tokenizer, &input, 1, &whole, &encodings, &count));
  if (encodings[0].length > options.max_length) {
    ATTUNE_TRY(attune_tokenizer_encode(task.tokenizer, &input, 1, &options, &encodings, &count));
    ++task.numCut;
  }
  const attune_encoding &encoding = encodings[0];
  if (encoding.length == 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "the text has no tokens");
  TokenRow row = {uint32_t(task.ids.size), uint32_t(encoding.length), output};
  memcpy(task.ids.data + row.begin, encoding.ids, size_t(encoding.length) * sizeof(int32_t));
  memcpy(task.types.data + row.begin, encoding.type_ids, size_t(encoding.length) * sizeof(int32_t));
  task.ids.size += size_t(encoding.length);
  task.rows.push(row);
  return ATTUNE_OK;
}

/// Sorts rows by length, long ones first; rows of one length stay in the order of their texts.
static void sortRows(Array<TokenRow> &rows) {
  auto isBefore = [](const TokenRow &a, const TokenRow &b) { return a.length != b.length ? a.length > b.length : a.output < b.output; };
  // Heap sort: it takes no memory.
  auto sink = [&](size_t root, size_t size) {
    for (size_t child; (child = 2 * root + 1) < size; root = child) {
      if (child + 1 < size && isBefore(rows[child], rows[child + 1]))
        ++child;
      if (!isBefore(rows[root], rows[child]))
        return;
      TokenRow kept = rows[root];
      rows[root] = rows[child];
      rows[child] = kept;
    }
  };
  for (size_t i = rows.size / 2; i-- > 0;)
    sink(i, rows.size);
  for (size_t size = rows.size; size > 1; --size) {
    TokenRow kept = rows[0];
    rows[0] = rows[size - 1];
    rows[size - 1] = kept;
    sink(0, size - 1);
  }
}

attune_status attune::text::runBatch(attune_task &task, size_t begin, size_t end, int32_t promptLength) {
  const attune_entry_desc &entry = *task.shape.entry;
  int64_t batch = int64_t(end - begin), length = 1;
  for (size_t i = begin; i < end; ++i)
    length = task.rows[i].length > length ? task.rows[i].length : length;
  attune_encode_options defaults;
  attune_encode_options_init(task.text, &defaults);
  int32_t pad = task.settings.header.padId != kNoId ? int32_t(task.settings.header.padId) : int32_t(defaults.pad_id);
  for (int64_t b = 0; b < batch; ++b) {
    const TokenRow &row = task.rows[begin + size_t(b)];
    int32_t *ids = task.batchIds + b * length, *types = task.batchTypes + b * length, *mask = task.batchMask + b * length;
    memcpy(ids, task.ids.data + row.begin, row.length * sizeof(int32_t));
    memcpy(types, task.types.data + row.begin, row.length * sizeof(int32_t));
    for (int64_t i = 0; i < length; ++i)
      mask[i] = i < row.length;
    for (int64_t i = row.length; i < length; ++i) {
      ids[i] = pad;
      types[i] = 0;
    }
    task.batchPrompts[b] = promptLength;
  }
  const int64_t shape[2] = {batch, length};
  const size_t bytes = size_t(batch * length) * sizeof(int32_t);
  attune_tensor inputs[4];
  size_t numInputs = 0;
  inputs[numInputs++] = {"input_ids", ATTUNE_I32, 2, shape, task.batchIds, bytes};
  if (task.hasMask)
    inputs[numInputs++] = {"attention_mask", ATTUNE_I32, 2, shape, task.batchMask, bytes};
  if (task.hasTypes)
    inputs[numInputs++] = {"token_type_ids", ATTUNE_I32, 2, shape, task.batchTypes, bytes};
  if (task.hasPromptLength)
    inputs[numInputs++] = {"prompt_length", ATTUNE_I32, 1, shape, task.batchPrompts, size_t(batch) * sizeof(int32_t)};

  int64_t dims[ATTUNE_MAX_DIMS], shapes[kMaxOutputs][ATTUNE_MAX_RANK];
  attune_tensor outputs[kMaxOutputs];
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    dims[i] = strcmp(entry.dims[i].name, "batch") == 0 ? batch : length;
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    size_t outputBytes;
    ATTUNE_TRY(attune_output_shape(task.model, entry.name, i, dims, shapes[i], &outputBytes));
    outputs[i] = {
        entry.outputs[i].name, attune_dtype(entry.outputs[i].dtype), entry.outputs[i].rank, shapes[i], task.batchOutputs[i], outputBytes};
  }
  return attune_session_run(task.session, entry.name, inputs, numInputs, outputs, entry.num_outputs);
}

/// Writes the mean of the |count| rows at |rows|, of |features| values each, to |out|. Adds the rows in their order.
static void writeMean(const float *rows, int64_t count, int64_t features, float *out) {
  memset(out, 0, size_t(features) * sizeof(float));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < features; ++j)
      out[j] += rows[i * features + j];
  for (int64_t j = 0; j < features; ++j)
    out[j] /= float(count);
}

/// Sorts and runs the tokenized texts of |task|, and writes a vector for each to |out|, in the order of the texts: the
/// text's row of the model's output or, if the output has a row for each token, the mean of the rows of its tokens.
static attune_status runTurn(attune_task &task, int32_t promptLength, float *out) {
  sortRows(task.rows);
  // A classifier that reads the row of the last token may find this token only by the id of padding. Without such an id
  // it would read the row of a padded position, so each batch has texts of one length.
  const bool equalLengths = task.kind == ATTUNE_TASK_CLASSIFY_TEXTS && task.settings.header.padId == kNoId;
  for (size_t begin = 0, end; begin < task.rows.size; begin = end) {
    for (end = begin + 1; end < task.rows.size && end - begin < size_t(task.maxBatch); ++end)
      if (equalLengths && task.rows[end].length != task.rows[begin].length)
        break;
    ATTUNE_TRY(runBatch(task, begin, end, promptLength));
    const int64_t features = task.shape.features, length = task.rows[begin].length;
    const float *results = resultsOf(task, 0);
    for (size_t i = begin; i < end; ++i) {
      const TokenRow &row = task.rows[i];
      float *to = out + int64_t(row.output) * features;
      if (task.shape.perToken)
        writeMean(results + int64_t(i - begin) * length * features, row.length, features, to);
      else
        memcpy(to, results + int64_t(i - begin) * features, size_t(features) * sizeof(float));
    }
  }
  return ATTUNE_OK;
}

attune_status attune::text::runTexts(attune_task &task, const attune_text_input *texts, size_t count, const char *prefix,
                                     size_t prefixBytes, int32_t promptLength, float *out) {
  if (count && (!texts || !out))
    return fail(ATTUNE_INVALID_ARGUMENT, texts ? "the results are null" : "texts is null");
  task.numCut = 0;
  const attune_encode_options options = cutOptions(task);
  for (size_t first = 0; first < count;) {
    task.ids.clear();
    task.rows.clear();
    size_t turn = count - first < size_t(task.maxTexts) ? count - first : size_t(task.maxTexts);
    for (size_t i = 0; i < turn; ++i) {
      attune_text_input input = texts[first + i];
      if (task.kind == ATTUNE_TASK_EMBED)
        input.pair = nullptr; // embeddings are those of one text
      if (!input.text && input.bytes)
        return fail(ATTUNE_INVALID_ARGUMENT, "text %zu: the text is null", first + i);
      size_t bytes = input.bytes + (input.pair ? input.pair_bytes : 0);
      if (bytes < input.bytes || bytes > task.maxTextBytes || prefixBytes > task.maxTextBytes - bytes)
        return fail(ATTUNE_LIMIT_EXCEEDED, "text %zu: expected at most %zu bytes (max_text_bytes), got %zu", first + i, task.maxTextBytes,
                    bytes + prefixBytes);
      if (prefixBytes) {
        memcpy(task.joined, prefix, prefixBytes);
        if (input.bytes)
          memcpy(task.joined + prefixBytes, input.text, input.bytes);
        input.text = task.joined;
        input.bytes += prefixBytes;
      }
      if (attune_status status = appendText(task, input, uint32_t(i), options); status != ATTUNE_OK) {
        char reason[512];
        strncpy(reason, attune_last_error(), sizeof(reason) - 1);
        reason[sizeof(reason) - 1] = 0;
        const char *text = strncmp(reason, "input 0: ", 9) == 0 ? reason + 9 : reason;
        return fail(status, "text %zu: %s", first + i, text);
      }
    }
    ATTUNE_TRY(runTurn(task, promptLength, out + int64_t(first) * task.shape.features));
    first += turn;
  }
  return ATTUNE_OK;
}
