//===- BeamLoop.cpp - Several sequences per row, the likeliest win --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BeamSearch.h"
#include "ScratchBuffer.h"
#include "Generate.h"
#include "LogitRules.h"
#include "LogSoftmax.h"

#include <algorithm>
#include <cmath>
#include <new>

using namespace attune;

namespace {

/// The sum of beams that the first step does not expand.
constexpr double kClosed = -1e9;

/// The beams of one row of the prompt.
struct BeamRow {
  int64_t row;            ///< in the prompt
  double *sums;           ///< [num_beams]
  int64_t *sources;       ///< [num_beams], the model's sequence (and row of logits) of each beam
  int64_t *ids, *nextIds; ///< [num_beams, max_length]
  Hypotheses *found;
};

/// The state of one generation. Rows that are done leave `rows`.
class BeamLoop {
public:
  BeamLoop(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt, GenerationResult &result)
      : model(model), options(options), prompt(prompt), result(result), beams(options.num_beams) {}

  attune_status run();

private:
  void layOut(Arena &arena);
  void begin();
  void toLogProbabilities();
  void advanceRow(BeamRow &row, BeamCandidates &best);
  bool advance(BeamCandidates &best);
  void finish();
  void write(int64_t to, const Hypothesis &hypothesis);

  const StepModel &model;
  const attune_generation_options &options;
  const GenerationPrompt &prompt;
  GenerationResult &result;
  const int64_t beams;
  int64_t active = 0, length = 0, sequences = 0;
  float *logits = nullptr;
  BeamRow *rows = nullptr, *all = nullptr; // all: every row, for its hypotheses
  int64_t *parents = nullptr, *ids = nullptr;
  uint8_t *seen = nullptr;
};

} // namespace

void BeamLoop::layOut(Arena &arena) {
  int64_t count = prompt.rows * beams;
  logits = arena.take<float>(count * model.vocabSize);
  rows = arena.take<BeamRow>(prompt.rows);
  all = arena.take<BeamRow>(prompt.rows);
  parents = arena.take<int64_t>(count);
  ids = arena.take<int64_t>(count);
  seen = arena.take<uint8_t>(model.vocabSize);
  for (int64_t r = 0; r < prompt.rows; ++r) {
    BeamRow row{r,
                arena.take<double>(beams),
                arena.take<int64_t>(beams),
                arena.take<int64_t>(beams * options.max_length),
                arena.take<int64_t>(beams * options.max_length),
                arena.take<Hypotheses>(1)};
    Hypotheses found(arena, options);
    if (rows)
      new (row.found) Hypotheses(found), rows[r] = row;
  }
}

void BeamLoop::begin() {
  length = prompt.length;
  active = sequences = prompt.rows;
  for (int64_t r = 0; r < prompt.rows; ++r)
    for (int64_t beam = 0; beam < beams; ++beam) {
      rows[r].sums[beam] = beam == 0 ? 0 : kClosed;
      rows[r].sources[beam] = r;
      std::copy_n(prompt.ids + r * prompt.length, prompt.length, rows[r].ids + beam * options.max_length);
    }
}

/// Turns the logits of every sequence into log-probabilities.
void BeamLoop::toLogProbabilities() {
  for (int64_t sequence = 0; sequence < sequences; ++sequence) {
    float *scores = logits + sequence * model.vocabSize;
    if (options.never_token_id >= 0)
      scores[options.never_token_id] = -INFINITY;
    logSoftmax(scores, model.vocabSize);
  }
}

