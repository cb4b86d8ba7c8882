//===- decode.cpp - Sequences that are continued in a session --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// decode THREADS [padded]: tests that prefill, extend and decode give the same bits as one call of forward with all
// tokens of a row, whatever else is in the batch and whichever slot the row has. "padded" is for a model whose
// positions count the padding of a prompt: the padding stays in the slot, hidden by the mask. MODEL is the name of the
// descriptor.
//===----------------------------------------------------------------------===//
#include "attune/runtime.hpp"

#include <cstdio>
#include <cstring>

extern "C" const attune_model_desc MODEL;

using Ids = std::vector<int64_t>;

namespace {
constexpr int64_t rows = 3, longest = 7, sourceLength = 5, padding = 1;

class Test {
public:
  Test(int64_t threads, bool padded) : model(MODEL), session(make(model, rows, 12, threads)), whole(make(model, 1, 1, 1)), padded(padded) {}
  int run();

private:
  static attune::Session make(const attune::Model &model, int64_t batch, int64_t past, int64_t threads) {
    if (attune_model_entry(model.get(), "encode"))
      return attune::Session(model, {{"batch", batch}, {"length", 12}, {"past", past}, {"source_length", sourceLength}}, threads);
    return attune::Session(model, {{"batch", batch}, {"length", 12}, {"past", past}}, threads);
  }
  void encode();
  /// Returns the logits `[length, vocabulary]` of the tokens |ids|, with the encoder states of source |source|, if the
  /// model has an encoder. The mask hides tokens with the padding id.
  std::vector<float> forward(const Ids &ids, int64_t source);
  /// Compares row |row| of the logits |got|, `[rows, count, vocabulary]`, with those that forward gives for the last
  /// |count| tokens of |ids|. Prints |what| and sets |failed| if they differ.
  void expect(const char *what, const attune::Array &got, int64_t row, const Ids &ids, int64_t source, int64_t count = 1);

  attune::Model model;
  attune::Session session, whole;
  std::vector<float> memory; // encoder states [rows, sourceLength, hidden], empty without an encoder
  int64_t hidden = 0, vocabulary = 0;
  bool padded, failed = false;
};
} // namespace

void Test::encode() {
  const attune_entry_desc *entry = attune_model_entry(model.get(), "encode");
  if (!entry)
    return;
  hidden = entry->inputs[0].shape[2];
  for (int64_t i = 0; i < rows * sourceLength * hidden; ++i)
    memory.push_back(float(i * 7919 % 1000) / 500 - 1);
  session.run("encode", {attune::view(entry->inputs[0].name, memory, {rows, sourceLength, hidden})});
}

std::vector<float> Test::forward(const Ids &ids, int64_t source) {
  Ids mask;
  for (int64_t id : ids)
    mask.push_back(id != padding);
  std::vector<attune::Tensor> inputs = {attune::view("input_ids", ids, {1, int64_t(ids.size())}),
                                        attune::view("attention_mask", mask, {1, int64_t(ids.size())})};
  int64_t elements = sourceLength * hidden;
  std::vector<float> own(memory.begin() + (hidden ? source * elements : 0), memory.begin() + (hidden ? (source + 1) * elements : 0));
  if (hidden)
    inputs.push_back(attune::view("encoder_hidden_states", own, {1, sourceLength, hidden}));
  attune::Array logits = std::move(whole.run("forward", inputs)[0]);
  vocabulary = logits.shape()[2];
  return std::vector<float>(logits.data<float>(), logits.data<float>() + int64_t(ids.size()) * vocabulary);
}

void Test::expect(const char *what, const attune::Array &got, int64_t row, const Ids &ids, int64_t source, int64_t count) {
  std::vector<float> all = forward(ids, source);
  const float *expected = all.data() + (int64_t(ids.size()) - count) * vocabulary, *found = got.data<float>() + row * count * vocabulary;
  if (std::memcmp(expected, found, size_t(count * vocabulary) * 4) == 0)
    return;
  failed = true;
  std::printf("%s: row %d differs: %.9g, expected %.9g\n", what, int(row), double(found[0]), double(expected[0]));
}

int Test::run() {
  encode();
  // Prompts of 7, 4 and 1 tokens, padded on the left.
  Ids prompts[rows] = {{5, 9, 2, 31, 4, 8, 7}, {11, 3, 17, 6}, {40}}, ids(rows * longest, padding), mask(rows * longest, 0);
  for (int64_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < prompts[row].size(); ++i) {
      size_t at = size_t((row + 1) * longest) - prompts[row].size() + i;
      ids[at] = prompts[row][i], mask[at] = 1;
    }
  std::vector<attune::Array> first =
      session.run("prefill", {attune::view("input_ids", ids, {rows, longest}), attune::view("attention_mask", mask, {rows, longest})});
  for (int64_t row = 0; padded && row < rows; ++row)
    prompts[row].assign(ids.begin() + row * longest, ids.begin() + (row + 1) * longest);
  for (int64_t row = 0; row < rows; ++row)
    expect("prefill", first[0], row, prompts[row], row);

  // Row 1 has ended; rows 2 and 0 continue in their slots.
  Ids next = {12, 13}, slots = {2, 0};
  std::vector<attune::Array> second = session.run("decode", {attune::view("input_ids", next, {2, 1}), attune::view("slots", slots, {2})});
  prompts[2].push_back(12), prompts[0].push_back(13);
  expect("decode", second[0], 0, prompts[2], 2);
  expect("decode", second[0], 1, prompts[0], 0);

  // Continues one sequence in two ways, as beams do. Slot 1, the copy of slot 0, reads the source of slot 0.
  session.copySlot(0, 1);
  Ids beams = {20, 21};
  std::vector<attune::Array> third = session.run("decode", {attune::view("input_ids", beams, {2, 1})});
  Ids other = prompts[0];
  prompts[0].push_back(20), other.push_back(21);
  expect("beams", third[0], 0, prompts[0], 0);
  expect("beams", third[0], 1, other, 0);

  // Truncates slot 0 to three tokens. Then one call reads two tokens and returns the logits of both.
  session.truncateSlot(0, 3);
  Ids again = {33, 34}, only = {0};
  std::vector<attune::Array> fourth = session.run("extend", {attune::view("input_ids", again, {1, 2}), attune::view("slots", only, {1})});
  prompts[0].resize(3);
  prompts[0].insert(prompts[0].end(), again.begin(), again.end());
  expect("extend", fourth[0], 0, prompts[0], 0, 2);
  if (session.slotLength(0) != 5 || session.slotLength(1) != 9 || session.slotLength(2) != int64_t(prompts[2].size()))
    failed = true;
  return failed;
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3)
    return 2;
  try {
    int status = Test(std::atoll(argv[1]), argc == 3).run();
    std::printf(status ? "failed\n" : "same bits\n");
    return status;
  } catch (const attune::Error &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
