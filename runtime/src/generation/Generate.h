//===- Generate.h - The loops of generation -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_GENERATE_H
#define ATTUNE_RUNTIME_GENERATION_GENERATE_H

#include "attune/generate.h"
#include "LogitRules.h"
#include "StepModel.h"

namespace attune {

/// The prompt of a generation: |rows| rows of |length| ids, [rows, length]. The search only counts and compares them.
struct GenerationPrompt {
  int64_t rows, length;
  const int64_t *ids;
  /// The ids of the sources, [rows, sourceLength], where a rule is about them; else null.
  const int64_t *sources = nullptr;
  int64_t sourceLength = 0;

  IdList sourceOf(int64_t row) const { return sources ? IdList{sources + row * sourceLength, sourceLength} : IdList{nullptr, 0}; }
};

/// The memory of the results. Rows are those of the prompt times num_return_sequences.
struct GenerationResult {
  int64_t *sequences; ///< [rows, max_length] while written, [rows, length] at the end
  float *scores;      ///< [rows], beam search only; or null
  float *stepLogits;  ///< [rows, max_length - prompt length, vocabSize] while written, [rows, steps, vocabSize] at the end; greedy and
                      ///< sampling only; or null
  int64_t length;     ///< of the longest sequence
  int64_t steps;      ///< how many ids were chosen for the longest sequence
};

/// Checks |options| against the vocabulary and the length of the prompts, and resolves max_new_tokens into max_length and min_new_tokens
/// into min_length.
attune_status checkGenerationOptions(attune_generation_options &options, int64_t vocabSize, int64_t length);

/// Checks what sampling goes by alone.
attune_status checkSamplingOptions(const attune_generation_options &options);

/// Greedy search, sampling or beam search by checked |options|. A cancelled generation succeeds with the ids so far. Takes memory of its
/// own for the time of the call, besides that of the model.
attune_status generate(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                       GenerationResult &result);

/// The two kinds of loop.
attune_status searchGreedily(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                             GenerationResult &result);
attune_status searchBeams(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                          GenerationResult &result);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_GENERATE_H
