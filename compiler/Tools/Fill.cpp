//===- Fill.cpp - The command fill ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements `fill`: prints the most probable tokens for each mask token of a text.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/TextTask.h"

#include <algorithm>
#include <cstdio>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

static void printCandidates(const attune_candidate *candidates, size_t count, bool json) {
  OrderedJson masks = OrderedJson::array();
  for (size_t i = 0; i < count; ++i) {
    const attune_candidate &candidate = candidates[i];
    std::string word(candidate.word, candidate.word_bytes), sequence(candidate.sequence, candidate.sequence_bytes);
    if (masks.size() <= size_t(candidate.mask))
      masks.push_back(OrderedJson::array());
    masks.back().push_back({{"score", toJson(candidate.score)}, {"token", candidate.token}, {"token_str", word}, {"sequence", sequence}});
    if (!json) {
      std::string line = formatFloat(candidate.score) + "\t" + word + "\t" + sequence + "\n";
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
  }
  if (json)
    printJsonLine({{"masks", masks}});
}

static Status fill(const CommandHost &host, const std::string &model, const std::vector<std::string> &words, const TextTaskFlags &options,
                   int64_t topK) {
  Result<std::vector<std::string>> texts = gatherTexts(words, options.file);
  if (!texts)
    return texts.status();
  Result<TextTask> task = TextTask::open(host, model, "forward");
  if (!task)
    return task.status();
  size_t longest = 0;
  for (const std::string &text : *texts)
    longest = std::max(longest, text.size());
  // The results hold a copy of the text for each candidate. With more than 64 candidates they may exceed the memory,
  // and the call fails.
  if (Status status = task->begin(ATTUNE_TASK_FILL, options, 1, longest * size_t(std::min<int64_t>(topK, 64))); status.failed())
    return status;
  for (size_t i = 0; i < texts->size(); ++i) {
    attune_text_input input = {(*texts)[i].data(), (*texts)[i].size(), nullptr, 0};
    const attune_candidate *candidates;
    size_t count;
    if (attune_fill_text(task->get(), &input, topK, &candidates, &count) != ATTUNE_OK)
      return taskError();
    task->reportCut(host);
    if (i && !options.json)
      std::printf("\n");
    printCandidates(candidates, count, options.json);
  }
  return {};
}

int attune::runFillCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  TextTaskFlags options;
  int64_t topK = 5;
  FlagTable flags;
  flags.addInteger("top-k", "N", topK, 1, 1 << 20, "candidates for each mask (5)");
  options.addTo(flags, host);
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "fill " + host.modelHelp + " [TEXT...|--file=F|-] [flags]",
                         "Finds the best tokens for each mask ([MASK], <mask>) of a text."))
    return *status;
  Result<std::string> model = takeModel(host, positional);
  if (!model)
    return reportError(host.tool, model.message());
  Status status = fill(host, *model, positional, options, topK);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
