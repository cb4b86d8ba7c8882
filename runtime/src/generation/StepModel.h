//===- StepModel.h - The model interface of generation --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_STEPMODEL_H
#define ATTUNE_RUNTIME_GENERATION_STEPMODEL_H

#include "attune/runtime.h"

namespace attune {

/// A model that continues sequences one id at a time. Generation keeps a list of open sequences. Sequences that end
/// leave the list, and beam search replaces some by copies of others. So for each sequence, a step names the sequence
/// of the previous call that it continues.
struct StepModel {
  void *state;
  int64_t vocabSize;
  /// Reads the prompt of each of |rows| rows and writes the logits after it, [rows, vocabSize].
  attune_status (*start)(void *state, int64_t rows, float *logits);
  /// Appends ids[i] to sequence i of |count|, which continues sequence parents[i] of the previous call of start or
  /// step; writes the logits after it, [count, vocabSize]. Several sequences may have the same parent. Sequences of one
  /// row of the prompt are adjacent, and rows ascend.
  attune_status (*step)(void *state, const int64_t *parents, const int64_t *ids, int64_t count, float *logits);
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_STEPMODEL_H
