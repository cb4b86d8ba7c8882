//===- BeamLoop.cpp - Beam search -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beam search looks for a likely sequence where the best id at each step leads to an unlikely one. Each row of the
// prompt has num_beams open sequences (beams). A step scores every id as continuation of every beam by the sum of the
// log-probabilities, and keeps the best.
//
//   One row, num_beams = 3, one end id (eos)                            slots of the session
//
//   beams before the step         candidates, best first                beams after the step
//   0  "a b"  -1.0                rank 0  beam 0 + c    -1.3   ------>  0  "a b c"  -1.3   parent 0   slot 0 (keeps it)
//   1  "a d"  -1.6                rank 1  beam 1 + eos  -1.8   -> hypothesis "a d"
//   2  "e f"  -2.5                rank 2  beam 0 + g    -2.0   ------>  1  "a b g"  -2.0   parent 0   slot 2 (copy of slot 0)
//                                 rank 3  beam 1 + h    -2.2   ------>  2  "a d h"  -2.2   parent 1   slot 1 (keeps it)
//                                 rank 4  beam 2 + eos  -2.9            not considered: three beams are found
//                                 rank 5  ...
//
// Candidates that do not end become the new beams, the best num_beams of them. Candidates that end become hypotheses if
// their rank is below num_beams; Hypotheses (BeamSearch.h) keeps the best num_beams by sum / length ** length_penalty
// and tells when a row is done. Each beam has at most one candidate per end id, so num_beams * (1 + number of end ids)
// candidates always contain num_beams that do not end.
//
// The loop knows nothing of caches. For each sequence it tells the model which sequence of the previous step is
// continued (`parents`) and by which id (`ids`). SessionModel::moveSlots turns that into cache slots: the first child
// of a parent keeps the parent's slot, every further child gets a copy in a slot that no sequence of this step
// continues from.
//
// Before the first step all beams of a row are the same prompt and read one row of logits. All beams but the first have
// the sum kClosed, or each candidate would occur num_beams times.
//
// Invariants. The sequences of a row are adjacent and rows ascend, in `logits`, `parents` and `ids`; a row that is done
// leaves them, so a step computes only what is open. `BeamRow::ids` is read while `nextIds` is written, because several
// new beams may continue one old beam; then the two arrays swap. Sums are doubles. Of candidates with equal sums, the
// one whose beam has the smaller number is first, and within a beam the one with the smaller id.
//
// Cost of a step beside the model's: for each row num_beams * vocabSize comparisons and num_beams copies of ids, and
// for each beam that forks, a copy of the keys and values of its tokens.
//===----------------------------------------------------------------------===//

#include "../Error.h"
#include "BeamSearch.h"
#include "Generate.h"
#include "LogitsProcessors.h"
#include "LogSoftmax.h"
#include "Sampling.h"
#include "ScratchBuffer.h"

#include <algorithm>
#include <cmath>
#include <new>

using namespace attune;

namespace {

/// The initial sum of all beams of a row but the first, so low that their candidates lose against those of the first
/// beam.
constexpr double kClosed = -1e9;

/// The beams of one row of the prompt.
struct BeamRow {
  int64_t row;            ///< its number among the prompts
  double *sums;           ///< [num_beams], of log-probabilities
  int64_t *sources;       ///< [num_beams], the number of each beam's sequence in the last call of the model
  int64_t *ids, *nextIds; ///< [num_beams, max_length]
  Hypotheses *found;
};

/// The state of one generation. `rows` has the |active| rows that are not done.
class BeamLoop {
public:
  BeamLoop(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt, GenerationResult &result)
      : model(model), options(options), prompt(prompt), result(result), beams(options.num_beams) {}

  attune_status run();

private:
  void layOut(Arena &arena);
  void begin();
  void toLogProbabilities();
  attune_status advanceRow(BeamRow &row, BeamCandidates &best);
  attune_status advance(BeamCandidates &best, bool &goOn);
  void finish();
  void write(int64_t to, const Hypothesis &hypothesis);

  const StepModel &model;
  const attune_generation_options &options;
  const GenerationPrompt &prompt;
  GenerationResult &result;
  const int64_t beams;
  int64_t active = 0, length = 0, sequences = 0;
  float *logits = nullptr;
  BeamRow *rows = nullptr, *all = nullptr; // all[row] is a row that is done; finish() adds the others
  int64_t *parents = nullptr, *ids = nullptr;
  int32_t *counts = nullptr;
};

} // namespace

