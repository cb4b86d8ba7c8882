//===- GenerateTest.cpp - Generation on sessions ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests attune_generate and its C++ wrapper against GenerationReference.h, on the decoders of ToyDecoder.h, whose
// caches hold ids. Usage: attune-test-generate FOLDER, which receives the weights file.
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

/// Returns |ids| up to and including its first end id at or after position |from|; all of them if there is none.
static Ids cut(const attune_generation_options &options, Ids ids, int64_t from) {
  auto end = reference::findEnd(options, ids, from);
  ids.erase(end == ids.end() ? end : end + 1, ids.end());
  return ids;
}

/// Compares generations with those of the reference, for random prompts, lengths, numbers of beams and other options.
/// The ids are right only if slots hold the right tokens and beams have the right parents.
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

/// Tests that prompts padded on the left give the same result as without padding, that rows that have ended are in no
/// further step, and that each row keeps its slot.
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
      // |got| has the 3 ids of the prompt and n new ones. The first new id needs no step of decode, since prefill gives
      // its logits, so there are n - 1 steps.
      CHECK(steps[static_cast<size_t>(row)] == got.size() - 4);
      if (sampled) { // other prompts in the other rows do not change the noise of a row
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

/// Tests that sources are encoded once, whatever the number of beams, and that each row continues from its own source.
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
  // Prompts of the decoder that have further ids after the start id.
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

/// The prompts of the next turn, padded on the left, and their mask. A prompt is a row of |generation| up to and
/// including its end id, without the padding that |mask| hides, followed by |turn|. |visible| is the number of ids that
/// are not padding.
struct NextTurn {
  Ids ids, mask;
  int64_t rows, length = 0, visible = 0;

  NextTurn(const attune::GenerationOptions &options, const attune::Generation &generation, const Ids &mask, int64_t promptLength,
           const Ids &turn)
      : rows(generation->rows) {
    std::vector<Ids> texts;
    for (int64_t row = 0; row < rows; ++row) {
      Ids text = cut(options.c(), generation.row(row), promptLength), shown;
      for (size_t i = 0; i < text.size(); ++i)
        if (i >= static_cast<size_t>(promptLength) || mask[static_cast<size_t>(row * promptLength) + i])
          shown.push_back(text[i]);
      shown.insert(shown.end(), turn.begin(), turn.end());
      length = std::max(length, static_cast<int64_t>(shown.size()));
      visible += static_cast<int64_t>(shown.size());
      texts.push_back(shown);
    }
    for (const Ids &text : texts) {
      ids.insert(ids.end(), static_cast<size_t>(length) - text.size(), 0);
      this->mask.insert(this->mask.end(), static_cast<size_t>(length) - text.size(), 0);
      ids.insert(ids.end(), text.begin(), text.end());
      this->mask.insert(this->mask.end(), text.size(), 1);
    }
  }
  std::vector<attune::Tensor> inputs() { return {view("input_ids", ids, {rows, length}), view("attention_mask", mask, {rows, length})}; }
};

static bool areEqual(const attune::Generation &a, const attune::Generation &b) {
  bool equal = a->rows == b->rows && a->length == b->length && !a->scores == !b->scores;
  for (int64_t row = 0; equal && row < a->rows; ++row)
    equal = a.row(row) == b.row(row) && (!a->scores || a->scores[row] == b->scores[row]);
  return equal;
}

/// Tests, for every kind of search, that the turns of a conversation in one session give the same results as the whole
/// text in a new session, and that tokens which are reused are not read again.
static void testConversations(const attune::Model &model) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) { return low + static_cast<int64_t>(random() % static_cast<uint32_t>(high - low + 1)); };
  for (int trial = 0; trial < 200; ++trial) {
    attune::GenerationOptions options(model);
    options->reuse_cache = 1;
    options->do_sample = pick(0, 1);
    options->seed = static_cast<uint64_t>(trial);
    options->temperature = 2;
    options->num_beams = options->do_sample ? 1 : pick(1, 3);
    options->repetition_penalty = static_cast<double>(pick(2, 4)) / 2;
    options->max_new_tokens = pick(1, 4);
    attune::Session session(model, {{"batch", 8}, {"length", 16}, {"past", 24}}, 1);
    int64_t rows = pick(1, 2);
    Ids prompt, mask(static_cast<size_t>(rows * 2), 1);
    for (int64_t i = 0; i < rows * 2; ++i)
      prompt.push_back(pick(3, toy::vocabSize - 1));
    attune::Generation first =
        attune::generate(session, options, {view("input_ids", prompt, {rows, 2}), view("attention_mask", mask, {rows, 2})});
    CHECK(first->reused_tokens == 0);
    int64_t promptLength = 2;
    for (int turn = 0; turn < 2; ++turn) {
      NextTurn next(options, first, mask, promptLength, Ids(static_cast<size_t>(pick(1, 2)), pick(3, toy::vocabSize - 1)));
      toy::record = {};
      attune::Generation continued = attune::generate(session, options, next.inputs());
      int64_t read = toy::record.prefilled;
      CHECK(read == next.visible - continued->reused_tokens);
      attune::Session fresh = attune::generationSession(model, options, next.inputs(), 1);
      attune::Generation whole = attune::generate(fresh, options, next.inputs());
      CHECK(whole->reused_tokens == 0 && areEqual(continued, whole));
      // Without beams, the cache slot of a row holds the keys of all ids of the last turn but the final one, which was
      // chosen and not read. So at most 3 ids of each row are read: that one and the one or two of the new turn.
      if (options->num_beams == 1)
        CHECK(read <= next.rows * 3);
      first = std::move(continued);
      mask = next.mask;
      promptLength = next.length;
    }
  }
}

