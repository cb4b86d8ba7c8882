//===- GenerateText.cpp - Generation from texts ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/GenerateText.h"
#include "attune/text_generation.h"
#include "compiler/Support/Json.h"
#include "compiler/Tools/TextLines.h"
#include "compiler/Tools/TextOutput.h"
#include "compiler/Tools/ToolProcess.h"

#include <chrono>
#include <cstdio>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// The most texts in one batch of an encoder-decoder. A decoder generates from one text at a time.
static constexpr size_t kBatch = 8;

void TextPrompts::addTo(FlagTable &flags) {
  flags.addRepeated("prompt", "T", prompts, "a text to continue, or the source of a translation");
  flags.addString("file", "F", file, "the text is in a file; encoder-decoders: each line is one");
  flags.addString("source-lang", "L", sourceLanguage, "translators: the language of the text, as eng_Latn");
  flags.addString("target-lang", "L", targetLanguage, "translators: the language to translate to");
  flags.addSwitch("json", json, "print one JSON object for each result");
  flags.addSwitch("verbose", verbose, "print times and numbers of tokens to stderr");
}

namespace {

/// One run of the command on texts.
class TextRun {
public:
  TextRun(const CommandHost &host, const Artifact &artifact, const TextPrompts &prompts, GenerationFlags &flags, int64_t threads)
      : host(host), artifact(artifact), prompts(prompts), flags(flags), threads(threads) {}

  Status open();
  Status run();

private:
  Status readTexts();
  Status generate(size_t begin, size_t end);
  Status print(const attune_text_generation *generation, size_t begin, size_t end);
  int onPiece(std::string_view piece);

  const CommandHost &host;
  const Artifact &artifact;
  const TextPrompts &prompts;
  GenerationFlags &flags;
  int64_t threads;
  std::shared_ptr<attune_text> text;
  attune_generation_options options{};
  std::vector<std::string> texts;
  bool hasEncoder = false, streams = false, stopped = false;
  TextOutput output;
  InterruptScope interruption;
  // For --verbose: the times of the start and of the first text, and numbers of tokens.
  Clock::time_point start, first;
  int64_t promptTokens = 0, newTokens = 0;
};

} // namespace

Status TextRun::readTexts() {
  if (prompts.readsInput + !prompts.file.empty() + !prompts.prompts.empty() > 1)
    return Status::error("expected one of --prompt, --file and -, got more");
  texts = prompts.prompts;
  if (!texts.empty())
    return {};
  Result<std::string> content = readText(prompts.readsInput ? "-" : prompts.file);
  if (!content)
    return content.status();
  if (!hasEncoder) {
    // The line break at the end of a file is no part of its text.
    dropLineBreak(*content);
    texts.push_back(std::move(*content));
    return {};
  }
  texts = splitLines(*content);
  return {};
}

Status TextRun::open() {
  hasEncoder = attune_model_entry(artifact.model(), "encode") != nullptr;
  if (!attune_model_entry(artifact.model(), "prefill"))
    return Status::error(artifact.label() + ": expected a model that generates text, got " + artifact.desc().architecture);
  Result<std::shared_ptr<attune_text>> opened = artifact.openText();
  if (!opened)
    return opened.status();
  text = std::move(*opened);
  options = flags.optionsFor(artifact);
  return readTexts();
}

int TextRun::onPiece(std::string_view piece) {
  if (newTokens == 0 && first == Clock::time_point())
    first = Clock::now();
  if (streams && !output.write(piece))
    stopped = true;
  return stopped || interruption.isInterrupted() ? ATTUNE_TOKEN_END_ALL : ATTUNE_TOKEN_GO_ON;
}

