//===- GenerationTest.cpp - Greedy search, sampling and beam search ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the runtime's loops of generation with a second implementation (GenerationReference.h) and with the
// enumeration of all sequences. The model is a toy whose logits are a function of all ids of a sequence. The toy keeps
// these ids itself, by the parents that each step names, so a wrong parent gives wrong logits.
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Error.h"
#include "generation/Generate.h"
#include "generation/LogSoftmax.h"
#include "generation/Sampling.h"
#include "GenerationReference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace attune;
using reference::Ids;

namespace {

struct Toy {
  int64_t vocabSize;
  std::vector<Ids> prompts, sequences;
  int64_t steps = 0, continued = 0; // calls of step, and the sequences of all these calls

  static attune_status start(void *state, int64_t rows, float *logits) {
    Toy &toy = *static_cast<Toy *>(state);
    CHECK(rows == static_cast<int64_t>(toy.prompts.size()));
    toy.sequences = toy.prompts;
    return toy.write(logits);
  }
  static attune_status step(void *state, const int64_t *parents, const int64_t *ids, int64_t count, float *logits) {
    Toy &toy = *static_cast<Toy *>(state);
    ++toy.steps, toy.continued += count;
    std::vector<Ids> next;
    for (int64_t i = 0; i < count; ++i) {
      CHECK(parents[i] >= 0 && parents[i] < static_cast<int64_t>(toy.sequences.size()));
      next.push_back(toy.sequences[parents[i]]);
      next.back().push_back(ids[i]);
    }
    toy.sequences = next;
    return toy.write(logits);
  }
  attune_status write(float *logits) {
    for (size_t i = 0; i < sequences.size(); ++i) {
      std::vector<float> row = reference::toyLogits(sequences[i], vocabSize);
      std::copy(row.begin(), row.end(), logits + i * row.size());
    }
    return ATTUNE_OK;
  }
};

struct Outcome {
  std::vector<Ids> rows; // prompt and end id included, no padding
  std::vector<float> scores, logits;
  int64_t length = 0, steps = 0;
};

} // namespace

static attune_generation_options defaults() {
  static const int64_t ends[] = {2};
  attune_generation_options options;
  attune_generation_options_init(nullptr, &options);
  options.max_length = 8;
  options.eos_token_ids = ends, options.num_eos_token_ids = 1;
  return options;
}

static attune_status tryRun(attune_generation_options options, const std::vector<Ids> &prompts, Toy &toy, Outcome &outcome) {
  toy.prompts = prompts;
  StepModel model{&toy, toy.vocabSize, Toy::start, Toy::step};
  Ids flat;
  for (const Ids &prompt : prompts)
    flat.insert(flat.end(), prompt.begin(), prompt.end());
  GenerationPrompt prompt{static_cast<int64_t>(prompts.size()), static_cast<int64_t>(prompts[0].size()), flat.data()};
  ATTUNE_TRY(checkGenerationOptions(options, model.vocabSize, prompt.length));
  int64_t rows = prompt.rows * options.num_return_sequences;
  Ids sequences(static_cast<size_t>(rows * options.max_length));
  outcome.scores.assign(static_cast<size_t>(rows), 0);
  outcome.logits.assign(static_cast<size_t>(rows * (options.max_length - prompt.length) * toy.vocabSize), -1);
  GenerationResult result{sequences.data(), outcome.scores.data(), outcome.logits.data(), 0, 0};
  ATTUNE_TRY(generate(model, options, prompt, result));
  outcome.length = result.length, outcome.steps = result.steps;
  outcome.rows.clear();
  for (int64_t row = 0; row < rows; ++row) {
    Ids ids(sequences.begin() + row * result.length, sequences.begin() + (row + 1) * result.length);
    auto eos = reference::findEnd(options, ids, prompt.length);
    for (auto pad = eos; pad != ids.end(); ++pad)
      CHECK(pad == eos || *pad == options.pad_token_id);
    outcome.rows.emplace_back(ids.begin(), eos == ids.end() ? eos : eos + 1);
  }
  return ATTUNE_OK;
}