/// Tests the exact number of tokens that a generation reuses from the session's caches.
static void testReuse(const attune::Model &model) {
  attune::GenerationOptions options(model);
  options->reuse_cache = 1;
  options->eos_token_ids = nullptr, options->num_eos_token_ids = 0;
  options->max_new_tokens = 3;
  attune::Session session(model, {{"batch", 2}, {"length", 6}, {"past", 12}}, 1);
  auto generate = [&](Ids ids, const Ids &slots = {}) {
    std::vector<attune::Tensor> inputs = {view("input_ids", ids, {1, static_cast<int64_t>(ids.size())})};
    if (!slots.empty())
      inputs.push_back(view("slots", slots, {1}));
    return attune::generate(session, options, inputs);
  };
  attune::Generation first = generate({3, 4, 5});
  CHECK(session.slotLength(0) == 5 && session.slotLength(1) == 0);
  Ids text = first.row(0), other = {3, 9};
  text.insert(text.end(), {7, 8});
  // Five tokens are in slot 0. Of the text, the sixth token is the last id of the first call, which no step has read,
  // and two are new.
  attune::Generation second = generate(text);
  CHECK(second->reused_tokens == 5 && session.slotLength(0) == 10);
  // A text that shares only its beginning with the conversation uses the empty slot.
  CHECK(generate(other)->reused_tokens == 0 && session.slotLength(0) == 10 && session.slotLength(1) == 4);
  // Another ending of the same conversation: the tokens that differ are removed.
  text.back() = 6;
  CHECK(generate(text)->reused_tokens == 7 && session.slotLength(0) == 10);
  // The same text again: its last token is computed again, for its logits.
  CHECK(generate(text)->reused_tokens == 7);
  // The caller may choose slots by number.
  CHECK(generate(other, {0})->reused_tokens == 1 && session.slotLength(0) == 4 && session.slotLength(1) == 4);
  std::vector<Ids> wrong = {{2}, {-1}};
  for (const Ids &slots : wrong) {
    std::vector<attune::Tensor> inputs = {view("input_ids", other, {1, 2}), view("slots", slots, {1})};
    attune_generation *generation;
    CHECK_FAILS(attune_generate(session.get(), &options.c(), attune::generationInputs(inputs).data(), 2, &generation),
                ATTUNE_INVALID_ARGUMENT, "the session has 0 to 1");
    CHECK(session.slotLength(0) == 4 && session.slotLength(1) == 4);
  }
  // A call that exceeds the context fails and does not change the slots.
  Ids longer(10, 3);
  std::vector<attune::Tensor> inputs = {view("input_ids", longer, {1, 10})};
  attune_generation *generation;
  options->max_new_tokens = 4;
  CHECK_FAILS(attune_generate(session.get(), &options.c(), attune::generationInputs(inputs).data(), 1, &generation), ATTUNE_LIMIT_EXCEEDED,
              "generating 14 ids needs room for 13, the session's limit of past is 12");
  CHECK(!generation && session.slotLength(0) == 4 && session.slotLength(1) == 4);
  // Tokens whose keys and values the caller has written are computed again. Tokens that the caller has prefilled are
  // reused.
  options->max_new_tokens = 1;
  float values[2] = {3, 4};
  int64_t shape[] = {1, 1, 2, 1}, slot = 1;
  attune_tensor cache = {"past_key_values.0.1", ATTUNE_F32, 4, shape, values, sizeof(values)};
  CHECK_OK(attune_session_cache_write(session.get(), &slot, &cache, 1));
  CHECK(generate({3, 4, 5}, {1})->reused_tokens == 0);
  Ids system = {8, 9, 10};
  session.truncateSlot(1, 0);
  session.run("prefill", {view("input_ids", system, {1, 3}), view("slots", Ids{1}, {1})});
  session.copySlot(1, 0);
  session.truncateSlot(1, 0);
  CHECK(generate({8, 9, 10, 3})->reused_tokens == 3);
  // Without the option, no keys are kept after the call.
  options->reuse_cache = 0;
  CHECK(generate({8, 9, 10, 3})->reused_tokens == 0 && session.slotLength(1) == 0);
}

