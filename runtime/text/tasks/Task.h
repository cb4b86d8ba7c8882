//===- Task.h - A model with its tokenizer --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is one block of memory: the struct attune_task, the tokens of the texts of a turn, the tensors of a batch, and
// the results. If the caller supplies the memory, the session and the tokenizer follow. A call processes its texts in
// turns of at most maxTexts:
//
//     texts -> tokens of at most maxTexts texts -> sorted by length -> batches of at most maxBatch -> rows in order
//
// Each batch is padded to its longest text. The model ignores padding, so neither the order of the texts nor the other
// texts of a batch change the result of a text.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TASKS_TASK_H
#define ATTUNE_RUNTIME_TEXT_TASKS_TASK_H

#include "attune/tasks.h"
#include "runtime/text/CallLock.h"
#include "runtime/text/Memory.h"
#include "runtime/text/tasks/TaskFormat.h"
#include "runtime/text/TextFile.h"

namespace attune::text {

/// The settings in the section TASK of a .text file.
class TaskSettings {
public:
  /// Reads and checks the section TASK of |text|. If |text| is null, or the section is missing or damaged, all settings
  /// are defaults.
  explicit TaskSettings(const attune_text *text);
  TaskSettings() = default;

  TaskHeader header = {};
  const char *stringAt(TaskString place, size_t &bytes) const;
  /// Returns prompt |index|, which must be less than header.numPrompts.
  const TaskPrompt &prompt(uint32_t index) const { return prompts[index]; }

private:
  const TaskPrompt *prompts = nullptr;
  const char *strings = nullptr;
};

/// The tokens of one text of a turn, or of one window of a text.
struct TokenRow {
  uint32_t begin; ///< index of the first token in attune_task::ids and types
  uint32_t length;
  uint32_t output; ///< index of the result that the row makes
};

/// The outputs of a model that a task reads.
struct TaskShape {
  const attune_entry_desc *entry;
  uint32_t outputs[2]; ///< their indices in |entry|: start and end logits for answers, else only the first is used
  int64_t features;    ///< elements of a row of an output
  bool perToken;       ///< an output has a row for each token, not for each text; false for answers
};

/// The most outputs of an entry that a task runs.
constexpr uint32_t kMaxOutputs = 64;

/// Finds the entry and the outputs of |kind|. Fails with INVALID_ARGUMENT if |model| has no such outputs, or needs an
/// input that texts do not give.
attune_status findTaskShape(const attune_model *model, attune_task_kind kind, TaskShape &shape);

} // namespace attune::text

/// A task. The struct is at the beginning of a block of memory that also holds its buffers.
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
  // Memory of results, and room for a prompt with the caller's text behind it.
  attune::text::Memory results;
  char *joined;

  void *block;
  size_t blockBytes;
  bool ownsBlock;
};

namespace attune::text {

/// Fails with INVALID_ARGUMENT if |task| is null or not of |kind|.
attune_status checkKind(const attune_task *task, attune_task_kind kind);
/// Appends |input|, encoded by |options|, to the rows of the turn; |output| is the index of its result.
/// options.max_length must be at most task.maxLength. Adds 1 to task.numCut if the text has more tokens and is cut.
/// Fails as the tokenizer does, and with INVALID_ARGUMENT for a text without a token.
attune_status appendText(attune_task &task, const attune_text_input &input, uint32_t output, const attune_encode_options &options);
/// Returns the default options of encoding, with task.maxLength as the length at which texts are cut.
attune_encode_options cutOptions(const attune_task &task);
/// Runs the model on rows [begin, end) of the turn, padded to the longest of them, and writes to task.batchOutputs.
/// |promptLength| is the number of tokens of the prompt, for models that have it as an input.
attune_status runBatch(attune_task &task, size_t begin, size_t end, int32_t promptLength);
/// Runs the model on |count| texts, each with |prefix| before it, and writes task.shape.features values for each text
/// to |out|: the row of the text in the output, or, with task.shape.perToken, the mean of the rows of its tokens. Sets
/// task.numCut. |promptLength| is as for runBatch. Fails as appendText and runBatch do, with INVALID_ARGUMENT if
/// |texts|, |out| or a text is null, and with LIMIT_EXCEEDED if a text and |prefix| have more than task.maxTextBytes
/// bytes.
attune_status runTexts(attune_task &task, const attune_text_input *texts, size_t count, const char *prefix, size_t prefixBytes,
                       int32_t promptLength, float *out);
/// Returns the values that the last batch has written to output |number|, 0 or 1, of task.shape.outputs.
inline const float *resultsOf(const attune_task &task, int number) {
  return static_cast<const float *>(task.batchOutputs[task.shape.outputs[number]]);
}
/// Replaces |count| logits by their softmax. Returns false if the softmax has no value because a logit is NaN or +inf,
/// or all logits are -inf.
bool softmax(float *logits, int64_t count);

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TASKS_TASK_H
