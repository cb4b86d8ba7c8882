//===- Task.h - A model with its tokenizer --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is one block of memory: this struct, tokens of the texts of a turn, tensors of a batch, results, and, if the
// memory is the caller's, the tokenizer and the session. A call processes its texts in turns of at most maxTexts:
//
//     texts -> tokens of at most maxTexts texts -> sorted by length -> batches of at most maxBatch -> rows in order
//
// Batches are padded to their longest text and the model leaves padding out, so that neither the order nor the
// neighbors of a text change its result.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TASKS_TASK_H
#define ATTUNE_RUNTIME_TEXT_TASKS_TASK_H

#include "attune/tasks.h"
#include "runtime/text/CallLock.h"
#include "runtime/text/Memory.h"
#include "runtime/text/tasks/TaskFormat.h"
#include "runtime/text/TextFile.h"

namespace attune::text {

/// The checked section TASK.
class TaskSettings {
public:
  /// Reads the section TASK of |text|; without one, or with a damaged one, all settings are defaults.
  explicit TaskSettings(const attune_text *text);
  TaskSettings() = default;

  TaskHeader header = {};
  const char *stringAt(TaskString place, size_t &bytes) const;
  /// Returns prompt |index|, which exists.
  const TaskPrompt &prompt(uint32_t index) const { return prompts[index]; }

private:
  const TaskPrompt *prompts = nullptr;
  const char *strings = nullptr;
};

/// The tokens of one text of a turn, or of one window of it.
struct TokenRow {
  uint32_t begin; ///< in Task::ids
  uint32_t length;
  uint32_t output; ///< the row of results
};

/// The form of a model's outputs for a task.
struct TaskShape {
  const attune_entry_desc *entry;
  uint32_t outputs[2]; ///< the numbers of the outputs that are read; start and end logits for answers
  int64_t features;    ///< elements of a row of these outputs
  bool perToken;       ///< they have a row for each token (not set for answers)
};

/// The most outputs of an entry that a task runs.
constexpr uint32_t kMaxOutputs = 64;

/// Finds the entry and the outputs of |kind|. Fails with INVALID_ARGUMENT.
attune_status findTaskShape(const attune_model *model, attune_task_kind kind, TaskShape &shape);

} // namespace attune::text

/// A task. The block of memory that it begins also holds its buffers.
struct attune_task {
  attune_model *model;
  const attune_text *text;
  attune_task_kind kind;
  attune::text::TaskSettings settings;
  attune::text::TaskShape shape;
  attune_session *session;
  attune_tokenizer *tokenizer;
  int64_t maxBatch, maxLength, maxTexts;
  size_t maxTextBytes;
  int64_t numCut;
  uint32_t running = 0; // the flag of a CallLock
  bool hasTypes, hasMask, hasPromptLength;

  // Tokens of a turn.
  attune::text::Array<int32_t> ids, types;
  attune::text::Array<attune::text::TokenRow> rows;
  // A batch.
  int32_t *batchIds, *batchTypes, *batchMask, *batchPrompts;
  void *batchOutputs[attune::text::kMaxOutputs];
  // Memory of results, and the caller's text behind its prompt.
  attune::text::Memory results;
  char *joined;

  void *block;
  size_t blockBytes;
  bool ownsBlock;
};

namespace attune::text {

/// Fails with INVALID_ARGUMENT if |task| is null or not of |kind|.
attune_status checkKind(const attune_task *task, attune_task_kind kind);
/// Appends the tokens of |input|, encoded by |options|, to those of the turn, as the row of result number |output|.
/// Adds 1 to task.numCut if |options| cut the text. Fails as the tokenizer does, and with INVALID_ARGUMENT without a
/// token.
attune_status appendText(attune_task &task, const attune_text_input &input, uint32_t output, const attune_encode_options &options);
/// Returns the options for texts that are cut at the task's length.
attune_encode_options cutOptions(const attune_task &task);
/// Runs the model on rows [begin, end) of the turn, padded to the longest of them; results go to task.batchOutputs.
/// |promptLength| is the number of tokens of the prompt, for models that have it as an input.
attune_status runBatch(attune_task &task, size_t begin, size_t end, int32_t promptLength);
/// Runs the model on all texts, each with |prefix| before it, and writes task.shape.features values for each text to
/// |out|: its row, or the mean of the rows of its tokens. Sets task.numCut. |promptLength| is as for runBatch. Fails as
/// appendText and runBatch do, and with INVALID_ARGUMENT (null) or LIMIT_EXCEEDED (task.maxTextBytes).
attune_status runTexts(attune_task &task, const attune_text_input *texts, size_t count, const char *prefix, size_t prefixBytes,
                       int32_t promptLength, float *out);
/// Returns the values of output |number| of the task's shape.
inline const float *resultsOf(const attune_task &task, int number) {
  return static_cast<const float *>(task.batchOutputs[task.shape.outputs[number]]);
}
/// Replaces |count| logits by their softmax. Returns false if it has no value, because a logit is NaN or +inf or all are -inf.
bool softmax(float *logits, int64_t count);

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TASKS_TASK_H