/// Tests that ids, masks and slots of I32 give the same results as those of I64, in generation, too.
static void testNarrowInputs(const attune::Model &model) {
  attune::GenerationOptions options(model);
  options->max_length = 9;
  Ids ids = {7, 7, 1, 7, 5, 0}, mask = {0, 0, 1, 0, 1, 1};
  std::vector<int32_t> narrowIds(ids.begin(), ids.end()), narrowMask(mask.begin(), mask.end());
  std::vector<attune::Tensor> wide = {view("input_ids", ids, {2, 3}), view("attention_mask", mask, {2, 3})};
  std::vector<attune::Tensor> narrow = {view("input_ids", narrowIds, {2, 3}), view("attention_mask", narrowMask, {2, 3})};
  attune::Session session = attune::generationSession(model, options, narrow, 1);
  CHECK(areEqual(attune::generate(session, options, wide), attune::generate(session, options, narrow)));
  // Entries that use caches also accept slots as I32.
  std::vector<int32_t> slots = {1, 0};
  Ids wideSlots = {1, 0};
  narrow.push_back(view("slots", slots, {2})), wide.push_back(view("slots", wideSlots, {2}));
  std::vector<attune::Array> results[2];
  for (bool isNarrow : {false, true}) {
    session.truncateSlot(0, 0), session.truncateSlot(1, 0);
    results[isNarrow] = session.run("prefill", isNarrow ? narrow : wide);
    CHECK(session.slotLength(0) == 2 && session.slotLength(1) == 1);
  }
  CHECK(memcmp(results[0][0].data<float>(), results[1][0].data<float>(), results[0][0].bytes()) == 0);
  slots[1] = 1;
  try {
    session.run("prefill", narrow);
    CHECK(false);
  } catch (const attune::Error &error) {
    CHECK(error.status() == ATTUNE_INVALID_ARGUMENT && std::string(error.what()) == "row 1 is in slot 1, as an earlier row is");
  }
  narrow.pop_back();
  narrowIds[4] = -5;
  attune_generation *generation;
  CHECK_FAILS(attune_generate(session.get(), &options.c(), attune::generationInputs(narrow).data(), 2, &generation),
              ATTUNE_INVALID_ARGUMENT, "an id of the prompts is -5");
  std::vector<attune::Tensor> flat = {view("input_ids", narrowIds, {6})};
  CHECK_FAILS(attune_generate(session.get(), &options.c(), attune::generationInputs(flat).data(), 1, &generation), ATTUNE_INVALID_ARGUMENT,
              "input 'input_ids' is i64 [6], expected i64 [rows, length]");
}

