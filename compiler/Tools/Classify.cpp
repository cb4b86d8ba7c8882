//===- Classify.cpp - The command classify --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements `classify`: prints labels of texts, of pairs of texts, or of the tokens of texts.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/TextTask.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

namespace {
struct ClassifyOptions {
  TextTaskFlags common;
  std::vector<std::string> pairs;
  int64_t topK = 5;
  attune_score_function function = ATTUNE_SCORES_DEFAULT;
  attune_aggregation aggregation = ATTUNE_AGGREGATE_NONE;
  bool functionGiven = false, aggregationGiven = false, keepOutside = false;
};
} // namespace

/// Adds a flag that takes one of the words |choices|, which stand for the enumerators 0, 1, …, and sets |given|.
template <typename Enum, size_t count>
static void addEnum(FlagTable &flags, const std::string &name, const char *const (&choices)[count], const std::string &help, Enum &target,
                    bool &given) {
  std::string words;
  for (const char *choice : choices)
    words += (words.empty() ? "" : "|") + std::string(choice);
  flags.addCustom(name, words, help, [&choices, &target, &given, words](const std::string &value) {
    for (size_t i = 0; i < count; ++i)
      if (value == choices[i]) {
        target = Enum(i);
        given = true;
        return Status();
      }
    return Status::error("expected " + words + ", got '" + value + "'");
  });
}

static void printScores(const attune_model *model, const float *scores, const ClassifyOptions &options) {
  const int64_t labels = attune_model_num_labels(model);
  std::vector<int64_t> order(static_cast<size_t>(labels));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  order.resize(size_t(std::min(labels, options.topK)));
  if (options.common.json) {
    OrderedJson list = OrderedJson::array();
    for (int64_t label : order)
      list.push_back({{"label", attune_model_label(model, label)}, {"score", toJson(scores[label])}});
    return printJsonLine({{"labels", list}});
  }
  std::string line;
  for (int64_t label : order)
    line += (line.empty() ? "" : "\t") + std::string(attune_model_label(model, label)) + " " + formatFloat(scores[label]);
  std::printf("%s\n", line.c_str());
}

static Status classifyTexts(TextTask &task, const CommandHost &host, const std::vector<attune_text_input> &inputs,
                            const ClassifyOptions &options) {
  const attune_model *model = task.artifact().model();
  const int64_t labels = attune_model_num_labels(model);
  std::vector<float> scores(inputs.size() * size_t(labels));
  if (attune_classify_texts(task.get(), inputs.data(), inputs.size(), options.function, scores.data()) != ATTUNE_OK)
    return taskError();
  task.reportCut(host);
  for (size_t i = 0; i < inputs.size(); ++i)
    printScores(model, scores.data() + i * size_t(labels), options);
  return {};
}

static void printSpans(const attune_model *model, const attune_span *spans, size_t count, const ClassifyOptions &options) {
  const bool joined = options.aggregation != ATTUNE_AGGREGATE_NONE;
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < count; ++i) {
    const attune_span &span = spans[i];
    std::string label = attune_model_label(model, span.label), word(span.word, span.word_bytes);
    // The label of a span of joined tokens is the part after the first dash: PER for B-PER and I-PER.
    if (size_t dash = label.find('-'); joined && dash != std::string::npos)
      label.erase(0, dash + 1);
    OrderedJson entry = {{joined ? "entity_group" : "entity", label}, {"score", toJson(span.score)}};
    if (!joined)
      entry["index"] = span.index;
    entry.update({{"word", word}, {"start", span.begin}, {"end", span.end}});
    list.push_back(entry);
    if (!options.common.json)
      std::printf("%lld\t%lld\t%s\t%s\t%s\n", static_cast<long long>(span.begin), static_cast<long long>(span.end), label.c_str(),
                  formatFloat(span.score).c_str(), word.c_str());
  }
  if (options.common.json)
    printJsonLine({{"spans", list}});
}

static Status classifyTokens(TextTask &task, const CommandHost &host, const std::vector<attune_text_input> &inputs,
                             const ClassifyOptions &options) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const attune_span *spans;
    size_t count;
    if (attune_classify_tokens(task.get(), &inputs[i], options.aggregation, options.keepOutside, &spans, &count) != ATTUNE_OK)
      return taskError();
    task.reportCut(host);
    if (i && !options.common.json)
      std::printf("\n");
    printSpans(task.artifact().model(), spans, count, options);
  }
  return {};
}