/// Prints the results of the texts |begin| to |end| - 1. |generation| is null if these texts are empty lines, whose
/// results are empty, too.
Status TextRun::print(const attune_text_generation *generation, size_t begin, size_t end) {
  size_t perText = static_cast<size_t>(options.num_return_sequences);
  for (size_t i = 0; i < (end - begin) * perText; ++i) {
    const attune_generated_text *result = generation ? &generation->texts[i] : nullptr;
    std::string_view written = result ? std::string_view(result->text, result->bytes) : std::string_view();
    if (prompts.json) {
      OrderedJson object = {{"input", begin + i / perText}, {"text", written}, {"ids", OrderedJson::array()}};
      if (result) {
        object["ids"] = std::vector<int64_t>(result->ids, result->ids + result->num_ids);
        object["finish"] = attune_finish_name(result->finish);
        if (options.num_beams > 1)
          object["score"] = result->score;
      }
      output.write(object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
      continue;
    }
    if (!streams)
      output.write(written);
    output.write("\n");
  }
  return {};
}

/// Generates from the texts |begin| to |end| - 1 in one batch, and prints the results.
Status TextRun::generate(size_t begin, size_t end) {
  // The translation of an empty line is an empty line.
  if (hasEncoder && texts[begin].empty())
    return print(nullptr, begin, end);
  attune_text_generation_options call;
  attune_text_generation_options_init(&call);
  attune_generation_options own = options;
  own.seed += begin;
  own.user = this;
  own.on_token = [](void *self, int64_t, int64_t, int64_t) {
    return static_cast<TextRun *>(self)->interruption.isInterrupted() ? int(ATTUNE_TOKEN_END_ALL) : int(ATTUNE_TOKEN_GO_ON);
  };
  call.generation = &own;
  call.new_tokens = flags.limitsLength(options) ? 0 : 256;
  call.source_language = prompts.sourceLanguage.empty() ? nullptr : prompts.sourceLanguage.c_str();
  call.target_language = prompts.targetLanguage.empty() ? nullptr : prompts.targetLanguage.c_str();
  call.num_threads = threads;
  call.user = this;
  call.on_text = [](void *self, int64_t, const char *piece, size_t bytes) { return static_cast<TextRun *>(self)->onPiece({piece, bytes}); };
  streams = !prompts.json && end - begin == 1 && options.num_return_sequences == 1 && options.num_beams == 1;
  std::vector<attune_text_input> inputs;
  for (size_t i = begin; i < end; ++i)
    inputs.push_back({texts[i].data(), texts[i].size(), nullptr, 0});
  attune_text_generation *generation = nullptr;
  if (attune_generate_texts(artifact.model(), text.get(), &call, inputs.data(), inputs.size(), &generation) != ATTUNE_OK)
    return Status::error(artifact.label() + ": " + attune_last_error());
  std::unique_ptr<attune_text_generation, void (*)(attune_text_generation *)> owned(generation, attune_text_generation_free);
  promptTokens += generation->prompt_tokens;
  for (size_t i = 0; i < generation->num_texts; ++i)
    newTokens += generation->texts[i].num_ids;
  return print(generation, begin, end);
}

Status TextRun::run() {
  start = Clock::now();
  for (size_t begin = 0; begin < texts.size() && !stopped && !interruption.isInterrupted();) {
    // The noise of sampling depends on the seed, to which generate adds |begin|, and on a row's number in its batch.
    // With sampling each line is a batch of its own, so its result does not depend on how the lines before it form
    // batches.
    size_t end = begin + 1;
    while (hasEncoder && !options.do_sample && !texts[begin].empty() && end < texts.size() && end - begin < kBatch && !texts[end].empty())
      ++end;
    if (Status status = generate(begin, end); status.failed())
      return status;
    begin = end;
  }
  if (interruption.isInterrupted()) {
    std::fflush(stdout);
    endByInterruption();
  }
  if (prompts.verbose) {
    double total = std::chrono::duration<double>(Clock::now() - start).count();
    double before = first == Clock::time_point() ? total : std::chrono::duration<double>(first - start).count();
    std::fprintf(stderr, "%s: %lld tokens of the prompts, %lld new ones, first text after %.3f s, %.1f tokens/s\n", host.tool.c_str(),
                 static_cast<long long>(promptTokens), static_cast<long long>(newTokens), before,
                 total > 0 ? static_cast<double>(newTokens) / total : 0.0);
  }
  return {};
}

Status attune::generateFromPrompts(const CommandHost &host, const Artifact &artifact, const TextPrompts &prompts,
                                   GenerationFlags &generation, int64_t threads) {
  TextRun run(host, artifact, prompts, generation, threads);
  Status status = run.open();
  return status.failed() ? status : run.run();
}