void BeamLoop::layOut(Arena &arena) {
  int64_t count = prompt.rows * beams;
  logits = arena.take<float>(count * model.vocabSize);
  rows = arena.take<BeamRow>(prompt.rows);
  all = arena.take<BeamRow>(prompt.rows);
  parents = arena.take<int64_t>(count);
  ids = arena.take<int64_t>(count);
  counts = arena.take<int32_t>(model.vocabSize);
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

/// Replaces the logits of every sequence by log-probabilities, after banning options.never_token_id.
void BeamLoop::toLogProbabilities() {
  for (int64_t sequence = 0; sequence < sequences; ++sequence) {
    float *scores = logits + sequence * model.vocabSize;
    if (options.never_token_id >= 0)
      scores[options.never_token_id] = -INFINITY;
    logSoftmax(scores, model.vocabSize);
  }
}

/// Replaces the beams of |row| by the best candidates that do not end. Of the best num_beams candidates, makes
/// hypotheses of those that end. |best| is memory for the candidates, which it has afterwards. Fails with
/// INVALID_ARGUMENT if the logits leave no id.
attune_status BeamLoop::advanceRow(BeamRow &row, BeamCandidates &best) {
  best.clear();
  for (int64_t beam = 0; beam < beams; ++beam) {
    float *scores = logits + row.sources[beam] * model.vocabSize;
    // Beams share a row of logits only in the first step. They have the same ids then, so the logits processors are
    // applied once for all of them.
    if (beam == 0 || row.sources[beam] != row.sources[beam - 1])
      applyLogitsProcessors(options, prompt.logitsContext(row.row, row.ids + beam * options.max_length, length), model.vocabSize, scores,
                            counts);
    best.add(beam, row.sums[beam], scores, model.vocabSize);
  }
  int64_t next = 0, offset = sequences;
  for (int64_t rank = 0; rank < best.size() && next < beams; ++rank) {
    const BeamCandidate &candidate = best[rank];
    // For rank 0 the condition is true for NaN, too. Candidates after it may be -infinity, as a small vocabulary has
    // few others.
    if (rank == 0 ? !(candidate.sum > -INFINITY) : std::isnan(candidate.sum))
      return failWithoutId(logits + row.sources[candidate.beam] * model.vocabSize, model.vocabSize, row.row);
    const int64_t *from = row.ids + candidate.beam * options.max_length;
    if (isEos(options, candidate.id)) {
      if (rank < beams)
        row.found->add(from, length, candidate.sum, candidate.id);
      continue;
    }
    int64_t *to = row.nextIds + next * options.max_length;
    std::copy_n(from, length, to)[0] = candidate.id;
    parents[offset + next] = row.sources[candidate.beam];
    ids[offset + next] = candidate.id;
    row.sums[next++] = candidate.sum;
  }
  std::swap(row.ids, row.nextIds);
  return ATTUNE_OK;
}

/// Does one step of every row in |rows| and drops the rows that are done. Sets |goOn| to false if on_token ends the
/// generation, else to true.
attune_status BeamLoop::advance(BeamCandidates &best, bool &goOn) {
  toLogProbabilities();
  int64_t kept = 0;
  goOn = true;
  sequences = 0;
  for (int64_t r = 0; r < active; ++r) {
    BeamRow row = rows[r];
    ATTUNE_TRY(advanceRow(row, best));
    if (options.on_token && options.on_token(options.user, row.row, -1, length + 1) != 0)
      goOn = false;
    if (row.found->isDone(best[0].sum, length)) {
      all[row.row] = row;
      all[row.row].sums = nullptr; // tells finish() that the open beams of this row are no results
      continue;
    }
    for (int64_t beam = 0; beam < beams; ++beam)
      row.sources[beam] = sequences + beam;
    sequences += beams;
    rows[kept++] = row;
  }
  active = kept;
  ++length;
  return ATTUNE_OK;
}

void BeamLoop::write(int64_t to, const Hypothesis &hypothesis) {
  int64_t *sequence = result.sequences + to * options.max_length;
  int64_t *end = std::copy_n(hypothesis.ids, hypothesis.length, sequence);
  std::fill(end, sequence + options.max_length, options.pad_token_id);
  // A sequence that is shorter than max_length because on_token ended the generation gets an end id, too: the first one
  // of the options.
  if (hypothesis.length < options.max_length && options.num_eos_token_ids)
    *end = hypothesis.end >= 0 ? hypothesis.end : options.eos_token_ids[0];
  result.length = std::max(result.length, std::min(hypothesis.length + 1, options.max_length));
  if (result.scores)
    result.scores[to] = static_cast<float>(hypothesis.score);
}

/// Makes hypotheses of the open beams, writes the best hypotheses of each row to the result, and moves the rows of the
/// result together: from max_length to result.length ids each.
void BeamLoop::finish() {
  for (int64_t r = 0; r < active; ++r)
    all[rows[r].row] = rows[r];
  result.length = 0;
  for (int64_t r = 0; r < prompt.rows; ++r) {
    const BeamRow &row = all[r];
    for (int64_t beam = 0; row.sums && beam < beams; ++beam)
      row.found->add(row.ids + beam * options.max_length, length, row.sums[beam], -1);
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
  // Each beam may have every end id among its best continuations, so it needs one candidate more. transformers takes at
  // least two for each beam.
  int64_t wanted = beams * std::max<int64_t>(2, 1 + static_cast<int64_t>(options.num_eos_token_ids));
  BeamCandidates measured(measure, wanted);
  ScratchBuffer buffer;
  ATTUNE_TRY(buffer.allocate(measure.getBytes()));
  Arena arena(buffer.get());
  layOut(arena);
  BeamCandidates best(arena, wanted);
  begin();
  ATTUNE_TRY(model.start(model.state, prompt.rows, logits));
  for (bool goOn = true;;) {
    ATTUNE_TRY(advance(best, goOn));
    if (!goOn || active == 0 || length >= options.max_length)
      break;
    ATTUNE_TRY(model.step(model.state, parents, ids, sequences, logits));
  }
  finish();
  return ATTUNE_OK;
}

attune_status attune::searchBeams(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                                  GenerationResult &result) {
  return BeamLoop(model, options, prompt, result).run();
}