static Outcome run(const attune_generation_options &options, const std::vector<Ids> &prompts, int64_t vocabSize, Toy *used = nullptr) {
  Toy toy{vocabSize, {}, {}};
  Outcome outcome;
  CHECK_OK(tryRun(options, prompts, toy, outcome));
  if (used)
    *used = toy;
  return outcome;
}

/// Compares generations with random options and prompts with the reference.
static void testAgainstReference() {
  std::mt19937 random(1);
  auto pick = [&](int64_t low, int64_t high) { return low + static_cast<int64_t>(random() % static_cast<uint32_t>(high - low + 1)); };
  int withoutIds = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    int64_t vocabSize = pick(8, 40);
    attune_generation_options options = defaults();
    options.num_beams = trial % 3 == 0 ? 1 : pick(2, 5);
    options.num_return_sequences = options.num_beams == 1 ? 1 : pick(1, options.num_beams);
    options.length_penalty = pick(-2, 4) * 0.5;
    options.early_stopping = pick(0, 2);
    int64_t ends[] = {2, 4};
    options.eos_token_ids = ends, options.num_eos_token_ids = static_cast<size_t>(pick(0, 5) ? pick(1, 2) : 0);
    options.no_repeat_ngram_size = pick(0, 3);
    options.repetition_penalty = pick(0, 2) ? 1 : 1.3;
    options.presence_penalty = pick(0, 2) ? 0 : static_cast<double>(pick(-2, 2)) * 0.5;
    options.frequency_penalty = pick(0, 2) ? 0 : static_cast<double>(pick(-2, 2)) * 0.25;
    options.forced_eos_token_id = pick(0, 1) ? 2 : -1;
    options.forced_bos_token_id = pick(0, 3) ? -1 : 5;
    options.never_token_id = pick(0, 1) ? 3 : -1;
    options.pad_token_id = pick(0, 1) ? 3 : -1;
    int64_t words[] = {4, 6, 7, 2, 1, 6, 4}, lengths[] = {1, 2, 1, 3};
    options.bad_words_ids = words, options.bad_words_lengths = lengths, options.num_bad_words = static_cast<size_t>(pick(0, 4));
    int64_t suppressed[] = {6, 1, 5};
    options.suppress_tokens = suppressed, options.num_suppress_tokens = static_cast<size_t>(pick(0, 3) ? 0 : pick(1, 2));
    options.begin_suppress_tokens = suppressed + 1, options.num_begin_suppress_tokens = static_cast<size_t>(pick(0, 2));
    options.renormalize_logits = pick(0, 1);
    int64_t length = pick(1, 3);
    options.max_length = length + pick(1, 7);
    options.min_length = pick(0, 1) * pick(length, options.max_length);
    options.min_new_tokens = pick(0, 1) * pick(0, 4);
    std::vector<Ids> prompts(static_cast<size_t>(pick(1, 4)));
    for (Ids &prompt : prompts)
      for (int64_t i = 0; i < length; ++i)
        prompt.push_back(pick(0, vocabSize - 1));
    // Options that leave no id, such as a forced id that is suppressed, are an error.
    Toy toy{vocabSize, {}, {}};
    Outcome outcome;
    if (tryRun(options, prompts, toy, outcome) != ATTUNE_OK) {
      CHECK(std::strstr(attune_last_error(), "logits is above -inf"));
      ++withoutIds;
      continue;
    }
    size_t row = 0;
    for (const Ids &prompt : prompts) {
      if (options.num_beams == 1) {
        CHECK(outcome.rows[row++] == reference::searchGreedily(options, prompt, vocabSize));
        continue;
      }
      std::vector<reference::Scored> best = reference::searchBeams(options, prompt, vocabSize);
      for (int64_t i = 0; i < options.num_return_sequences; ++i, ++row) {
        // Cuts the ids after the first end id behind the prompt, as tryRun does.
        Ids ids = best[i].ids;
        auto eos = reference::findEnd(options, ids, length);
        ids.erase(eos == ids.end() ? eos : eos + 1, ids.end());
        CHECK(outcome.rows[row] == ids);
        CHECK(std::fabs(outcome.scores[row] - best[i].score) < 1e-5 * (1 + std::fabs(best[i].score)) ||
              outcome.scores[row] == best[i].score);
      }
    }
  }
  CHECK(withoutIds > 0 && withoutIds < 300);
}

