//===- Embed.cpp - Embeddings of texts ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/src/Error.h"
#include "runtime/text/tasks/Task.h"

#include <cmath>
#include <cstring>

using namespace attune;
using namespace attune::text;

/// The least Euclidean length by which a vector is divided when it is normalized, as in torch.nn.functional.normalize.
static constexpr double kLeastNorm = 1e-12;

void attune_embed_options_init(attune_embed_options *options) {
  if (!options)
    return;
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
}

int64_t attune_embed_size(const attune_task *task) { return task && task->kind == ATTUNE_TASK_EMBED ? task->shape.features : 0; }

int attune_embed_is_declared(const attune_text *text) { return (TaskSettings(text).header.flags & kTaskSentences) != 0; }

attune_similarity attune_embed_similarity(const attune_text *text) {
  uint32_t number = uint32_t(TaskSettings(text).header.similarity);
  return number <= ATTUNE_SIMILARITY_MANHATTAN ? attune_similarity(number) : ATTUNE_SIMILARITY_COSINE;
}

float attune_embed_compare(attune_similarity similarity, const float *a, const float *b, int64_t features) {
  double dot = 0, squaresA = 0, squaresB = 0, squares = 0, differences = 0;
  for (int64_t i = 0; i < features; ++i) {
    const double x = a[i], y = b[i];
    dot += x * y;
    squaresA += x * x;
    squaresB += y * y;
    squares += (x - y) * (x - y);
    differences += fabs(x - y);
  }
  switch (similarity) {
  case ATTUNE_SIMILARITY_DOT:
    return float(dot);
  case ATTUNE_SIMILARITY_EUCLIDEAN:
    return float(-sqrt(squares));
  case ATTUNE_SIMILARITY_MANHATTAN:
    return float(-differences);
  case ATTUNE_SIMILARITY_COSINE:
    break;
  }
  const double norm = fmax(sqrt(squaresA), kLeastNorm) * fmax(sqrt(squaresB), kLeastNorm);
  return float(dot / norm);
}

const char *attune_embed_prompt(const attune_text *text, int64_t index, size_t *outNameBytes, const char **outText, size_t *outTextBytes) {
  TaskSettings settings(text);
  size_t nameBytes = 0, textBytes = 0;
  const char *name = nullptr, *prompt = nullptr;
  if (index >= 0 && index < int64_t(settings.header.numPrompts)) {
    name = settings.stringAt(settings.prompt(uint32_t(index)).name, nameBytes);
    prompt = settings.stringAt(settings.prompt(uint32_t(index)).text, textBytes);
  }
  if (outNameBytes)
    *outNameBytes = nameBytes;
  if (outText)
    *outText = prompt;
  if (outTextBytes)
    *outTextBytes = textBytes;
  return name;
}

/// Sets |prompt| to the prompt that |options| asks for, else to the default prompt, or to "" if there is none; |bytes|
/// is its length. Fails with INVALID_ARGUMENT for an unknown name.
static attune_status findPrompt(const attune_task &task, const attune_embed_options &options, const char *&prompt, size_t &bytes) {
  const TaskSettings &settings = task.settings;
  prompt = "";
  bytes = 0;
  if (options.prompt) {
    prompt = options.prompt;
    bytes = strlen(prompt);
    return ATTUNE_OK;
  }
  uint32_t number = settings.header.defaultPrompt;
  if (options.prompt_name) {
    if (!*options.prompt_name)
      return ATTUNE_OK;
    char known[256] = "";
    size_t used = 0;
    for (number = 0; number < settings.header.numPrompts; ++number) {
      size_t size;
      const char *name = settings.stringAt(settings.prompt(number).name, size);
      if (size == strlen(options.prompt_name) && memcmp(name, options.prompt_name, size) == 0)
        break;
      if (used + size + 3 < sizeof(known)) {
        if (used) {
          memcpy(known + used, ", ", 2);
          used += 2;
        }
        memcpy(known + used, name, size);
        known[used += size] = 0;
      }
    }
    if (number == settings.header.numPrompts)
      return fail(ATTUNE_INVALID_ARGUMENT, "prompt '%s': expected %s%s", options.prompt_name,
                  used ? "one of the model's prompts, " : "none, the model has no prompts", known);
  }
  if (number != kNoId)
    prompt = settings.stringAt(settings.prompt(number).text, bytes);
  return ATTUNE_OK;
}

/// Sets |count| to the number of tokens of |prompt|, special ones included, except a special one at the end. Sets it to
/// 0 if |prompt| is empty or the model has no input `prompt_length`.
static attune_status countPrompt(attune_task &task, const char *prompt, size_t bytes, int32_t &count) {
  count = 0;
  if (!task.hasPromptLength || !bytes)
    return ATTUNE_OK;
  attune_text_input input = {prompt, bytes, nullptr, 0};
  const attune_encode_options options = cutOptions(task);
  const attune_encoding *encodings;
  size_t number;
  ATTUNE_TRY(attune_tokenizer_encode(task.tokenizer, &input, 1, &options, &encodings, &number));
  int64_t length = encodings[0].length;
  if (length && attune_text_is_special(task.text, encodings[0].ids[length - 1]))
    --length;
  count = int32_t(length);
  return ATTUNE_OK;
}

attune_status attune_embed_texts(attune_task *task, const attune_text_input *texts, size_t numTexts, const attune_embed_options *options,
                                 float *outVectors) {
  ATTUNE_TRY(checkKind(task, ATTUNE_TASK_EMBED));
  CallLock lock;
  ATTUNE_TRY(lock.take(task->running, "task"));
  attune_embed_options defaults;
  attune_embed_options_init(&defaults);
  if (!options)
    options = &defaults;
  if (options->struct_bytes != sizeof(*options))
    return fail(ATTUNE_INVALID_ARGUMENT, "options: expected struct_bytes %zu, got %zu: call attune_embed_options_init", sizeof(*options),
                options->struct_bytes);
  const char *prompt;
  size_t bytes;
  int32_t promptLength;
  ATTUNE_TRY(findPrompt(*task, *options, prompt, bytes));
  if (bytes > task->maxTextBytes)
    return fail(ATTUNE_LIMIT_EXCEEDED, "prompt: expected at most %zu bytes (max_text_bytes), got %zu", task->maxTextBytes, bytes);
  ATTUNE_TRY(countPrompt(*task, prompt, bytes, promptLength));
  ATTUNE_TRY(runTexts(*task, texts, numTexts, prompt, bytes, promptLength, outVectors));
  const int64_t features = task->shape.features;
  for (size_t i = 0; options->normalize && i < numTexts; ++i) {
    float *vector = outVectors + int64_t(i) * features;
    double squares = 0;
    for (int64_t j = 0; j < features; ++j)
      squares += double(vector[j]) * vector[j];
    double norm = sqrt(squares);
    for (int64_t j = 0; j < features; ++j)
      vector[j] = float(vector[j] / (norm > kLeastNorm ? norm : kLeastNorm));
  }
  return ATTUNE_OK;
}
