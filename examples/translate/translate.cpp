//===- translate.cpp - A C++ program with a translation model in it ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// translate [BEAMS [BEST [THREADS]]] < sentences: one sentence per line, as ids; a tokenizer would make them. Prints
// the BEST translations of each, with their scores. `attune compile MODEL -o translator.o` wrote the model: code,
// weights, and the settings of its configuration for generation.
//===----------------------------------------------------------------------===//
#include "attune/generate.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

extern "C" const attune_model_desc attune_model_translator;

/// Reads the ids of each line that has some.
static std::vector<std::vector<int64_t>> readSentences(std::istream &in) {
  std::vector<std::vector<int64_t>> sentences;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<int64_t> ids;
    for (int64_t id; words >> id;)
      ids.push_back(id);
    if (!ids.empty())
      sentences.push_back(ids);
  }
  return sentences;
}

static void translate(const std::vector<std::vector<int64_t>> &sentences, int64_t beams, int64_t best, int64_t threads) {
  // A batch is as long as its longest sentence. The mask is 0 for padding, which is on the right for an encoder.
  size_t rows = sentences.size(), length = 0;
  for (const std::vector<int64_t> &sentence : sentences)
    length = std::max(length, sentence.size());
  std::vector<int64_t> ids(rows * length), mask(rows * length);
  for (size_t row = 0; row < rows; ++row) {
    std::copy(sentences[row].begin(), sentences[row].end(), ids.begin() + static_cast<ptrdiff_t>(row * length));
    std::fill_n(mask.begin() + static_cast<ptrdiff_t>(row * length), sentences[row].size(), 1);
  }
  std::vector<int64_t> shape = {static_cast<int64_t>(rows), static_cast<int64_t>(length)};
  std::vector<attune::Tensor> inputs = {attune::view("input_ids", ids, shape), attune::view("attention_mask", mask, shape)};

  // Start token, end ids, lengths and penalties are those of the model unless they are set here.
  attune::Model model(attune_model_translator);
  attune::GenerationOptions options(model);
  options->num_beams = beams;
  options->num_return_sequences = best;
  attune::Session session = attune::generationSession(model, options, inputs, threads);
  attune::Generation result = attune::generate(session, options, inputs);

  // The results of row r of the input begin at row r * best, best first. The first id of a row is the start token, the
  // last one an end id.
  for (int64_t row = 0; row < result->rows; ++row) {
    if (result->scores)
      std::printf("%.4f:", static_cast<double>(result->scores[row]));
    std::vector<int64_t> target = result.row(row);
    for (size_t i = 1; i < target.size(); ++i) {
      std::printf(" %lld", static_cast<long long>(target[i]));
      const int64_t *ends = options->eos_token_ids;
      if (std::find(ends, ends + options->num_eos_token_ids, target[i]) != ends + options->num_eos_token_ids)
        break;
    }
    std::printf("\n");
  }
}

int main(int argc, char **argv) {
  auto number = [&](int index, int64_t fallback) { return argc > index ? std::atoll(argv[index]) : fallback; };
  try {
    std::vector<std::vector<int64_t>> sentences = readSentences(std::cin);
    if (!sentences.empty())
      translate(sentences, number(1, 4), number(2, 1), number(3, 0));
  } catch (const attune::Error &error) {
    std::fprintf(stderr, "translate: error: %s\n", error.what());
    return 1;
  }
  return 0;
}