/// With as many beams as the vocabulary has ids, a search of two steps drops no sequence, so its result is the best of
/// all sequences.
static void testAgainstEnumeration() {
  for (int64_t seed = 0; seed < 200; ++seed) {
    attune_generation_options options = defaults();
    int64_t vocabSize = 4 + seed % 6;
    Ids prompt{seed % vocabSize, seed / 7 % vocabSize};
    options.num_beams = vocabSize;
    options.max_length = static_cast<int64_t>(prompt.size()) + 2;
    options.length_penalty = static_cast<double>(seed % 4) * 0.5;
    reference::Scored best = reference::enumerate(options, prompt, vocabSize);
    Outcome outcome = run(options, {prompt}, vocabSize);
    CHECK(outcome.rows[0] == best.ids);
    CHECK(std::fabs(outcome.scores[0] - best.score) < 1e-5);
  }
}

/// Checks that a row's result does not depend on the other rows, and that rows that have ended take part in no further
/// step.
static void testBatches() {
  for (int kind = 0; kind < 3; ++kind) {
    attune_generation_options options = defaults();
    options.max_length = 14;
    options.num_beams = kind == 1 ? 4 : 1;
    options.do_sample = kind == 2;
    std::vector<Ids> prompts;
    for (int64_t i = 0; i < 6; ++i)
      prompts.push_back({i, 9 - i});
    Toy toy{};
    Outcome together = run(options, prompts, 11, &toy);
    int64_t needed = 0;
    for (size_t row = 0; row < prompts.size(); ++row) {
      if (kind == 2) { // the noise depends on the number of the row, so the row keeps it while rows before it change
        std::vector<Ids> others = prompts;
        for (size_t other = 0; other < row; ++other)
          others[other] = {1, 1};
        CHECK(run(options, others, 11).rows[row] == together.rows[row]);
        continue;
      }
      Toy alone{};
      Outcome single = run(options, {prompts[row]}, 11, &alone);
      CHECK(single.rows[0] == together.rows[row] && single.scores[0] == together.scores[row]);
      needed += alone.continued;
    }
    CHECK(kind == 2 || toy.continued == needed);
  }
}

/// Checks that temperatures so small that score / temperature leaves the range of floats or doubles draw only the best
/// of |scores| and the ids of equal score, whatever the other filters are. Then checks a very large temperature and
/// scores of infinity and NaN.
static void testSmallTemperatures(attune_generation_options options, std::vector<float> scores) {
  auto vocabSize = static_cast<int64_t>(scores.size());
  std::vector<Candidate> scratch(scores.size());
  auto drawn = [&] {
    std::map<int64_t, int> counts;
    for (int64_t row = 0; row < 200; ++row)
      ++counts[sampleId(options, scores.data(), vocabSize, row, 0, scratch.data())];
    return counts;
  };
  for (float offset : {0.0f, -10.0f, -3.0f, 1e30f}) {
    std::vector<float> kept = scores;
    for (float &score : scores)
      score = offset == 1e30f ? score * offset : score + offset;
    int64_t best = argMax(scores.data(), vocabSize);
    for (double temperature : {1e-30, 1e-38, 1e-45, 1e-300, 5e-324}) {
      options.temperature = temperature;
      auto onlyBest = [&] {
        auto counts = drawn();
        CHECK(counts.size() == 1 && counts.count(best));
      };
      onlyBest();
      options.top_k = 2, onlyBest(), options.top_k = 0;
      options.top_p = 0.9, onlyBest(), options.top_p = 5e-324, onlyBest(), options.top_p = 1;
      options.min_p = 1, onlyBest(), options.min_p = 5e-324, onlyBest(), options.min_p = 0;
      options.typical_p = 0.5, onlyBest(), options.typical_p = 1;
      options.epsilon_cutoff = 0.5, onlyBest(), options.epsilon_cutoff = 0;
      options.eta_cutoff = 0.5, onlyBest(), options.eta_cutoff = 0;
      scores[0] = scores[static_cast<size_t>(best)];
      auto both = drawn();
      CHECK(both.size() == 2 && both.count(0) && both.count(best));
      scores[0] = -INFINITY;
    }
    scores = kept;
  }
  options.temperature = 1e300; // the four ids above -inf are equally likely
  CHECK(drawn().size() == 4);
  options.temperature = 1, scores[2] = INFINITY;
  CHECK(drawn().size() == 1 && drawn().count(2));
  scores[0] = NAN;
  CHECK(drawn().size() == 1 && drawn().count(2));
}

