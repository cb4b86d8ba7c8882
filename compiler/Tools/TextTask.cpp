//===- TextTask.cpp - A model opened for texts ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/TextTask.h"
#include "compiler/Tools/TextLines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

using namespace attune;

Result<std::vector<std::string>> attune::readLines(const std::string &path) {
  Result<std::string> content = readText(path);
  if (!content)
    return content.status();
  return splitLines(*content);
}

Result<std::vector<std::string>> attune::gatherTexts(const std::vector<std::string> &words, const std::string &file) {
  bool standardInput = words.size() == 1 && words[0] == "-";
  if (!file.empty() && !words.empty())
    return Status::error("expected texts or --file, got both");
  if (!file.empty() || standardInput)
    return readLines(standardInput ? "-" : file);
  if (words.empty())
    return Status::error("expected a text, --file=F, or - for standard input");
  return words;
}

void TextTaskFlags::addTo(FlagTable &flags, const CommandHost &host, bool hasFile) {
  if (hasFile) {
    flags.addString("file", "F", file, "a file of texts, one on each line; - is standard input");
    flags.addInteger("batch-size", "N", batchSize, 1, 65536, "most texts that are computed at once (32)");
  }
  flags.addInteger("max-length", "N", maxLength, 1, 1 << 24, "most tokens of a text (as folder and model say)");
  flags.addSwitch("json", json, "print one JSON object on each line");
  addThreadsFlag(flags, threads);
  if (host.addFlags)
    host.addFlags(flags);
}

Result<TextTask> TextTask::open(const CommandHost &host, const std::string &model, const std::string &entry) {
  ModelRequest request;
  request.entries = {entry};
  request.skipsPadding = true;
  Result<Artifact> artifact = host.openModel(model, request);
  if (!artifact)
    return artifact.status();
  Result<std::shared_ptr<attune_text>> text = artifact->openText();
  if (!text)
    return text.status();
  return TextTask(std::move(*artifact), std::move(*text));
}

Status TextTask::begin(attune_task_kind kind, const TextTaskFlags &flags, size_t count, size_t longest) {
  attune_task_options options;
  attune_task_options_init(&options);
  options.max_batch = std::max<int64_t>(1, std::min<int64_t>(flags.batchSize, int64_t(count)));
  options.max_texts = std::max<int64_t>(1, std::min<int64_t>(options.max_texts, int64_t(count)));
  options.max_text_bytes = std::max(longest, size_t(4096));
  // Allows twelve tokens for each byte, and 64 for special tokens: NFKC makes 33 bytes of the 3 bytes of U+FDFA, and a
  // token may be one byte. A larger limit would only reserve memory that no text can use.
  options.max_length = std::min<int64_t>(flags.maxLength ? flags.maxLength : INT32_MAX, 12 * int64_t(longest) + 64);
  options.num_threads = flags.threads;
  attune_task *created;
  if (attune_task_create(model.model(), tokenizer.get(), kind, &options, &created) != ATTUNE_OK)
    return Status::error(model.label() + ": " + attune_last_error());
  task.reset(created, attune_task_destroy);
  return {};
}

Result<attune_task_kind> TextTask::findKind() const {
  attune_task_kind kind;
  if (attune_task_find_kind(model.model(), &kind) != ATTUNE_OK)
    return Status::error(model.label() + ": " + attune_last_error());
  return kind;
}

void TextTask::reportCut(const CommandHost &host) {
  int64_t count = attune_task_num_cut(task.get());
  if (count == 0 || saidCut)
    return;
  saidCut = true;
  reportWarning(host.tool, std::to_string(count) + (count == 1 ? " text was" : " texts were") + " cut to " +
                               std::to_string(attune_task_max_length(task.get())) + " tokens");
}

void attune::printJsonLine(const nlohmann::ordered_json &object) {
  std::string line = object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
}

std::string attune::formatFloat(float number) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), number);
  return std::string(buffer, end.ptr);
}

nlohmann::ordered_json attune::toJson(float number) {
  if (!std::isfinite(number))
    return nullptr;
  const std::string text = formatFloat(number);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}
