//===- TaskFormat.h - Settings of tasks in a .text file -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section TASK: the settings of a model folder for tasks on texts. It consists of
//
//     TaskHeader, TaskPrompt [numPrompts], bytes of strings
//
// A string is a range of these bytes. A reader whose header has fewer than headerBytes bytes ignores the rest.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TASKS_TASKFORMAT_H
#define ATTUNE_RUNTIME_TEXT_TASKS_TASKFORMAT_H

#include <cstdint>

namespace attune::text {

/// A string: bytes [offset, offset + size) of the string bytes.
struct TaskString {
  uint32_t offset, size;
};

/// Properties of the folder.
enum TaskFlag : uint32_t {
  kTaskSentences = 1, ///< modules.json lists modules after the transformer, which say how embeddings are made
};

/// The function from logits to scores.
enum class TaskProblem : uint32_t {
  None = 0, ///< sigmoid of one logit, softmax of several
  SingleLabel = 1,
  MultiLabel = 2, ///< sigmoid
  Regression = 3, ///< the logits themselves
};

/// The numbers of attune_similarity.
enum class TaskSimilarity : uint32_t { Cosine = 0, Dot = 1, Euclidean = 2, Manhattan = 3 };

/// The beginning of the section TASK.
struct TaskHeader {
  uint32_t headerBytes; ///< sizeof(TaskHeader)
  uint32_t flags;       ///< TaskFlag
  uint32_t maxLength;   ///< most tokens of a text, special ones included; 0 = as many as the model takes
  TaskProblem problem;
  TaskSimilarity similarity;
  uint32_t numPrompts;
  uint32_t defaultPrompt; ///< its number, kNoId if there is none
  uint32_t padId;         ///< the model's, kNoId if it has none
  TaskString maskToken, clsToken, unknownToken;
  uint32_t stringBytes;
  uint32_t reserved[3];
};
static_assert(sizeof(TaskHeader) == 72, "TaskHeader is part of the format");

/// A text that goes before others, by name.
struct TaskPrompt {
  TaskString name, text;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TASKS_TASKFORMAT_H