/// Tests that ids, masks and slots that are not aligned, or whose dtype is unknown, are refused before they are read.
static void testMisaligned(const attune::Model &model) {
  attune::GenerationOptions options(model);
  options->max_length = 9;
  Ids ids = {7, 7, 1, 7, 5, 0, 0}, mask = {1, 1, 1, 1, 1, 1, 1}, slots = {0, 1, 0};
  std::vector<attune::Tensor> inputs = {view("input_ids", ids, {2, 3}), view("attention_mask", mask, {2, 3}), view("slots", slots, {2})};
  attune::Session session = attune::generationSession(model, options, inputs, 1);
  std::vector<attune_tensor> good = attune::generationInputs(inputs);
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<attune_tensor> tensors = good;
    tensors[i].data = static_cast<char *>(tensors[i].data) + 3;
    attune_dim_limit limits[ATTUNE_MAX_GENERATION_LIMITS];
    size_t count = 7;
    attune_generation *generation;
    CHECK_FAILS(attune_generation_limits(nullptr, &options.c(), tensors.data(), tensors.size(), limits, &count), ATTUNE_INVALID_ARGUMENT,
                "the model is null");
    CHECK(count == 0);
    CHECK_FAILS(attune_generation_limits(model.get(), &options.c(), tensors.data(), tensors.size(), limits, &count),
                ATTUNE_INVALID_ARGUMENT, "expected a multiple of 8");
    CHECK_FAILS(attune_generate(session.get(), &options.c(), tensors.data(), tensors.size(), &generation), ATTUNE_INVALID_ARGUMENT,
                "expected a multiple of 8");
    tensors = good;
    memset(&tensors[i].dtype, 99, sizeof(tensors[i].dtype));
    CHECK_FAILS(attune_generate(session.get(), &options.c(), tensors.data(), tensors.size(), &generation), ATTUNE_INVALID_ARGUMENT,
                "is unknown [");
  }
}

/// Tests that limits are refused if the sum of two of them overflows int64, or if their product exceeds 2^40, by a
/// model without limits of its own.
static void testHugeLimits(attune_model_desc desc) {
  std::vector<attune_entry_desc> entries(desc.entries, desc.entries + desc.num_entries);
  std::vector<std::vector<attune_dim_desc>> dims;
  for (attune_entry_desc &entry : entries) {
    dims.emplace_back(entry.dims, entry.dims + entry.num_dims);
    for (attune_dim_desc &dim : dims.back())
      dim.max = 0;
    entry.dims = dims.back().data();
  }
  desc.entries = entries.data();
  attune::Model model(desc, weights);
  for (int64_t most : {INT64_MAX, INT64_MAX - 70, int64_t(1) << 41}) {
    attune_dim_limit limits[] = {{"past", most}, {"length", 3}};
    attune_session_options options;
    attune_session_options_init(&options);
    options.limits = limits;
    options.num_limits = 2;
    size_t bytes;
    CHECK_FAILS(attune_session_memory_bytes(model.get(), &options, &bytes), ATTUNE_LIMIT_EXCEEDED, "multiply to more than 2^40");
  }
}

