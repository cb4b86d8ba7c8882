//===- Embed.cpp - The command embed --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements `embed`: computes the vectors of texts and prints them or writes them to a file.
//===----------------------------------------------------------------------===//
#include "compiler/Support/InputFiles.h"
#include "compiler/Support/OutputFile.h"
#include "compiler/Support/Strings.h"
#include "compiler/Tools/TextTask.h"

#include <algorithm>
#include <cstdio>

using namespace attune;

namespace {
struct EmbedOptions {
  TextTaskFlags common;
  std::string output;
  std::optional<std::string> promptName, prompt;
  bool normalize = false;
};
} // namespace

/// Returns the header of a .npy file of floats `[rows, columns]`.
static std::string npyHeader(size_t rows, int64_t columns) {
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " + std::to_string(columns) + "), }";
  const size_t fixed = 10;
  dict.append(63 - (fixed + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(dict.size() & 255);
  header += char(dict.size() >> 8);
  return header + dict;
}

static Status writeVectors(const std::string &path, const std::vector<float> &vectors, size_t rows, int64_t columns) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.status();
  const size_t bytes = vectors.size() * sizeof(float);
  if (endsWith(path, ".npy")) {
    std::string header = npyHeader(rows, columns);
    if (Status status = file->write(header.data(), header.size()); status.failed())
      return status;
    if (Status status = file->write(vectors.data(), bytes); status.failed())
      return status;
    return file->commit();
  }
  Result<SafetensorsWriter> writer =
      SafetensorsWriter::create(std::move(*file), path, {{"embeddings", DType::F32, {int64_t(rows), columns}}}, {});
  if (!writer)
    return writer.status();
  if (Status status = writer->write(vectors.data(), bytes); status.failed())
    return status;
  Result<OutputFile> written = writer->release();
  return written ? written->commit() : written.status();
}

static void printVectors(const std::vector<float> &vectors, int64_t columns, bool json) {
  for (size_t begin = 0; begin < vectors.size(); begin += size_t(columns)) {
    std::string line = json ? "{\"embedding\":[" : "";
    for (int64_t i = 0; i < columns; ++i)
      line += (i ? (json ? "," : " ") : "") + formatFloat(vectors[begin + size_t(i)]);
    line += json ? "]}\n" : "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
}

static Status embed(const CommandHost &host, const std::string &model, const std::vector<std::string> &words, const EmbedOptions &options) {
  if (!options.output.empty() && !endsWith(options.output, ".npy") && !endsWith(options.output, ".safetensors"))
    return Status::error("--output: expected a name that ends with .npy or .safetensors, got '" + options.output + "'");
  if (Status status = declareOutput(options.output); status.failed())
    return status;
  if (options.prompt && options.promptName)
    return Status::error("expected --prompt or --prompt-name, got both");
  Result<std::vector<std::string>> texts = gatherTexts(words, options.common.file);
  if (!texts)
    return texts.status();
  Result<TextTask> task = TextTask::open(host, model, "embed");
  if (!task)
    return task.status();
  size_t longest = 0, longestPrompt = options.prompt ? options.prompt->size() : 0;
  std::vector<attune_text_input> inputs;
  for (const std::string &text : *texts) {
    inputs.push_back({text.data(), text.size(), nullptr, 0});
    longest = std::max(longest, text.size());
  }
  size_t bytes;
  const char *unused;
  for (int64_t i = 0; attune_embed_prompt(task->text(), i, nullptr, &unused, &bytes); ++i)
    longestPrompt = std::max(longestPrompt, bytes);
  if (Status status = task->begin(ATTUNE_TASK_EMBED, options.common, inputs.size(), longest + longestPrompt); status.failed())
    return status;
  if (!attune_embed_is_declared(task->text()))
    reportNotice(host.tool,
                 task->artifact().label() + ": embeddings are the mean over tokens; the model is not one of sentence-transformers");
  attune_embed_options call;
  attune_embed_options_init(&call);
  call.prompt = options.prompt ? options.prompt->c_str() : nullptr;
  call.prompt_name = options.promptName ? options.promptName->c_str() : nullptr;
  call.normalize = options.normalize;
  const int64_t columns = attune_embed_size(task->get());
  std::vector<float> vectors(inputs.size() * size_t(columns));
  if (attune_embed_texts(task->get(), inputs.data(), inputs.size(), &call, vectors.data()) != ATTUNE_OK)
    return taskError();
  task->reportCut(host);
  if (!options.output.empty())
    return writeVectors(options.output, vectors, inputs.size(), columns);
  printVectors(vectors, columns, options.common.json);
  return {};
}

int attune::runEmbedCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  EmbedOptions options;
  FlagTable flags;
  flags.addString("output", "F", options.output, "write the vectors to F.npy or F.safetensors instead of the screen");
  flags.addCustom("prompt-name", "N", "the model's prompt to put before each text ('' for none)", [&](const std::string &value) {
    options.promptName = value;
    return Status();
  });
  flags.addCustom("prompt", "T", "a text to put before each text", [&](const std::string &value) {
    options.prompt = value;
    return Status();
  });
  flags.addSwitch("normalize", options.normalize, "give each vector the length 1");
  options.common.addTo(flags, host);
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "embed " + host.modelHelp + " [TEXT...|--file=F|-] [flags]",
                         "Turns texts into vectors, as the folder of a sentence-transformers model says, else by the mean\n"
                         "over tokens."))
    return *status;
  Result<std::string> model = takeModel(host, positional);
  if (!model)
    return reportError(host.tool, model.message());
  Status status = embed(host, *model, positional, options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