static void testSampling() {
  attune_generation_options options = defaults();
  options.do_sample = 1;
  std::vector<float> scores{1.0f, 3.0f, 2.0f, -INFINITY, 2.5f};
  std::vector<Candidate> scratch(scores.size());
  auto draw = [&](int64_t row) { return sampleId(options, scores.data(), 5, row, 0, scratch.data()); };
  auto count = [&] {
    std::map<int64_t, int> counts;
    for (int64_t row = 0; row < 20000; ++row)
      ++counts[draw(row)];
    return counts;
  };
  auto all = count();
  double total = std::exp(1.0) + std::exp(3.0) + std::exp(2.0) + std::exp(2.5);
  CHECK(all.size() == 4 && !all.count(3));
  for (auto [id, times] : all) // at most five standard deviations, each at most 0.5 / sqrt(20000)
    CHECK(std::fabs(times / 20000.0 - std::exp(scores[id]) / total) < 5 * 0.5 / std::sqrt(20000.0));
  options.top_k = 2;
  auto two = count();
  CHECK(two.size() == 2 && two.count(1) && two.count(4));
  options.top_k = 0, options.top_p = 0.5; // id 1 has 0.47 of the probability, so id 4 is needed, id 2 is not
  auto nucleus = count();
  CHECK(nucleus.size() == 2 && nucleus.count(1) && nucleus.count(4));
  options.top_p = 0.1;
  CHECK(count().size() == 1);
  options.top_p = 1, options.temperature = 1e-3;
  CHECK(count().size() == 1 && draw(0) == 1);
  options.temperature = 1;
  // Ids 0, 1, 2 and 4 have the probabilities 0.06, 0.47, 0.17 and 0.29. The entropy is 1.19; -log p of id 4 is nearest
  // to it, then that of id 1.
  auto keeps = [&](std::vector<int64_t> ids) {
    std::vector<int64_t> drawn;
    for (auto [id, times] : count())
      drawn.push_back(id);
    CHECK(drawn == ids);
  };
  options.min_p = 0.5, keeps({1, 4}), options.min_p = 0;
  options.typical_p = 0.2, keeps({4}), options.typical_p = 0.5, keeps({1, 4}), options.typical_p = 1;
  options.epsilon_cutoff = 0.1, keeps({1, 2, 4}), options.epsilon_cutoff = 0.9, keeps({1}), options.epsilon_cutoff = 0;
  options.eta_cutoff = 0.1, keeps({1, 2, 4}), options.eta_cutoff = 0.04, keeps({0, 1, 2, 4}), options.eta_cutoff = 0;
  // Ids with the score of the best one stay under every filter.
  scores[4] = scores[1];
  options.epsilon_cutoff = 0.9, keeps({1, 4}), options.epsilon_cutoff = 0, options.min_p = 1, keeps({1, 4}), options.min_p = 0;
  scores[4] = 2.5f;
  testSmallTemperatures(options, scores);
  int64_t first = draw(7);
  CHECK(first == draw(7));
  std::map<int64_t, int> seeds;
  for (options.seed = 0; options.seed < 50; ++options.seed)
    ++seeds[draw(7)];
  CHECK(seeds.size() > 1);
  attune_generation_options several = defaults();
  several.do_sample = 1, several.num_return_sequences = 3;
  Outcome outcome = run(several, {{1, 4}, {5, 0}}, 11);
  CHECK(outcome.rows.size() == 6 && (outcome.rows[0] != outcome.rows[1] || outcome.rows[1] != outcome.rows[2]));
  CHECK(outcome.rows[3][0] == 5 && outcome.rows[2][0] == 1);
}

