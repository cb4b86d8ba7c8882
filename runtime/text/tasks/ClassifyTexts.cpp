//===- ClassifyTexts.cpp - Scores of labels for texts ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/src/Error.h"
#include "runtime/text/tasks/Task.h"

#include <cmath>

using namespace attune;
using namespace attune::text;

/// Returns the function from logits to scores that the configuration of the model asks for.
static attune_score_function defaultFunction(const attune_task &task) {
  switch (task.settings.header.problem) {
  case TaskProblem::Regression:
    return ATTUNE_SCORES_LOGITS;
  case TaskProblem::MultiLabel:
    return ATTUNE_SCORES_SIGMOID;
  case TaskProblem::SingleLabel:
  case TaskProblem::None:
    break;
  }
  return task.shape.features == 1 ? ATTUNE_SCORES_SIGMOID : ATTUNE_SCORES_SOFTMAX;
}

attune_status attune_classify_texts(attune_task *task, const attune_text_input *texts, size_t numTexts, attune_score_function function,
                                    float *outScores) {
  ATTUNE_TRY(checkKind(task, ATTUNE_TASK_CLASSIFY_TEXTS));
  CallLock lock;
  ATTUNE_TRY(lock.take(task->running, "task"));
  if (function < ATTUNE_SCORES_DEFAULT || function > ATTUNE_SCORES_LOGITS)
    return fail(ATTUNE_INVALID_ARGUMENT, "function: expected 0 to 3, got %d", function);
  if (function == ATTUNE_SCORES_DEFAULT)
    function = defaultFunction(*task);
  ATTUNE_TRY(runTexts(*task, texts, numTexts, nullptr, 0, 0, outScores));
  const int64_t labels = task->shape.features;
  for (size_t i = 0; i < numTexts; ++i) {
    float *scores = outScores + int64_t(i) * labels;
    const bool isSoftmax = function == ATTUNE_SCORES_SOFTMAX;
    if (isSoftmax)
      (void)softmax(scores, labels); // all scores are NaN if the softmax has no value
    bool areNumbers = true;
    for (int64_t j = 0; j < labels; ++j) {
      if (function == ATTUNE_SCORES_SIGMOID)
        scores[j] = 1 / (1 + expf(-scores[j]));
      areNumbers &= scores[j] == scores[j];
    }
    if (!areNumbers)
      return fail(ATTUNE_INVALID_ARGUMENT, "text %zu: expected logits that are numbers, got NaN%s", i,
                  isSoftmax ? " or infinite ones" : "");
  }
  return ATTUNE_OK;
}