/// Tests that a loop of the caller with attune_sample chooses the same ids as attune_generate.
static void testSampler(const attune::Model &model) {
  for (int64_t sampled = 0; sampled < 2; ++sampled) {
    attune::GenerationOptions options(model);
    options->do_sample = sampled;
    options->seed = 11;
    options->temperature = 1.5;
    options->top_k = 8;
    options->top_p = 0.9;
    options->max_length = 12;
    options->eos_token_ids = nullptr, options->num_eos_token_ids = 0;
    Ids prompts = {3, 4, 5, 6}, row(1), slots = {0, 1};
    attune::Session session(model, {{"batch", 2}, {"length", 2}, {"past", 12}}, 1);
    attune::Generation expected = attune::generate(session, options, {view("input_ids", prompts, {2, 2})});
    attune::Sampler sampler(options);
    session.truncateSlot(0, 0), session.truncateSlot(1, 0);
    std::vector<attune::Array> outputs = session.run("prefill", {view("input_ids", prompts, {2, 2})});
    for (int64_t step = 0; step < 10; ++step) {
      Ids next;
      for (int64_t i = 0; i < 2; ++i)
        next.push_back(sampler(outputs[0].data<float>() + i * toy::vocabSize, toy::vocabSize, i, step));
      CHECK(next[0] == expected.row(0)[static_cast<size_t>(step + 2)] && next[1] == expected.row(1)[static_cast<size_t>(step + 2)]);
      outputs = session.run("decode", {view("input_ids", next, {2, 1})});
    }
  }
  attune_generation_options options;
  attune_generation_options_init(nullptr, &options);
  const float logits[4] = {NAN, -1, 3, 3};
  const float none[2] = {-INFINITY, NAN};
  int64_t id = -1;
  alignas(8) char scratch[64];
  CHECK(attune_sample_scratch_bytes(0) == 0 && attune_sample_scratch_bytes(-1) == 0 && attune_sample_scratch_bytes(4) <= sizeof(scratch));
  CHECK_OK(attune_sample(nullptr, logits, 4, 0, 0, nullptr, 0, &id));
  CHECK(id == 2);
  options.do_sample = 1;
  options.top_k = 1;
  for (int64_t step = 0, seen[4] = {}; step < 64; ++step) {
    CHECK_OK(attune_sample(&options, logits, 4, 0, step, scratch, sizeof(scratch), &id));
    CHECK((id == 2 || id == 3) && (++seen[id], step < 63 || (seen[2] && seen[3]))); // top_k keeps ties with the best
  }
  CHECK_FAILS(attune_sample(&options, logits, 4, 0, 0, nullptr, 0, &id), ATTUNE_INVALID_ARGUMENT,
              "scratch has 0 bytes, at least 32 expected");
  CHECK_FAILS(attune_sample(&options, logits, 4, 0, 0, scratch, 31, &id), ATTUNE_INVALID_ARGUMENT, "scratch has 31 bytes");
  CHECK_FAILS(attune_sample(&options, logits, 4, 0, 0, scratch + 1, 40, &id), ATTUNE_INVALID_ARGUMENT, "a multiple of 4 expected");
  CHECK_FAILS(attune_sample(&options, none, 2, 0, 0, scratch, sizeof(scratch), &id), ATTUNE_INVALID_ARGUMENT,
              "none of the 2 logits is above -inf");
  CHECK_FAILS(attune_sample(&options, logits, 0, 0, 0, scratch, sizeof(scratch), &id), ATTUNE_INVALID_ARGUMENT, "vocab_size is 0");
  CHECK_FAILS(attune_sample(&options, logits, 4, -1, 0, scratch, sizeof(scratch), &id), ATTUNE_INVALID_ARGUMENT, "row is -1");
  CHECK_FAILS(attune_sample(&options, nullptr, 4, 0, 0, scratch, sizeof(scratch), &id), ATTUNE_INVALID_ARGUMENT, "logits is null");
  CHECK_FAILS(attune_sample(&options, logits, 4, 0, 0, scratch, sizeof(scratch), nullptr), ATTUNE_INVALID_ARGUMENT, "out_id is null");
  options.top_p = 0;
  CHECK_FAILS(attune_sample(&options, logits, 4, 0, 0, scratch, sizeof(scratch), &id), ATTUNE_INVALID_ARGUMENT, "top_p is 0");
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
  options->max_length = 10; // 9 of these ids are read
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
  // The prompt may fill the slot: the one id that is chosen after it is not read.
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
  static const char *const names[] = {"negative", "positive"};
  attune_model_desc classifier = desc;
  classifier.labels = names, classifier.num_labels = 2;
  CHECK(model.labels().empty() && (attune::Model(classifier, weights).labels() == std::vector<std::string>{"negative", "positive"}));
  testAgainstReference(model);
  testRaggedPrompts(model);
  testCallback(model);
  testEncoderDecoder(own);
  testConversations(model);
  testReuse(model);
  testHugeLimits(desc);
  testMisaligned(model);
  testNarrowInputs(model);
  testSampler(model);
  testErrors(model);
  puts("generate: ok");
}