static void testLogSoftmax() {
  std::mt19937 random(3);
  for (int64_t count : {1, 2, 15, 16, 17, 1023, 1024, 1025, 50257}) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float &value : values)
      value = static_cast<float>(static_cast<int32_t>(random() % 200001) - 100000) / 2500.0f;
    values[static_cast<size_t>(count) / 2] = count > 2 ? -INFINITY : 1.0f;
    double sum = 0;
    for (float value : values)
      sum += std::exp(static_cast<double>(value));
    CHECK(std::fabs(logSumExp(values.data(), count) - std::log(sum)) < 1e-6);
    std::vector<float> logs = values;
    logSoftmax(logs.data(), count);
    for (size_t i = 0; i < logs.size(); ++i)
      CHECK(values[i] == -INFINITY ? logs[i] == -INFINITY : std::fabs(logs[i] - (values[i] - std::log(sum))) < 1e-5);
  }
}

/// Checks the step logits: those from which each id was chosen, and 0 after the end of a row. Checks that the callback
/// sees every id and can end a row or the generation.
static void testStepLogitsAndCallback() {
  attune_generation_options options = defaults();
  options.max_length = 12;
  std::vector<std::pair<int64_t, int64_t>> seen;
  options.user = &seen;
  options.on_token = [](void *user, int64_t row, int64_t token, int64_t) {
    static_cast<std::vector<std::pair<int64_t, int64_t>> *>(user)->push_back({row, token});
    return 0;
  };
  std::vector<Ids> prompts{{1, 4}, {5, 0}, {3, 3}};
  Outcome outcome = run(options, prompts, 11);
  size_t chosen = 0;
  for (size_t row = 0; row < prompts.size(); ++row) {
    Ids ids = prompts[row];
    for (int64_t step = 0; step < outcome.steps; ++step) {
      const float *logits = outcome.logits.data() + (static_cast<int64_t>(row) * outcome.steps + step) * 11;
      bool ended = ids.size() == outcome.rows[row].size();
      std::vector<float> expected = ended ? std::vector<float>(11, 0) : reference::toyLogits(ids, 11);
      CHECK(std::equal(expected.begin(), expected.end(), logits));
      if (!ended)
        ids.push_back(outcome.rows[row][ids.size()]), ++chosen;
    }
  }
  CHECK(seen.size() == chosen);
  // The callback ends one row; the others continue as before.
  options.on_token = [](void *, int64_t row, int64_t, int64_t length) -> int {
    return row == 1 && length == 4 ? ATTUNE_TOKEN_END_ROW : ATTUNE_TOKEN_GO_ON;
  };
  CHECK(outcome.rows[1].size() > 4);
  Toy toy{11, prompts, {}};
  Outcome shorter = run(options, prompts, 11, &toy);
  CHECK(shorter.rows[0] == outcome.rows[0] && shorter.rows[2] == outcome.rows[2]);
  for (int64_t id : Ids(shorter.rows[1].begin() + 4, shorter.rows[1].end()))
    CHECK(id == options.eos_token_ids[0]); // the padding
  CHECK(std::equal(shorter.rows[1].begin(), shorter.rows[1].begin() + 4, outcome.rows[1].begin()));
  options.on_token = [](void *, int64_t, int64_t, int64_t length) -> int {
    return length == 4 ? ATTUNE_TOKEN_END_ALL : ATTUNE_TOKEN_GO_ON;
  };
  CHECK(run(options, prompts, 11).length == 4);
  options.num_beams = 3;
  CHECK(run(options, prompts, 11).steps == 2);
}

