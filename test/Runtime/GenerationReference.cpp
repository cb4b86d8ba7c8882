//===- GenerationReference.cpp - Generation written for clarity --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GenerationReference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

using namespace reference;

static constexpr double kNever = -std::numeric_limits<double>::infinity();

std::vector<float> reference::toyLogits(const Ids &ids, int64_t vocabSize) {
  uint64_t state = 0x9E3779B97F4A7C15ull;
  for (int64_t id : ids)
    state = (state ^ static_cast<uint64_t>(id + 1)) * 0xBF58476D1CE4E5B9ull, state ^= state >> 29;
  std::vector<float> logits(static_cast<size_t>(vocabSize));
  for (float &logit : logits) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    logit = static_cast<float>(static_cast<double>(state >> 40) / (1 << 24) * 6 - 3);
  }
  return logits;
}

static bool isEos(const attune_generation_options &options, int64_t id) {
  return std::count(options.eos_token_ids, options.eos_token_ids + options.num_eos_token_ids, id) > 0;
}

Ids::iterator reference::findEnd(const attune_generation_options &options, Ids &ids, int64_t from) {
  return std::find_if(ids.begin() + from, ids.end(), [&](int64_t id) { return isEos(options, id); });
}

/// Returns the scores of all ids that may follow |ids|, after the logits processors: logits or, if |normalize|,
/// log-probabilities. The score of a forbidden id is kNever.
static std::vector<double> scoresOf(const attune_generation_options &options, const Ids &ids, int64_t promptLength, int64_t vocabSize,
                                    bool normalize) {
  std::vector<float> logits = toyLogits(ids, vocabSize);
  std::vector<double> scores(logits.begin(), logits.end());
  if (normalize) {
    if (options.never_token_id >= 0)
      scores[options.never_token_id] = kNever;
    double sum = 0;
    for (double score : scores)
      sum += std::exp(score);
    for (double &score : scores)
      score -= std::log(sum);
  }
  for (int64_t id : std::set<int64_t>(ids.begin(), ids.end())) {
    float score = static_cast<float>(scores[id]), penalty = static_cast<float>(options.repetition_penalty);
    scores[id] = score < 0 ? score * penalty : score / penalty;
  }
  std::map<int64_t, int> generated;
  for (size_t i = static_cast<size_t>(promptLength); i < ids.size(); ++i)
    ++generated[ids[i]];
  for (auto [id, count] : generated)
    scores[id] -= options.presence_penalty + options.frequency_penalty * count;
  size_t n = static_cast<size_t>(options.no_repeat_ngram_size);
  for (int64_t id = 0; n > 0 && id < vocabSize; ++id) {
    Ids longer = ids;
    longer.push_back(id);
    if (longer.size() >= n && std::search(ids.begin(), ids.end(), longer.end() - n, longer.end()) != ids.end())
      scores[id] = kNever;
  }
  const int64_t *word = options.bad_words_ids;
  for (size_t i = 0; i < options.num_bad_words; word += options.bad_words_lengths[i++]) {
    Ids bad(word, word + options.bad_words_lengths[i]), tail = ids;
    tail.push_back(bad.back());
    if (!(bad.size() == 1 && isEos(options, bad[0])) && bad.size() <= tail.size() && std::equal(bad.rbegin(), bad.rend(), tail.rbegin()))
      scores[bad.back()] = kNever;
  }
  int64_t length = static_cast<int64_t>(ids.size());
  for (int64_t id = 0; id < vocabSize; ++id)
    if (isEos(options, id) && (length < options.min_length || length - promptLength < options.min_new_tokens))
      scores[id] = kNever;
  int64_t forced = length == options.max_length - 1 ? options.forced_eos_token_id : -1;
  if (forced < 0 && length == 1)
    forced = options.forced_bos_token_id;
  if (forced >= 0) {
    std::fill(scores.begin(), scores.end(), kNever);
    scores[forced] = 0;
  }
  for (size_t i = 0; i < options.num_suppress_tokens; ++i)
    scores[options.suppress_tokens[i]] = kNever;
  bool first = length == promptLength ? promptLength > 1 || options.forced_bos_token_id < 0
                                      : length == 2 && promptLength == 1 && options.forced_bos_token_id >= 0;
  for (size_t i = 0; first && i < options.num_begin_suppress_tokens; ++i)
    scores[options.begin_suppress_tokens[i]] = kNever;
  if (options.renormalize_logits && normalize) {
    double sum = 0;
    for (double score : scores)
      sum += std::exp(score);
    for (double &score : scores)
      score -= sum > 0 ? std::log(sum) : 0;
  }
  return scores;
}

