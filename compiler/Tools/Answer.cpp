//===- Answer.cpp - The command answer ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements `answer`: prints the parts of a context that answer a question.
//===----------------------------------------------------------------------===//
#include "compiler/Support/MappedFile.h"
#include "compiler/Tools/TextTask.h"

#include <cstdio>

using namespace attune;

namespace {
struct AnswerOptions {
  TextTaskFlags common;
  std::string question, context, contextFile;
  attune_answer_options call;
  bool allowNone = false, anyTokens = false;
};
} // namespace

static Status answer(const CommandHost &host, const std::string &model, AnswerOptions &options) {
  if (!options.contextFile.empty()) {
    if (!options.context.empty())
      return Status::error("expected --context or --context-file, got both");
    Result<MappedFile> file = MappedFile::open(options.contextFile);
    if (!file)
      return file.status();
    options.context.assign(reinterpret_cast<const char *>(file->data()), file->size());
  }
  for (auto [text, flag] : {std::pair(&options.question, "--question=T"), std::pair(&options.context, "--context=T or --context-file=F")})
    if (text->empty())
      return Status::error(std::string("expected ") + flag + " with a text, got none");
  Result<TextTask> task = TextTask::open(host, model, "forward");
  if (!task)
    return task.status();
  options.call.allow_none = options.allowNone;
  options.call.align_to_words = !options.anyTokens;
  options.call.max_length = options.common.maxLength;
  if (Status status = task->begin(ATTUNE_TASK_ANSWER, options.common, 8, options.question.size() + options.context.size()); status.failed())
    return status;
  if (options.call.max_length > attune_task_max_length(task->get()))
    options.call.max_length = attune_task_max_length(task->get());
  const attune_answer *answers;
  size_t count;
  if (attune_answer_question(task->get(), options.question.data(), options.question.size(), options.context.data(), options.context.size(),
                             &options.call, &answers, &count) != ATTUNE_OK)
    return taskError();
  for (size_t i = 0; i < count; ++i) {
    std::string text = options.context.substr(answers[i].begin_byte, answers[i].end_byte - answers[i].begin_byte);
    if (options.common.json) {
      printJsonLine({{"score", toJson(answers[i].score)}, {"start", answers[i].begin}, {"end", answers[i].end}, {"answer", text}});
      continue;
    }
    std::string line = formatFloat(answers[i].score) + "\t" + std::to_string(answers[i].begin) + "\t" + std::to_string(answers[i].end) +
                       "\t" + text + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  return {};
}

int attune::runAnswerCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  AnswerOptions options;
  attune_answer_options_init(&options.call);
  FlagTable flags;
  flags.addString("question", "T", options.question, "the question");
  flags.addString("context", "T", options.context, "the text that has the answer");
  flags.addString("context-file", "F", options.contextFile, "a file with that text");
  flags.addInteger("top-k", "N", options.call.top_k, 1, 1024, "most answers (1)");
  flags.addInteger("max-answer-length", "N", options.call.max_answer, 1, 1 << 20, "most tokens of an answer (15)");
  flags.addInteger("stride", "N", options.call.stride, 1, 1 << 20, "tokens that windows of a long context share (128)");
  flags.addSwitch("allow-none", options.allowNone, "the empty answer competes, too");
  flags.addSwitch("any-tokens", options.anyTokens, "answers need not be whole words");
  options.common.addTo(flags, host, /*hasFile=*/false);
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "answer " + host.modelHelp + " --question=T --context=T [flags]",
                         "Finds the parts of a text that answer a question best. Long texts are read in windows."))
    return *status;
  Result<std::string> model = takeModel(host, positional);
  if (!model)
    return reportError(host.tool, model.message());
  if (!positional.empty())
    return reportError(host.tool, "expected one model, got '" + *model + "' and '" + positional[0] + "'");
  Status status = answer(host, *model, options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