/// Checks that penalties ignore padding, the length of which depends on the other prompts of the batch.
static void testPadding() {
  attune_generation_options options = defaults();
  options.repetition_penalty = 1.3, options.presence_penalty = 0.5, options.frequency_penalty = 0.25;
  const int64_t padded[] = {9, 9, 1, 4, 6, 6}, mask[] = {0, 0, 1, 1};
  std::vector<int32_t> counts(11);
  auto apply = [&](const GenerationPrompt &prompt, const int64_t *ids, int64_t count) {
    std::vector<float> scores = reference::toyLogits({1, 4}, 11);
    applyLogitsProcessors(options, prompt.logitsContext(0, ids, count), 11, scores.data(), counts.data());
    return scores;
  };
  GenerationPrompt hidden{1, 4, padded};
  hidden.mask = mask;
  std::vector<float> expected = reference::toyLogits({1, 4}, 11), got = apply(hidden, padded, 6);
  CHECK(got == apply({1, 2, padded + 2}, padded + 2, 4));
  CHECK(got[9] == expected[9] && got != apply({1, 4, padded}, padded, 6));
  float six = expected[6] < 0 ? expected[6] * 1.3f : expected[6] / 1.3f;
  CHECK(got[6] == six - 0.5f - 0.5f && got[1] == (expected[1] < 0 ? expected[1] * 1.3f : expected[1] / 1.3f));
  CHECK(counts == std::vector<int32_t>(11));
}

static void testBadOptions() {
  Toy toy{11, {}, {}};
  Outcome outcome;
  auto rejects = [&](auto change, const char *text) {
    attune_generation_options options = defaults();
    change(options);
    CHECK_FAILS(tryRun(options, {{1, 4}}, toy, outcome), ATTUNE_INVALID_ARGUMENT, text);
  };
  rejects([](auto &o) { o.max_length = 1; }, "max_length is 1, expected more than the 2 ids of the prompt");
  rejects([](auto &o) { o.max_length = 2; }, "max_length is 2, expected more than the 2 ids of the prompt");
  rejects([](auto &o) { o.max_length = 0; }, "max_length is 0, at least 1 expected");
  rejects([](auto &o) { o.num_beams = 12; }, "num_beams is 12, expected at most the vocabulary's 11");
  rejects([](auto &o) { o.num_beams = 0; }, "num_beams is 0, at least 1 expected");
  rejects([](auto &o) { o.num_return_sequences = 2; }, "num_return_sequences is 2, expected at most num_beams = 1");
  static const int64_t beyond[] = {11}, one[] = {1}, none[] = {0};
  rejects([](auto &o) { o.eos_token_ids = beyond; }, "eos_token_ids has 11, expected ids below the vocabulary's 11");
  rejects([](auto &o) { o.eos_token_ids = nullptr; }, "eos_token_ids is null, 1 ids expected");
  rejects([](auto &o) { o.num_eos_token_ids = 11; }, "eos_token_ids has 11 ids, expected fewer than the vocabulary's 11");
  rejects([](auto &o) { o.early_stopping = 3; }, "early_stopping is 3, a value of attune_early_stopping expected");
  rejects([](auto &o) { o.num_beams = 2, o.want_step_logits = 1; }, "step logits with num_beams = 2 are not supported");
  rejects([](auto &o) { o.unsupported = "penalty_alpha is 0.6"; }, "penalty_alpha is 0.6");
  rejects([](auto &o) { o.do_sample = 1, o.temperature = 0; }, "temperature is 0, a positive number expected");
  for (double bad : {double(NAN), double(INFINITY), -double(INFINITY), -1.0}) {
    static double value;
    value = bad;
    rejects([](auto &o) { o.do_sample = 1, o.temperature = value; }, "temperature is ");
    rejects([](auto &o) { o.do_sample = 1, o.top_p = value; }, "top_p is ");
    rejects([](auto &o) { o.do_sample = 1, o.typical_p = value; }, "typical_p is ");
    rejects([](auto &o) { o.do_sample = 1, o.min_p = value; }, "min_p is ");
    rejects([](auto &o) { o.do_sample = 1, o.epsilon_cutoff = value; }, "epsilon_cutoff is ");
    rejects([](auto &o) { o.do_sample = 1, o.eta_cutoff = value; }, "eta_cutoff is ");
    rejects([](auto &o) { o.repetition_penalty = value; }, "repetition_penalty is ");
  }
  rejects([](auto &o) { o.do_sample = 1, o.top_p = 1.5; }, "top_p is 1.5, expected to be above 0 and at most 1");
  rejects([](auto &o) { o.do_sample = 1, o.top_k = -1; }, "top_k is -1, at least 0 expected");
  rejects([](auto &o) { o.do_sample = 1, o.num_beams = 2; }, "do_sample with num_beams = 2 is not supported");
  rejects([](auto &o) { o.do_sample = 1, o.min_p = 1.5; }, "min_p is 1.5, expected to be at least 0 and at most 1");
  rejects([](auto &o) { o.do_sample = 1, o.typical_p = 0; }, "typical_p is 0, expected to be above 0 and at most 1");
  rejects([](auto &o) { o.do_sample = 1, o.eta_cutoff = 1; }, "eta_cutoff is 1, expected to be at least 0 and below 1");
  rejects([](auto &o) { o.suppress_tokens = beyond, o.num_suppress_tokens = 1; },
          "suppress_tokens has 11, expected ids below the vocabulary's 11");
  rejects([](auto &o) { o.num_begin_suppress_tokens = 2; }, "begin_suppress_tokens is null, 2 ids expected");
  rejects([](auto &o) { o.encoder_repetition_penalty = -1; }, "encoder_repetition_penalty is -1, a positive number expected");
  rejects([](auto &o) { o.repetition_penalty = 0; }, "repetition_penalty is 0, a positive number expected");
  rejects([](auto &o) { o.length_penalty = NAN; }, "length_penalty is nan, a number expected");
  rejects([](auto &o) { o.presence_penalty = INFINITY; }, "presence_penalty is inf, a number expected");
  rejects([](auto &o) { o.frequency_penalty = NAN; }, "frequency_penalty is nan, a number expected");
  rejects([](auto &o) { o.num_stop_strings = 2; }, "stop_strings has 2 texts, expected none where only ids are known");
  rejects([](auto &o) { o.num_bad_words = 1; }, "bad_words_ids or bad_words_lengths is null");
  rejects([](auto &o) { o.num_bad_words = 1, o.bad_words_ids = beyond, o.bad_words_lengths = one; },
          "bad_words_ids has 11, expected ids below the vocabulary's 11");
  rejects([](auto &o) { o.num_bad_words = 1, o.bad_words_ids = beyond, o.bad_words_lengths = none; },
          "the length of a bad word is 0, at least 1 expected");
}

