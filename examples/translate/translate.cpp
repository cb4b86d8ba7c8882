//===- translate.cpp - A C++ program with a translation model in it ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// translate TRANSLATOR.text [BEAMS [BEST [LANGUAGE]]] < FILE: translates a file line by line by a search with BEAMS
// beams (default 4), and prints the BEST (default 1) translations of each line, with their scores if BEAMS is above 1.
// LANGUAGE is the target language of a model that has several. `attune compile MODEL -o translator.o` wrote the model:
// code, weights, tokenizer, and the generation settings of the model folder.
//===----------------------------------------------------------------------===//
#include "attune/text_generation.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>

extern "C" const attune_model_desc attune_model_translator;

/// The number of lines that are translated at once. Without sampling, a translation does not depend on the other
/// lines.
static constexpr size_t kBatch = 16;

static void print(const attune::GeneratedText &result, bool hasScore) {
  if (hasScore)
    std::printf("%.4f: ", result.score);
  std::printf("%s\n", result.text.c_str());
}

/// Translates |lines| and prints the translations. For an empty line, prints as many empty lines as a line with text
/// has translations.
static void translate(const attune::Model &model, const attune::TextFile &text, attune::GenerationOptions &options,
                      const attune::TextSettings &settings, const std::vector<std::string> &lines) {
  std::vector<std::string> sources;
  for (const std::string &line : lines)
    if (!line.empty())
      sources.push_back(line);
  std::vector<attune::GeneratedText> results;
  if (!sources.empty())
    results = attune::generateTexts(model, text, options, sources, settings);
  auto next = results.begin();
  for (const std::string &line : lines)
    for (int64_t i = 0; i < options->num_return_sequences; ++i)
      line.empty() ? print({}, false) : print(*next++, options->num_beams > 1);
  std::fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: translate TRANSLATOR.text [BEAMS [BEST [LANGUAGE]]] < FILE\n");
    return 2;
  }
  auto number = [&](int index, int64_t fallback) { return argc > index ? std::atoll(argv[index]) : fallback; };
  try {
    // Start token, end ids, lengths and penalties are those of the model unless they are set here.
    attune::Model model(attune_model_translator);
    attune::TextFile text(argv[1]);
    attune::GenerationOptions options(model);
    options->num_beams = number(2, 4);
    options->num_return_sequences = number(3, 1);
    attune::TextSettings settings;
    settings.targetLanguage = argc > 4 ? argv[4] : "";
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);) {
      lines.push_back(line);
      if (lines.size() == kBatch) {
        translate(model, text, options, settings, lines);
        lines.clear();
      }
    }
    translate(model, text, options, settings, lines);
  } catch (const attune::Error &error) {
    std::fprintf(stderr, "translate: error: %s\n", error.what());
    return 1;
  }
  return 0;
}
