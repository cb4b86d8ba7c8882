//===- BeamSearch.h - Hypotheses of one row -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beam search as transformers 4.22 does it (BeamSearchScorer): candidates are ranked by the sum of log-probabilities,
// finished hypotheses by sum / length ** length_penalty.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_BEAMSEARCH_H
#define ATTUNE_RUNTIME_GENERATION_BEAMSEARCH_H

#include "Arena.h"
#include "attune/generate.h"

namespace attune {

/// An id as continuation of a beam.
struct BeamCandidate {
  double sum; ///< of the log-probabilities, that of |id| included
  int64_t beam, id;
};

/// The best |limit| candidates of one row, best first.
class BeamCandidates {
public:
  BeamCandidates(Arena &arena, int64_t limit) : limit(limit), items(arena.take<BeamCandidate>(limit + 1)) {}

  void clear() { count = 0; }
  /// Considers each id as continuation of |beam|, whose sum so far is |sum|; |logProbabilities| is [vocabSize]. Of
  /// equal sums the one considered first is better.
  void add(int64_t beam, double sum, const float *logProbabilities, int64_t vocabSize);
  int64_t size() const { return count; }
  const BeamCandidate &operator[](int64_t index) const { return items[index]; }

private:
  int64_t limit, count = 0;
  BeamCandidate *items;
};

/// A finished sequence: |length| ids without the end id, and |end|, the id that ended it, -1 if none did.
struct Hypothesis {
  double score;
  int64_t length;
  int64_t *ids;
  int64_t end;
};

/// The best finished hypotheses of one row.
class Hypotheses {
public:
  /// Takes memory from |arena| for options.num_beams + 1 hypotheses of options.max_length ids. |options| must outlive
  /// this.
  Hypotheses(Arena &arena, const attune_generation_options &options);

  /// Keeps a copy of ids[0 … length - 1], whose log-probabilities, that of |end| included, add up to |sum|, if the
  /// score is among the best options.num_beams. |end| is the id that ended the sequence, -1 if none did.
  void add(const int64_t *ids, int64_t length, double sum, int64_t end);
  /// Returns true if the row is done by options.early_stopping: |best| is the largest sum of this step's candidates,
  /// |length| the number of ids before the step.
  bool isDone(double best, int64_t length) const;
  /// Orders the hypotheses, best first; of equal scores the one found last is first.
  void sort();
  int64_t size() const { return count; }
  const Hypothesis &operator[](int64_t index) const { return items[index]; }

private:
  double scoreOf(double sum, int64_t length) const;

  const attune_generation_options &options;
  int64_t count = 0;
  Hypothesis *items; // [num_beams + 1], in the order in which they were found
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_BEAMSEARCH_H