/// Checks that every search fails if no logit of a row is above -inf or if all are NaN, instead of choosing id 0.
static void testWithoutIds() {
  auto rejects = [](const attune_generation_options &options, StepModel model, const char *text) {
    std::vector<int64_t> prompt = {1, 1}, sequences(static_cast<size_t>(2 * options.max_length));
    std::vector<float> scores(2);
    GenerationResult result{sequences.data(), scores.data(), nullptr, 0, 0};
    attune_generation_options checked = options;
    CHECK_OK(checkGenerationOptions(checked, model.vocabSize, 1));
    CHECK_FAILS(generate(model, checked, {2, 1, prompt.data()}, result), ATTUNE_INVALID_ARGUMENT, text);
  };
  // All logits of the second row are NaN.
  auto start = [](void *, int64_t rows, float *logits) -> attune_status {
    std::fill_n(logits, rows * 11, 1.0f);
    std::fill_n(logits + 11, 11, NAN);
    return ATTUNE_OK;
  };
  StepModel model{nullptr, 11, start, Toy::step};
  attune_generation_options greedy = defaults(), sampling = defaults(), beams = defaults();
  sampling.do_sample = 1;
  beams.num_beams = 2;
  static const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  for (attune_generation_options options : {greedy, sampling, beams}) {
    rejects(options, model, "row 1: expected logits that are numbers, got NaN");
    options.suppress_tokens = all, options.num_suppress_tokens = 11;
    rejects(options,
            {nullptr, 11, [](void *, int64_t rows, float *logits) { return std::fill_n(logits, rows * 11, 1.0f), ATTUNE_OK; }, Toy::step},
            "row 0: none of the 11 logits is above -inf");
  }
}

int main() {
  testAgainstReference();
  testAgainstEnumeration();
  testBatches();
  testSampling();
  testLogSoftmax();
  testStepLogitsAndCallback();
  testPadding();
  testBadOptions();
  testWithoutIds();
  puts("generation: ok");
}
