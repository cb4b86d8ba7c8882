//===- Generate.h - The loops of generation -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_GENERATE_H
#define ATTUNE_RUNTIME_GENERATION_GENERATE_H

#include "attune/generate.h"
#include "LogitsProcessors.h"
#include "StepModel.h"

namespace attune {

/// The prompts of a generation: |ids| is [rows, length]. Search loops only count and compare ids; the model reads the
/// prompts itself.
struct GenerationPrompt {
  int64_t rows, length;
  const int64_t *ids;
  /// The ids of the sources (without an encoder: of the prompts), [rows, sourceLength], if an option needs them
  /// (encoder_repetition_penalty, …); else null.
  const int64_t *sources = nullptr;
  int64_t sourceLength = 0;
  /// The mask of the prompts, [rows, length], or null; 0 is padding.
  const int64_t *mask = nullptr;

  /// Returns the input of applyLogitsProcessors for a sequence of |count| ids at |ids|, which begins with the prompt of
  /// |row|.
  LogitsContext logitsContext(int64_t row, const int64_t *ids, int64_t count) const {
    int64_t padding = 0;
    while (mask && padding < length && mask[row * length + padding] == 0)
      ++padding;
    return {{ids, count}, length, sourceOf(row), padding};
  }
  IdList sourceOf(int64_t row) const { return sources ? IdList{sources + row * sourceLength, sourceLength} : IdList{nullptr, 0}; }
};

/// The memory of the results. It has num_return_sequences rows for each row of the prompt.
struct GenerationResult {
  int64_t *sequences; ///< [rows, max_length] while written, [rows, length] at the end
  float *scores;      ///< [rows], beam search only; or null
  float *stepLogits;  ///< [rows, max_length - prompt length, vocabSize] while written, [rows, steps, vocabSize] at the end; greedy and
                      ///< sampling only; or null
  int64_t length;     ///< ids of the longest sequence
  int64_t steps;      ///< ids chosen for the longest sequence; in a beam search the number of steps
};

/// Checks |options| against |vocabSize| and the |length| of the prompts, and resolves max_new_tokens into max_length,
/// and min_new_tokens into min_length. Replaces a negative pad_token_id by the first end id, or by 0 if there is none.
/// Fails with INVALID_ARGUMENT.
attune_status checkGenerationOptions(attune_generation_options &options, int64_t vocabSize, int64_t length);

/// Checks num_beams and, if do_sample is not 0, the options that only sampling reads. Fails with INVALID_ARGUMENT.
attune_status checkSamplingOptions(const attune_generation_options &options);

/// Runs greedy search, sampling or beam search by checked |options|. A generation that on_token ends succeeds with the
/// ids so far. Takes memory for the time of the call. Fails with OUT_OF_MEMORY, as |model| does, or with
/// INVALID_ARGUMENT if the logits leave no id to choose.
attune_status generate(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                       GenerationResult &result);

/// searchGreedily runs greedy search or sampling, searchBeams beam search.
attune_status searchGreedily(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                             GenerationResult &result);
attune_status searchBeams(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                          GenerationResult &result);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_GENERATE_H