/// Returns one input for each text, or for each pair of texts. With one --pair, its text and each of |texts| make a
/// pair; with two, the two make the only pair, and |texts| must be empty. The inputs borrow |texts| and |pairs|, the
/// values of --pair.
static Result<std::vector<attune_text_input>> makeInputs(const std::vector<std::string> &texts, const std::vector<std::string> &pairs) {
  std::vector<attune_text_input> inputs;
  if (pairs.size() > 2 || (pairs.size() == 2 && !texts.empty()))
    return Status::error("--pair: expected it once beside texts, or twice without, got " + std::to_string(pairs.size()) + " beside " +
                         std::to_string(texts.size()) + " texts");
  if (pairs.size() == 2)
    inputs.push_back({pairs[0].data(), pairs[0].size(), pairs[1].data(), pairs[1].size()});
  for (const std::string &text : texts) {
    if (pairs.empty())
      inputs.push_back({text.data(), text.size(), nullptr, 0});
    else
      inputs.push_back({pairs[0].data(), pairs[0].size(), text.data(), text.size()});
  }
  return inputs;
}

static Status classify(const CommandHost &host, const std::string &model, const std::vector<std::string> &words,
                       const ClassifyOptions &options) {
  std::vector<std::string> texts;
  if (options.pairs.size() != 2 || !words.empty() || !options.common.file.empty()) {
    Result<std::vector<std::string>> gathered = gatherTexts(words, options.common.file);
    if (!gathered)
      return gathered.status();
    texts = std::move(*gathered);
  }
  Result<std::vector<attune_text_input>> inputs = makeInputs(texts, options.pairs);
  if (!inputs)
    return inputs.status();
  Result<TextTask> task = TextTask::open(host, model, "forward");
  if (!task)
    return task.status();
  Result<attune_task_kind> kind = task->findKind();
  if (!kind)
    return kind.status();
  bool tokens = *kind == ATTUNE_TASK_CLASSIFY_TOKENS;
  if (tokens && (!options.pairs.empty() || options.functionGiven))
    return Status::error(std::string(options.functionGiven ? "--function" : "--pair") + ": expected a model of labels for texts, '" +
                         task->artifact().desc().architecture + "' has labels for tokens");
  if (!tokens && options.aggregationGiven)
    return Status::error("--aggregation: expected a model of labels for tokens, got '" + std::string(task->artifact().desc().architecture) +
                         "'");
  size_t longest = 0;
  for (const attune_text_input &input : *inputs)
    longest = std::max(longest, input.bytes + input.pair_bytes);
  if (Status status =
          task->begin(tokens ? ATTUNE_TASK_CLASSIFY_TOKENS : ATTUNE_TASK_CLASSIFY_TEXTS, options.common, inputs->size(), longest);
      status.failed())
    return status;
  return tokens ? classifyTokens(*task, host, *inputs, options) : classifyTexts(*task, host, *inputs, options);
}

int attune::runClassifyCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  static const char *const functions[] = {"default", "softmax", "sigmoid", "none"};
  static const char *const aggregations[] = {"none", "simple", "first", "average", "max"};
  ClassifyOptions options;
  FlagTable flags;
  flags.addRepeated("pair", "T", options.pairs, "once: the first text of each pair, as for rerankers; twice: the texts of one pair");
  flags.addInteger("top-k", "N", options.topK, 1, 1 << 24, "most labels of a text (5)");
  addEnum(flags, "function", functions, "from logits to scores (as the model says)", options.function, options.functionGiven);
  addEnum(flags, "aggregation", aggregations, "how labels of tokens become spans (none)", options.aggregation, options.aggregationGiven);
  flags.addSwitch("keep-outside", options.keepOutside, "print tokens with the label O, too");
  options.common.addTo(flags, host);
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "classify " + host.modelHelp + " [TEXT...|--file=F|-] [--pair=T] [flags]",
                         "Finds the labels of texts or of pairs, or of the tokens of texts, with scores. A reranker has one score."))
    return *status;
  Result<std::string> model = takeModel(host, positional);
  if (!model)
    return reportError(host.tool, model.message());
  Status status = classify(host, *model, positional, options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