/// Fills the row's beams with the best candidates that do not end; those that end become hypotheses if they are among the first num_beams.
void BeamLoop::advanceRow(BeamRow &row, BeamCandidates &best) {
  best.clear();
  for (int64_t beam = 0; beam < beams; ++beam) {
    float *scores = logits + row.sources[beam] * model.vocabSize;
    // Beams of one source have the same ids only before the first step, so the rules need to be applied once.
    if (beam == 0 || row.sources[beam] != row.sources[beam - 1])
      applyRules(options, {{row.ids + beam * options.max_length, length}, prompt.length, prompt.sourceOf(row.row)}, model.vocabSize, scores,
                 seen);
    best.add(beam, row.sums[beam], scores, model.vocabSize);
  }
  int64_t next = 0, offset = sequences;
  for (int64_t rank = 0; rank < best.size() && next < beams; ++rank) {
    const BeamCandidate &candidate = best[rank];
    const int64_t *from = row.ids + candidate.beam * options.max_length;
    if (isEnd(options, candidate.id)) {
      if (rank < beams)
        row.found->add(from, length, candidate.sum);
      continue;
    }
    int64_t *to = row.nextIds + next * options.max_length;
    std::copy_n(from, length, to)[0] = candidate.id;
    parents[offset + next] = row.sources[candidate.beam];
    ids[offset + next] = candidate.id;
    row.sums[next++] = candidate.sum;
  }
  std::swap(row.ids, row.nextIds);
}

/// One step of every active row; drops those that are done. Returns false if the caller cancels.
bool BeamLoop::advance(BeamCandidates &best) {
  toLogProbabilities();
  int64_t kept = 0;
  bool goOn = true;
  sequences = 0;
  for (int64_t r = 0; r < active; ++r) {
    BeamRow row = rows[r];
    advanceRow(row, best);
    if (options.on_token && options.on_token(options.user, row.row, -1, length + 1) != 0)
      goOn = false;
    if (row.found->isDone(best[0].sum, length)) {
      all[row.row] = row;
      all[row.row].sums = nullptr; // its open beams do not count
      continue;
    }
    for (int64_t beam = 0; beam < beams; ++beam)
      row.sources[beam] = sequences + beam;
    sequences += beams;
    rows[kept++] = row;
  }
  active = kept;
  ++length;
  return goOn;
}

void BeamLoop::write(int64_t to, const Hypothesis &hypothesis) {
  int64_t *sequence = result.sequences + to * options.max_length;
  int64_t *end = std::copy_n(hypothesis.ids, hypothesis.length, sequence);
  std::fill(end, sequence + options.max_length, options.pad_token_id);
  if (hypothesis.length < options.max_length && options.num_eos_token_ids)
    *end = options.eos_token_ids[0];
  result.length = std::max(result.length, std::min(hypothesis.length + 1, options.max_length));
  if (result.scores)
    result.scores[to] = static_cast<float>(hypothesis.score);
}

/// Open beams become hypotheses; the best of each row are the result.
void BeamLoop::finish() {
  for (int64_t r = 0; r < active; ++r)
    all[rows[r].row] = rows[r];
  result.length = 0;
  for (int64_t r = 0; r < prompt.rows; ++r) {
    const BeamRow &row = all[r];
    for (int64_t beam = 0; row.sums && beam < beams; ++beam)
      row.found->add(row.ids + beam * options.max_length, length, row.sums[beam]);
    row.found->sort();
    for (int64_t i = 0; i < options.num_return_sequences; ++i)
      write(r * options.num_return_sequences + i, (*row.found)[i]);
  }
  result.steps = length - prompt.length;
  for (int64_t i = 0; i < prompt.rows * options.num_return_sequences; ++i)
    std::copy_n(result.sequences + i * options.max_length, result.length, result.sequences + i * result.length);
}

attune_status BeamLoop::run() {
  Arena measure;
  layOut(measure);
  // Each beam may have all ends among its best continuations, and one more is wanted of it; two at least, as the reference library takes.
  int64_t wanted = beams * std::max<int64_t>(2, 1 + static_cast<int64_t>(options.num_eos_token_ids));
  BeamCandidates measured(measure, wanted);
  ScratchBuffer buffer;
  ATTUNE_TRY(buffer.allocate(measure.getBytes()));
  Arena arena(buffer.get());
  layOut(arena);
  BeamCandidates best(arena, wanted);
  begin();
  ATTUNE_TRY(model.start(model.state, prompt.rows, logits));
  while (advance(best) && active > 0 && length < options.max_length)
    ATTUNE_TRY(model.step(model.state, parents, ids, sequences, logits));
  finish();
  return ATTUNE_OK;
}

attune_status attune::searchBeams(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                                  GenerationResult &result) {
  return BeamLoop(model, options, prompt, result).run();
}
