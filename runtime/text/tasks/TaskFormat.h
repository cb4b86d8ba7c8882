//===- TaskFormat.h - Settings of tasks in a .text file -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section TASK: the settings of a model folder for tasks on texts. It consists of
//
//     TaskHeader, TaskPrompt [numPrompts], bytes of strings
//
// A string is a range of the string bytes. A reader whose TaskHeader has fewer than headerBytes bytes ignores the rest
// of the header.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TASKS_TASKFORMAT_H
#define ATTUNE_RUNTIME_TEXT_TASKS_TASKFORMAT_H

#include <cstdint>

namespace attune::text {

/// A string: bytes [offset, offset + size) of the string bytes.
struct TaskString {
  uint32_t offset, size;
};

/// Flags of a model folder.
enum TaskFlag : uint32_t {
  kTaskSentences = 1, ///< modules.json lists modules after the transformer, which say how embeddings are made
};

/// The problem_type of config.json, which chooses the function from logits to scores.
enum class TaskProblem : uint32_t {
  None = 0, ///< not given: sigmoid of one logit, softmax of several, as for SingleLabel
  SingleLabel = 1,
  MultiLabel = 2, ///< sigmoid
  Regression = 3, ///< the logits themselves
};

/// The similarity function of the folder, with the values of attune_similarity.
enum class TaskSimilarity : uint32_t { Cosine = 0, Dot = 1, Euclidean = 2, Manhattan = 3 };

/// The beginning of the section TASK.
struct TaskHeader {
  uint32_t headerBytes; ///< sizeof(TaskHeader) in the compiler that wrote the file
  uint32_t flags;       ///< TaskFlag
  uint32_t maxLength;   ///< most tokens of a text, special ones included; 0 = as many as the model takes
  TaskProblem problem;
  TaskSimilarity similarity;
  uint32_t numPrompts;
  uint32_t defaultPrompt; ///< index of the prompt for texts without a prompt name, kNoId if there is none
  uint32_t padId;         ///< pad_token_id of config.json, kNoId if there is none
  TaskString maskToken, clsToken, unknownToken; ///< empty = not given
  uint32_t stringBytes;
  uint32_t reserved[3];
};
static_assert(sizeof(TaskHeader) == 72, "TaskHeader is part of the format");

/// A named text that goes before the texts of a call.
struct TaskPrompt {
  TaskString name, text;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TASKS_TASKFORMAT_H
