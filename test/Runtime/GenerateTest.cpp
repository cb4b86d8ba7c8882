//===- GenerateTest.cpp - Generation on sessions ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune_generate and its wrapper on decoders whose caches hold ids, against the reference. Usage: attune-test-generate FOLDER (writable)
//===----------------------------------------------------------------------===//

#include "attune/generate.hpp"

#include "Check.h"
#include "FakeModel.h"
#include "GenerationReference.h"
#include "ToyDecoder.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

using attune::view;
using reference::Ids;

static std::string weights;

static Ids flatten(const std::vector<Ids> &rows) {
  Ids flat;
  for (const Ids &row : rows)
    flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

/// |ids| up to its first end at or after |from|, that end included.
static Ids cut(const attune_generation_options &options, Ids ids, int64_t from) {
  auto end = reference::findEnd(options, ids, from);
  ids.erase(end == ids.end() ? end : end + 1, ids.end());
  return ids;
}

/// Beams, ends and lengths at random: what slots hold and who continues whom is right if the ids are.
static void testAgainstReference(const attune::Model &model) {
  std::mt19937 random(5);
  auto pick = [&](int64_t low, int64_t high) { return low + static_cast<int64_t>(random() % static_cast<uint32_t>(high - low + 1)); };
  for (int trial = 0; trial < 300; ++trial) {
    attune::GenerationOptions options(model);
    options->num_beams = pick(1, 5);
    options->num_return_sequences = pick(1, options->num_beams);
    options->early_stopping = pick(0, 2);
    options->length_penalty = static_cast<double>(pick(-1, 3));
    options->no_repeat_ngram_size = pick(0, 2);
    int64_t length = pick(1, 3);
    options->max_length = length + pick(1, 8);
    std::vector<Ids> prompts(static_cast<size_t>(pick(1, 4)));
    for (Ids &prompt : prompts)
      for (int64_t i = 0; i < length; ++i)
        prompt.push_back(pick(0, toy::vocabSize - 1));
    Ids flat = flatten(prompts);
    std::vector<attune::Tensor> inputs = {view("input_ids", flat, {static_cast<int64_t>(prompts.size()), length})};
    attune::Session session = attune::generationSession(model, options, inputs, 1);
    attune::Generation generation = attune::generate(session, options, inputs);
    int64_t row = 0;
    for (const Ids &prompt : prompts) {
      if (options->num_beams == 1) {
        CHECK(cut(options.c(), generation.row(row++), length) == reference::searchGreedily(options.c(), prompt, toy::vocabSize));
        CHECK(!generation->scores);
        continue;
      }
      std::vector<reference::Scored> best = reference::searchBeams(options.c(), prompt, toy::vocabSize);
      for (int64_t i = 0; i < options->num_return_sequences; ++i, ++row) {
        CHECK(cut(options.c(), generation.row(row), length) == cut(options.c(), best[static_cast<size_t>(i)].ids, length));
        CHECK(std::fabs(generation->scores[row] - best[static_cast<size_t>(i)].score) < 1e-5 * (1 + std::fabs(generation->scores[row])));
      }
    }
    CHECK(row == generation->rows);
  }
}

/// Prompts padded on the left give what they give alone; rows that ended are in no step, and slots stay with their rows.
static void testRaggedPrompts(const attune::Model &model) {
  for (int sampled = 0; sampled < 2; ++sampled) {
    attune::GenerationOptions options(model);
    options->max_new_tokens = 9;
    std::vector<Ids> prompts = {{7, 7, 1}, {7, 5, 0}, {3, 3, 8}}, masks = {{0, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    Ids ids = flatten(prompts), mask = flatten(masks);
    options->do_sample = sampled;
    options->seed = 4;
    std::vector<attune::Tensor> inputs = {view("attention_mask", mask, {3, 3}), view("input_ids", ids, {3, 3})};
    attune::Session session = attune::generationSession(model, options, inputs, 1);
    toy::record = {};
    attune::Generation together = attune::generate(session, options, inputs);
    size_t steps[3] = {};
    for (const std::vector<int64_t> &slots : toy::record.slots)
      for (int64_t slot : slots)
        ++steps[slot];
    for (int64_t row = 0; row < 3; ++row) {
      Ids got = cut(options.c(), together.row(row), 3);
      // The first of its ids needs no step, and the last is not read.
      CHECK(steps[static_cast<size_t>(row)] == got.size() - 4);
      if (sampled) { // beside other rows: noise belongs to the number of a row
        std::vector<Ids> others = {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}};
        others[static_cast<size_t>(row)] = prompts[static_cast<size_t>(row)];
        Ids otherIds = flatten(others);
        attune::Generation other =
            attune::generate(session, options, {view("attention_mask", mask, {3, 3}), view("input_ids", otherIds, {3, 3})});
        CHECK(cut(options.c(), other.row(row), 3) == got);
        continue;
      }
      int64_t visible = std::count(masks[row].begin(), masks[row].end(), 1);
      Ids alone(prompts[row].end() - visible, prompts[row].end());
      attune_generation_options own = options.c();
      own.max_length = visible + 9;
      CHECK(Ids(got.begin() + 3 - visible, got.end()) == reference::searchGreedily(own, alone, toy::vocabSize));
    }
  }
}

static void testCallback(const attune::Model &model) {
  attune::GenerationOptions options(model);
  options->max_length = 12;
  options->want_step_logits = 1;
  Ids ids = {1, 4, 5, 0};
  std::vector<attune::Tensor> inputs = {view("input_ids", ids, {2, 2})};
  attune::Session session = attune::generationSession(model, options, inputs, 1);
  std::vector<Ids> seen = {{1, 4}, {5, 0}};
  options.onToken([&](int64_t row, int64_t token, int64_t length) {
    seen[static_cast<size_t>(row)].push_back(token);
    CHECK(length == static_cast<int64_t>(seen[static_cast<size_t>(row)].size()));
    CHECK_FAILS(attune_session_slot_truncate(session.get(), 0, 0), ATTUNE_BUSY, "running another call");
    return true;
  });
  attune::Generation whole = attune::generate(session, options, inputs);
  for (int64_t row = 0; row < 2; ++row)
    CHECK(seen[static_cast<size_t>(row)] == cut(options.c(), whole.row(row), 2));
  std::vector<float> first = reference::toyLogits({1, 4}, toy::vocabSize);
  CHECK(whole->vocab_size == toy::vocabSize && std::equal(first.begin(), first.end(), whole->step_logits));
  options.onToken([](int64_t, int64_t, int64_t length) { return length < 4; });
  CHECK(attune::generate(session, options, inputs)->length == 4);
  options.onToken([](int64_t, int64_t, int64_t) -> bool { throw std::string("enough"); });
  try {
    attune::generate(session, options, inputs);
    CHECK(false);
  } catch (const std::string &what) {
    CHECK(what == "enough");
  }
  options.onToken(nullptr);
  CHECK(attune::generate(session, options, inputs)->length == whole->length);
}

/// Sources are read once, whatever the beams; each row goes on from its own.
static void testEncoderDecoder(attune_generation_options own) {
  own.decoder_start_token_id = 3;
  attune_model_desc desc = toy::makeEncoderDecoder(&own);
  attune::Model model(desc, weights);
  attune::GenerationOptions options(model);
  options->max_length = 7;
  Ids sources = {1, 2, 3, 4, 4, 0, 9, 9, 9}, mask = {1, 1, 1, 1, 1, 0, 1, 0, 0};
  std::vector<attune::Tensor> inputs = {view("input_ids", sources, {3, 3}), view("attention_mask", mask, {3, 3})};
  for (int64_t beams : {1, 3}) {
    options->num_beams = beams;
    attune::Session session = attune::generationSession(model, options, inputs, 1);
    toy::record = {};
    attune::Generation together = attune::generate(session, options, inputs);
    CHECK(toy::record.encoded == 3);
    for (int64_t row = 0; row < 3; ++row) {
      Ids source(sources.begin() + row * 3, sources.begin() + row * 3 + 3), seen(mask.begin() + row * 3, mask.begin() + row * 3 + 3);
      attune::Generation alone =
          attune::generate(session, options, {view("input_ids", source, {1, 3}), view("attention_mask", seen, {1, 3})});
      CHECK(cut(options.c(), alone.row(0), 1) == cut(options.c(), together.row(row), 1));
      CHECK(beams == 1 || alone->scores[0] == together->scores[row]);
      Ids expected = {3};
      while (beams == 1 && static_cast<int64_t>(expected.size()) < 7 && (expected.size() == 1 || expected.back() != 2)) {
        Ids all = expected;
        all.insert(all.begin(), source[0] * seen[0] + source[1] * seen[1] + source[2] * seen[2]);
        std::vector<float> logits = reference::toyLogits(all, toy::vocabSize);
        expected.push_back(std::max_element(logits.begin(), logits.end()) - logits.begin());
      }
      CHECK(beams > 1 || cut(options.c(), together.row(row), 1) == expected);
    }
  }
  // Sequences that begin with more than the start.
  options->num_beams = 1;
  Ids begin = {3, 5, 3, 6, 3, 7};
  inputs.push_back(view("decoder_input_ids", begin, {3, 2}));
  attune::Session session = attune::generationSession(model, options, inputs, 1);
  CHECK((attune::generate(session, options, inputs).row(2)[1]) == 7);
  inputs.erase(inputs.begin());
  CHECK_FAILS(attune_generate(session.get(), &options.c(), attune::generationInputs(inputs).data(), 2, nullptr), ATTUNE_INVALID_ARGUMENT,
              "out_generation is null");
  auto fails = [&](const std::vector<attune::Tensor> &given, const char *text) {
    attune_generation *generation;
    std::vector<attune_tensor> tensors = attune::generationInputs(given);
    CHECK_FAILS(attune_generate(session.get(), &options.c(), tensors.data(), tensors.size(), &generation), ATTUNE_INVALID_ARGUMENT, text);
  };
  fails(inputs, "input 'input_ids' is missing");
  fails({view("input_ids", sources, {1, 9}), view("decoder_input_ids", begin, {3, 2})},
        "'input_ids' has 1 rows, 'decoder_input_ids' has 3");
  options->decoder_start_token_id = -1;
  fails({view("input_ids", sources, {3, 3})}, "decoder_start_token_id is not set");
  options->bos_token_id = 11;
  fails({view("input_ids", sources, {3, 3})}, "decoder_start_token_id is 11, expected an id below the vocabulary's 11");
}

static void testErrors(const attune::Model &model) {
  attune::GenerationOptions options(model);
  Ids ids = {1, 4, 5, 0}, mask = {1, 1, 1, 0}, large = {1, 4, 5, 11};
  attune::Session small(model, {{"batch", 2}, {"length", 4}, {"past", 8}}, 1);
  auto fails = [&](attune_status status, const std::vector<attune::Tensor> &given, const char *text) {
    attune_generation *generation;
    std::vector<attune_tensor> tensors = attune::generationInputs(given);
    CHECK_FAILS(attune_generate(small.get(), &options.c(), tensors.data(), tensors.size(), &generation), status, text);
    CHECK(!generation);
  };
  std::vector<attune::Tensor> good = {view("input_ids", ids, {2, 2})};
  options->max_length = 10; // 9 of them are read
  fails(ATTUNE_LIMIT_EXCEEDED, good, "generating 10 ids needs room for 9, the session's limit of past is 8");
  options->max_length = 26;
  fails(ATTUNE_LIMIT_EXCEEDED, good, "max_length is 26, at most 25 expected after these prompts: the model has 24 positions");
  options->max_length = 2;
  fails(ATTUNE_INVALID_ARGUMENT, good, "max_length is 2, expected more than the 2 ids of the prompt");
  options->max_length = 1;
  fails(ATTUNE_INVALID_ARGUMENT, good, "max_length is 1, expected more than the 2 ids of the prompt");
  options->max_length = 6;
  options->num_beams = 12;
  fails(ATTUNE_INVALID_ARGUMENT, good, "num_beams is 12, expected at most the vocabulary's 11");
  options->num_beams = 2;
  fails(ATTUNE_LIMIT_EXCEEDED, good, "generating needs 4 sequences at once, the session's limit of batch is 2");
  options->num_beams = 1;
  fails(ATTUNE_INVALID_ARGUMENT, {}, "input 'input_ids' is missing");
  fails(ATTUNE_INVALID_ARGUMENT, {view("ids", ids, {2, 2})},
        "model 'fake' generates without an input 'ids'; 'input_ids' is what it begins with");
  fails(ATTUNE_INVALID_ARGUMENT, {view("input_ids", ids, {4})}, "input 'input_ids' is i64 [4], expected i64 [rows, length]");
  fails(ATTUNE_INVALID_ARGUMENT, {view("input_ids", ids, {2, 3})}, "input 'input_ids' has 32 bytes of data, too few for its shape [2, 3]");
  fails(ATTUNE_INVALID_ARGUMENT, {view("input_ids", large, {2, 2})},
        "an id of the prompts is 11, expected an id below the vocabulary's 11");
  fails(ATTUNE_INVALID_ARGUMENT, {good[0], view("attention_mask", mask, {2, 2})},
        "row 1 of input 'attention_mask' ends with 0, expected prompts that are padded on the left");
  fails(ATTUNE_INVALID_ARGUMENT, {good[0], view("attention_mask", mask, {1, 4})},
        "input 'attention_mask' is [1, 4], expected [2, 2] as the prompts are");
  options->struct_bytes = 1000;
  fails(ATTUNE_INVALID_ARGUMENT, good, "attune_generation_options.struct_bytes is 1000");
  attune_generation_options_init(model.get(), const_cast<attune_generation_options *>(&options.c()));
  options->unsupported = "penalty_alpha";
  fails(ATTUNE_INVALID_ARGUMENT, good, "penalty_alpha");
  attune_generation *generation;
  CHECK_FAILS(attune_generate(nullptr, nullptr, nullptr, 0, &generation), ATTUNE_INVALID_ARGUMENT, "the session is null");
  attune::Model other(attune_model_fake, weights);
  attune::Session session(other, {{"batch", 1}, {"length", 1}, {"past", 1}}, 1);
  CHECK_FAILS(attune_generate(session.get(), nullptr, nullptr, 0, &generation), ATTUNE_INVALID_ARGUMENT,
              "model 'fake' has no entry 'prefill'");
  // The prompt may fill all positions: one id more is chosen.
  std::vector<attune::Tensor> full = {view("input_ids", ids, {1, 4})};
  attune::Session tight(model, {{"batch", 1}, {"length", 4}, {"past", 4}}, 1);
  attune::GenerationOptions last(model);
  last->max_length = 5;
  CHECK(attune::generate(tight, last, full)->length == 5);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  weights = std::string(argv[1]) + "/fake.weights";
  fake_write_weights(weights.c_str(), nullptr);
  static const int64_t ends[] = {2};
  attune_generation_options own;
  attune_generation_options_init(nullptr, &own);
  own.eos_token_ids = ends, own.num_eos_token_ids = 1;
  attune_model_desc desc = toy::makeDecoder(&own);
  attune::Model model(desc, weights);
  CHECK(attune::GenerationOptions(model)->eos_token_ids[0] == 2);
  testAgainstReference(model);
  testRaggedPrompts(model);
  testCallback(model);
  testEncoderDecoder(own);
  testErrors(model);
  puts("generate: ok");
}
