//===- GreedySearch.cpp - Greedy search and sampling ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Error.h"
#include "Arena.h"
#include "Generate.h"
#include "LogitsProcessors.h"
#include "Sampling.h"
#include "ScratchBuffer.h"

#include <algorithm>
#include <cmath>

using namespace attune;

namespace {

/// The state of one generation. Sequence i of the next call of the model is row rows[i] of the result, and sources[i]
/// is its row of |logits|. Rows that end leave |rows|.
class GreedySearch {
public:
  GreedySearch(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt, GenerationResult &result)
      : model(model), options(options), prompt(prompt), result(result), count(prompt.rows * options.num_return_sequences) {}

  attune_status run();

private:
  void layOut(Arena &arena);
  void begin();
  int64_t choose(int64_t row, float *logits);
  void keepLogits(int64_t row, const float *logits);
  attune_status advance(bool &goOn);
  void finish();

  const StepModel &model;
  const attune_generation_options &options;
  const GenerationPrompt &prompt;
  GenerationResult &result;
  const int64_t count; // rows of the result
  int64_t active = 0, length = 0;
  float *logits = nullptr;
  int64_t *rows = nullptr, *parents = nullptr, *ids = nullptr, *sources = nullptr;
  int32_t *counts = nullptr;
  Candidate *candidates = nullptr;
};

} // namespace

void GreedySearch::layOut(Arena &arena) {
  logits = arena.take<float>(count * model.vocabSize);
  rows = arena.take<int64_t>(count);
  parents = arena.take<int64_t>(count);
  ids = arena.take<int64_t>(count);
  sources = arena.take<int64_t>(count);
  counts = arena.take<int32_t>(model.vocabSize);
  candidates = arena.take<Candidate>(options.do_sample ? model.vocabSize : 0);
}

void GreedySearch::begin() {
  length = prompt.length;
  active = count;
  for (int64_t row = 0; row < count; ++row) {
    rows[row] = row;
    sources[row] = row / options.num_return_sequences;
    int64_t *sequence = result.sequences + row * options.max_length;
    std::fill_n(std::copy_n(prompt.ids + sources[row] * prompt.length, prompt.length, sequence), options.max_length - prompt.length,
                options.pad_token_id);
  }
}

void GreedySearch::keepLogits(int64_t row, const float *from) {
  if (result.stepLogits)
    std::copy_n(from, model.vocabSize,
                result.stepLogits + (row * (options.max_length - prompt.length) + length - prompt.length) * model.vocabSize);
}

int64_t GreedySearch::choose(int64_t row, float *scores) {
  const int64_t *sequence = result.sequences + row * options.max_length;
  applyLogitsProcessors(options, prompt.logitsContext(row / options.num_return_sequences, sequence, length), model.vocabSize, scores,
                        counts);
  return options.do_sample ? sampleId(options, scores, model.vocabSize, row, length - prompt.length, candidates)
                           : argMax(scores, model.vocabSize);
}

/// Chooses an id for every active row and drops the rows that this id ends, as an end id or by the caller's answer.
/// Sets |goOn| to false if the caller ends the generation, else to true.
attune_status GreedySearch::advance(bool &goOn) {
  int64_t kept = 0;
  goOn = true;
  for (int64_t i = 0; i < active; ++i) {
    int64_t row = rows[i];
    // In the first step all sequences of a prompt share one row of logits, which choose() changes. So all of them but
    // the last work on a copy, in the last row of |logits|, which is free then.
    float *scores = logits + sources[i] * model.vocabSize;
    bool shared = i + 1 < active && sources[i + 1] == sources[i];
    if (shared)
      scores = std::copy_n(scores, model.vocabSize, logits + (count - 1) * model.vocabSize) - model.vocabSize;
    keepLogits(row, scores);
    int64_t id = choose(row, scores);
    // This condition is true for NaN, too.
    if (!(scores[id] > -INFINITY))
      return failWithoutId(scores, model.vocabSize, row);
    result.sequences[row * options.max_length + length] = id;
    int answer = options.on_token ? options.on_token(options.user, row, id, length + 1) : ATTUNE_TOKEN_GO_ON;
    if (answer != ATTUNE_TOKEN_GO_ON && answer != ATTUNE_TOKEN_END_ROW)
      goOn = false;
    if (isEos(options, id) || answer == ATTUNE_TOKEN_END_ROW)
      continue;
    parents[kept] = sources[i];
    ids[kept] = id;
    rows[kept++] = row;
  }
  active = kept;
  for (int64_t i = 0; i < active; ++i)
    sources[i] = i;
  ++length;
  return ATTUNE_OK;
}

/// Moves the rows of the result together: sequences from max_length to result.length ids each, and step logits from all
/// possible steps to result.steps each.
void GreedySearch::finish() {
  result.length = length;
  result.steps = length - prompt.length;
  int64_t mostSteps = options.max_length - prompt.length;
  for (int64_t row = 0; row < count; ++row) {
    std::copy_n(result.sequences + row * options.max_length, length, result.sequences + row * length);
    if (result.stepLogits)
      std::copy_n(result.stepLogits + row * mostSteps * model.vocabSize, result.steps * model.vocabSize,
                  result.stepLogits + row * result.steps * model.vocabSize);
  }
}

attune_status GreedySearch::run() {
  Arena measure;
  layOut(measure);
  ScratchBuffer buffer;
  ATTUNE_TRY(buffer.allocate(measure.getBytes()));
  Arena arena(buffer.get());
  layOut(arena);
  begin();
  if (result.stepLogits)
    std::fill_n(result.stepLogits, count * (options.max_length - prompt.length) * model.vocabSize, 0.0f);
  ATTUNE_TRY(model.start(model.state, prompt.rows, logits));
  for (bool goOn = true;;) {
    ATTUNE_TRY(advance(goOn));
    if (!goOn || active == 0 || length >= options.max_length)
      break;
    ATTUNE_TRY(model.step(model.state, parents, ids, active, logits));
  }
  finish();
  return ATTUNE_OK;
}

attune_status attune::searchGreedily(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                                     GenerationResult &result) {
  return GreedySearch(model, options, prompt, result).run();
}
