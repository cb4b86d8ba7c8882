//===- BeamSearch.cpp - Hypotheses of one row -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BeamSearch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attune;

void BeamCandidates::add(int64_t beam, double sum, const float *logProbabilities, int64_t vocabSize) {
  for (int64_t id = 0; id < vocabSize; ++id) {
    double total = sum + static_cast<double>(logProbabilities[id]);
    if (count == limit && !(total > items[count - 1].sum))
      continue;
    int64_t at = count < limit ? count++ : count - 1;
    for (; at > 0 && total > items[at - 1].sum; --at)
      items[at] = items[at - 1];
    items[at] = {total, beam, id};
  }
}

Hypotheses::Hypotheses(Arena &arena, const attune_generation_options &options)
    : options(options), items(arena.take<Hypothesis>(options.num_beams + 1)) {
  int64_t *ids = arena.take<int64_t>((options.num_beams + 1) * options.max_length);
  for (int64_t i = 0; items && i <= options.num_beams; ++i)
    items[i].ids = ids + i * options.max_length;
}

double Hypotheses::scoreOf(double sum, int64_t length) const { return sum / std::pow(static_cast<double>(length), options.length_penalty); }

void Hypotheses::add(const int64_t *ids, int64_t length, double sum, int64_t end) {
  double score = scoreOf(sum, length);
  auto worst = std::min_element(items, items + count, [](const Hypothesis &a, const Hypothesis &b) { return a.score < b.score; });
  bool full = count == options.num_beams;
  if (full && !(score > worst->score))
    return;
  int64_t *memory = items[count].ids;
  if (full) {
    memory = worst->ids;
    std::move(worst + 1, items + count, worst);
    --count;
  }
  std::memcpy(memory, ids, static_cast<size_t>(length) * sizeof(int64_t));
  items[count++] = {score, length, memory, end};
}

bool Hypotheses::isDone(double best, int64_t length) const {
  if (count < options.num_beams)
    return false;
  if (options.early_stopping == ATTUNE_STOP_EARLY)
    return true;
  // Sums are negative, so with a positive penalty a sum scores best at the largest length.
  if (options.early_stopping == ATTUNE_STOP_NEVER_EARLY && options.length_penalty > 0)
    length = options.max_length;
  double worst = items[0].score;
  for (int64_t i = 1; i < count; ++i)
    worst = std::min(worst, items[i].score);
  return worst >= scoreOf(best, length);
}

void Hypotheses::sort() {
  // Insertion sort, as there are few hypotheses. It is stable, so reversing the order first puts the latest of equals
  // first.
  std::reverse(items, items + count);
  for (int64_t i = 1; i < count; ++i)
    for (int64_t j = i; j > 0 && items[j].score > items[j - 1].score; --j)
      std::swap(items[j], items[j - 1]);
}
