//===- conversation.cpp - Turns of a conversation in one session ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// conversation THREADS [rounded]: tests that the turns of a conversation in one session give the ids, scores and logits
// of new sessions that read the whole text. Scores and logits have the same bits or, with "rounded", for a GPU, differ
// by at most 1e-4. MODEL is the name of the descriptor.
//===----------------------------------------------------------------------===//
#include "attune/generate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

extern "C" const attune_model_desc MODEL;

using attune::view;
using Ids = std::vector<int64_t>;

static void need(bool condition, const char *what) {
  if (condition)
    return;
  std::printf("FAIL: %s\n", what);
  std::exit(1);
}

static constexpr int64_t rows = 2;
static float tolerance = 0;

static bool areClose(const float *a, const float *b, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!(std::fabs(a[i] - b[i]) <= tolerance))
      return false;
  return true;
}

/// Tests three turns of two conversations, the rows of a batch. The second one is shorter, so the slots of the rows
/// hold different numbers of tokens.
static void converse(const attune::Model &model, attune::GenerationOptions &options, int64_t threads) {
  attune_session_options large;
  attune_session_options_init(&large);
  const attune_dim_limit limits[] = {{"batch", 6}, {"length", 24}, {"past", 32}};
  large.limits = limits, large.num_limits = 3, large.num_threads = threads;
  attune::Session session(model, large);
  options->max_new_tokens = 4;
  options->reuse_cache = 1;
  options->want_step_logits = options->num_beams == 1;
  std::vector<Ids> texts = {{11, 12, 13, 14}, {21, 22}};
  for (int turn = 0; turn < 3; ++turn) {
    int64_t length = static_cast<int64_t>(std::max(texts[0].size(), texts[1].size())), tokens = 0;
    Ids ids, mask;
    for (const Ids &text : texts) {
      size_t padding = static_cast<size_t>(length) - text.size();
      ids.insert(ids.end(), padding, 0), mask.insert(mask.end(), padding, 0);
      ids.insert(ids.end(), text.begin(), text.end()), mask.insert(mask.end(), text.size(), 1);
      tokens += static_cast<int64_t>(text.size());
    }
    std::vector<attune::Tensor> inputs = {view("input_ids", ids, {rows, length}), view("attention_mask", mask, {rows, length})};
    attune::Generation continued = attune::generate(session, options, inputs);
    attune::Session fresh = attune::generationSession(model, options, inputs, threads);
    attune::Generation whole = attune::generate(fresh, options, inputs);
    need(whole->reused_tokens == 0 && (turn > 0) == (continued->reused_tokens > 0), "what is reused");
    // In each row, four tokens are not in the slot yet: the last id of the turn before, which no step has read, and the
    // three ids of this turn.
    if (options->num_beams == 1 && turn > 0)
      need(continued->reused_tokens == tokens - rows * 4, "how much is reused");
    need(continued->rows == rows && continued->length == whole->length && continued->steps == whole->steps, "sizes");
    for (int64_t row = 0; row < rows; ++row) {
      need(continued.row(row) == whole.row(row), "ids");
      need(!whole->scores || areClose(continued->scores + row, whole->scores + row, 1), "scores");
      Ids &text = texts[static_cast<size_t>(row)];
      Ids all = continued.row(row);
      text.insert(text.end(), all.begin() + length, all.end());
      for (int64_t next : {31, 32, 33})
        text.push_back(next + row + turn);
    }
    if (options->want_step_logits)
      need(areClose(continued->step_logits, whole->step_logits, rows * whole->steps * whole->vocab_size), "logits");
  }
  // A call that needs more tokens than the session's limit of past fails, and the slot keeps its tokens.
  Ids longer(24, 1);
  options->max_new_tokens = 32;
  std::vector<attune::Tensor> inputs = {view("input_ids", longer, {1, 24})};
  std::vector<attune_tensor> tensors = attune::generationInputs(inputs);
  int64_t before = session.slotLength(0);
  attune_generation *generation;
  need(before > 0 && attune_generate(session.get(), &options.c(), tensors.data(), 1, &generation) == ATTUNE_LIMIT_EXCEEDED, "full");
  need(session.slotLength(0) == before && !generation, "kept");
}

int main(int argc, char **argv) {
  tolerance = argc > 2 ? 1e-4f : 0;
  int64_t threads = std::atoi(argv[1]);
  attune::Model model(MODEL);
  for (const char *kind : {"greedy", "sampling", "beams"}) {
    attune::GenerationOptions options(model);
    options->eos_token_ids = nullptr, options->num_eos_token_ids = 0;
    options->repetition_penalty = 1.3;
    options->do_sample = std::strcmp(kind, "sampling") == 0;
    options->num_beams = std::strcmp(kind, "beams") == 0 ? 3 : 1;
    options->seed = 5;
    converse(model, options, threads);
    std::printf("ok: %s\n", kind);
  }
  std::puts("ok: full");
}
