//===- Sampling.cpp - Drawing the next id ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Sampling.h"
#include "../Error.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace attune;

int64_t attune::argMax(const float *values, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i)
    if (values[i] > values[best])
      best = i;
  return best;
}

attune_status attune::failWithoutId(const float *scores, int64_t count, int64_t row) {
  const auto number = static_cast<long long>(row);
  if (std::any_of(scores, scores + count, [](float score) { return std::isnan(score); }))
    return fail(ATTUNE_INVALID_ARGUMENT, "row %lld: expected logits that are numbers, got NaN, so there is no id to choose", number);
  return fail(ATTUNE_INVALID_ARGUMENT,
              "row %lld: none of the %lld logits is above -inf, by the model or by settings such as suppress_tokens, so there is no id to "
              "choose",
              number, static_cast<long long>(count));
}

/// Returns a number in [0, 1) that depends on its arguments alone. Mixes |row| and then |step| into |seed|, each by the
/// finalizer of SplitMix64.
static double noise(uint64_t seed, uint64_t row, uint64_t step) {
  uint64_t z = seed;
  for (uint64_t next : {row, step}) {
    z += (next + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
  }
  return static_cast<double>(z >> 11) * 0x1p-53;
}

/// Orders candidates best first, and equal scores by id.
static bool isBefore(const Candidate &a, const Candidate &b) { return a.score > b.score || (a.score == b.score && a.id < b.id); }

namespace {

/// The candidates of a draw, best first. Its filters, which remove candidates, are those of transformers.
class Choices {
public:
  Choices(Candidate *items, int64_t count) : items(items), count(count) { std::sort(items, items + count, isBefore); }

  void keepTopP(double most);
  /// Keeps the candidates whose probability is at least |least| times that of the best one, and in any case the best
  /// one and its equals.
  void keepWeights(double least);
  /// Keeps the candidates whose surprise (-log p) is nearest to the entropy, until their probabilities add up to
  /// |mass|, and those that are as near as the last of them.
  void keepTypical(double mass);
  /// Returns the id that |noise| in [0, 1) selects from the softmax of the candidates.
  int64_t draw(double noise) const;

  /// Returns the expected surprise, the entropy of the softmax.
  double entropy() const;
  /// Returns the sum of all weights, which are probabilities relative to the best one's.
  double total() const;

private:
  double weight(int64_t i) const { return std::exp(static_cast<double>(items[i].score - items[0].score)); }

  Candidate *items;
  int64_t count;
};

} // namespace

double Choices::total() const {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += weight(i);
  return sum;
}

/// Keeps the fewest best candidates whose probabilities add up to more than |most|.
void Choices::keepTopP(double most) {
  double kept = 0, limit = most * total();
  int64_t keep = 0;
  while (keep < count && (keep == 0 || kept <= limit))
    kept += weight(keep++);
  count = keep;
}

void Choices::keepWeights(double least) {
  double limit = std::min(least, 1.0);
  while (weight(count - 1) < limit)
    --count;
}

double Choices::entropy() const {
  double all = total(), sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    double p = weight(i) / all;
    sum -= p > 0 ? p * std::log(p) : 0;
  }
  return sum;
}

void Choices::keepTypical(double mass) {
  double all = total(), expected = entropy(), best = items[0].score;
  auto distance = [&](const Candidate &c) { return std::fabs(std::log(all) - (static_cast<double>(c.score) - best) - expected); };
  std::sort(items, items + count, [&](const Candidate &a, const Candidate &b) {
    double first = distance(a), second = distance(b);
    return first < second || (first == second && isBefore(a, b));
  });
  double sum = 0, limit = mass * all;
  int64_t last = 0;
  for (; last < count - 1; ++last)
    if ((sum += std::exp(static_cast<double>(items[last].score) - best)) >= limit)
      break;
  double farthest = distance(items[last]);
  while (last + 1 < count && distance(items[last + 1]) <= farthest)
    ++last;
  count = last + 1;
  std::sort(items, items + count, isBefore);
}

int64_t Choices::draw(double noise) const {
  double target = noise * total();
  for (int64_t i = 0; i < count; ++i) {
    target -= weight(i);
    if (target < 0)
      return items[i].id;
  }
  return items[count - 1].id;
}

int64_t attune::sampleId(const attune_generation_options &options, const float *scores, int64_t vocabSize, int64_t row, int64_t step,
                         Candidate *scratch) {
  float best = -INFINITY;
  for (int64_t id = 0; id < vocabSize; ++id)
    best = scores[id] > best ? scores[id] : best;
  if (best == INFINITY)
    return std::find(scores, scores + vocabSize, best) - scores;
  if (best == -INFINITY) // There is no candidate.
    return argMax(scores, vocabSize);
  double temperature = options.temperature, shift = std::fabs(best / temperature) > std::numeric_limits<float>::max() ? best : 0;
  int64_t count = 0;
  for (int64_t id = 0; id < vocabSize; ++id)
    if (scores[id] > -INFINITY)
      scratch[count++] = {static_cast<float>((scores[id] - shift) / temperature), static_cast<int32_t>(id)};
  if (options.top_k > 0 && options.top_k < count) {
    std::nth_element(scratch, scratch + options.top_k - 1, scratch + count, isBefore);
    float least = scratch[options.top_k - 1].score;
    count = std::partition(scratch, scratch + count, [least](const Candidate &c) { return c.score >= least; }) - scratch;
  }
  Choices choices(scratch, count);
  if (options.top_p < 1)
    choices.keepTopP(options.top_p);
  if (options.min_p > 0)
    choices.keepWeights(options.min_p);
  if (options.typical_p < 1)
    choices.keepTypical(options.typical_p);
  if (options.epsilon_cutoff > 0)
    choices.keepWeights(options.epsilon_cutoff * choices.total());
  if (options.eta_cutoff > 0)
    choices.keepWeights(std::min(options.eta_cutoff, std::sqrt(options.eta_cutoff) * std::exp(-choices.entropy())) * choices.total());
  return choices.draw(noise(options.seed, static_cast<uint64_t>(row), static_cast<uint64_t>(step)));
}