Ids reference::searchGreedily(const attune_generation_options &options, const Ids &prompt, int64_t vocabSize) {
  Ids ids = prompt;
  while (static_cast<int64_t>(ids.size()) < options.max_length) {
    std::vector<double> scores = scoresOf(options, ids, static_cast<int64_t>(prompt.size()), vocabSize, false);
    ids.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (isEos(options, ids.back()))
      break;
  }
  return ids;
}

std::vector<Scored> reference::searchBeams(const attune_generation_options &options, const Ids &prompt, int64_t vocabSize) {
  struct Beam {
    double sum;
    Ids ids;
  };
  size_t beams = static_cast<size_t>(options.num_beams);
  std::vector<Beam> open(beams, Beam{-1e9, prompt});
  open[0].sum = 0;
  std::vector<Scored> found; // ids without eos, in the order found
  int64_t number = 0;
  auto worst = [&] {
    return std::min_element(found.begin(), found.end(), [](const Scored &a, const Scored &b) { return a.score < b.score; });
  };
  auto keep = [&](double sum, const Ids &ids, int64_t end) {
    double score = sum / std::pow(static_cast<double>(ids.size()), options.length_penalty);
    if (found.size() == beams && !(score > worst()->score))
      return;
    if (found.size() == beams)
      found.erase(worst());
    found.push_back({score, ids, number++, end});
  };
  bool done = false;
  while (!done && static_cast<int64_t>(open[0].ids.size()) < options.max_length) {
    struct Next {
      double sum;
      size_t beam;
      int64_t id;
    };
    std::vector<Next> list;
    for (size_t beam = 0; beam < beams; ++beam) {
      std::vector<double> scores = scoresOf(options, open[beam].ids, static_cast<int64_t>(prompt.size()), vocabSize, true);
      for (int64_t id = 0; id < vocabSize; ++id)
        list.push_back({open[beam].sum + scores[id], beam, id});
    }
    std::sort(list.begin(), list.end(),
              [](const Next &a, const Next &b) { return std::tie(b.sum, a.beam, a.id) < std::tie(a.sum, b.beam, b.id); });
    list.resize(beams * std::max<size_t>(2, 1 + options.num_eos_token_ids));
    double length = static_cast<double>(open[0].ids.size());
    std::vector<Beam> next;
    for (size_t rank = 0; rank < list.size() && next.size() < beams; ++rank) {
      const Ids &ids = open[list[rank].beam].ids;
      if (!isEos(options, list[rank].id)) {
        next.push_back({list[rank].sum, ids});
        next.back().ids.push_back(list[rank].id);
      } else if (rank < beams) {
        keep(list[rank].sum, ids, list[rank].id);
      }
    }
    open = next;
    if (options.early_stopping == ATTUNE_STOP_NEVER_EARLY && options.length_penalty > 0)
      length = static_cast<double>(options.max_length);
    done = found.size() == beams &&
           (options.early_stopping == ATTUNE_STOP_EARLY || worst()->score >= list[0].sum / std::pow(length, options.length_penalty));
  }
  if (!done)
    for (const Beam &beam : open)
      keep(beam.sum, beam.ids, -1);
  std::sort(found.begin(), found.end(),
            [](const Scored &a, const Scored &b) { return std::tie(a.score, a.number) > std::tie(b.score, b.number); });
  for (Scored &hypothesis : found)
    if (hypothesis.end >= 0)
      hypothesis.ids.push_back(hypothesis.end);
  return found;
}

/// Replaces |best| by the best continuation of |ids|, if its score is higher. |sum| is the log-probability of |ids|.
static void enumerateFrom(const attune_generation_options &options, const Ids &ids, int64_t promptLength, double sum, int64_t vocabSize,
                          Scored &best) {
  auto consider = [&](double total, const Ids &sequence, size_t length) {
    double score = total / std::pow(static_cast<double>(length), options.length_penalty);
    if (score > best.score)
      best = {score, sequence, 0, -1};
  };
  if (static_cast<int64_t>(ids.size()) == options.max_length)
    return consider(sum, ids, ids.size());
  std::vector<double> scores = scoresOf(options, ids, promptLength, vocabSize, true);
  for (int64_t id = 0; id < vocabSize; ++id) {
    Ids longer = ids;
    longer.push_back(id);
    if (isEos(options, id))
      consider(sum + scores[id], longer, ids.size());
    else if (scores[id] > kNever)
      enumerateFrom(options, longer, promptLength, sum + scores[id], vocabSize, best);
  }
}

Scored reference::enumerate(const attune_generation_options &options, const Ids &prompt, int64_t vocabSize) {
  Scored best{kNever, {}, 0, -1};
  enumerateFrom(options, prompt, static_cast<int64_t>(prompt.size()), 0, vocabSize, best);
  return best;
}
