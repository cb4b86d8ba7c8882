//===- Task.cpp - A model with its tokenizer ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/text/tasks/Task.h"
#include "runtime/src/Error.h"
#include "runtime/text/Tokenizer.h"

#include <cstdlib>
#include <cstring>
#include <new>

using namespace attune;
using namespace attune::text;

/// The most tokens of a text if neither the model nor its folder has a limit.
static constexpr int64_t kDefaultLength = 512;
/// The part of the memory for results (spans, answers, candidates and their texts) that does not depend on the options,
/// in bytes.
static constexpr size_t kResultBytes = size_t(1) << 20;
static constexpr int64_t kMostTexts = int64_t(1) << 24, kMostLength = int64_t(1) << 24;

static const char *const kindNames[] = {"embed texts", "classify texts", "classify tokens", "fill masks", "answer questions"};

//===--- Settings ----------------------------------------------------------===//

TaskSettings::TaskSettings(const attune_text *text) {
  header.defaultPrompt = header.padId = kNoId;
  Section section = text ? text->file.find(kSectionTask) : Section();
  if (section.bytes < sizeof(TaskHeader))
    return;
  TaskHeader read;
  memcpy(&read, section.data, sizeof(read));
  if (read.headerBytes < sizeof(read) || read.headerBytes > section.bytes || read.headerBytes % 4)
    return;
  size_t left = section.bytes - read.headerBytes;
  if (read.numPrompts > left / sizeof(TaskPrompt) || read.stringBytes > left - read.numPrompts * sizeof(TaskPrompt))
    return;
  if (read.defaultPrompt != kNoId && read.defaultPrompt >= read.numPrompts)
    return;
  header = read;
  prompts = reinterpret_cast<const TaskPrompt *>(section.data + read.headerBytes);
  strings = reinterpret_cast<const char *>(prompts + read.numPrompts);
}

const char *TaskSettings::stringAt(TaskString place, size_t &bytes) const {
  bool inside = strings && place.offset <= header.stringBytes && place.size <= header.stringBytes - place.offset;
  bytes = inside ? place.size : 0;
  return inside ? strings + place.offset : "";
}

//===--- Shapes ------------------------------------------------------------===//

/// Returns the index of the f32 output of |entry| called |name| with rank |rank|, or kNoId if there is none.
static uint32_t findOutput(const attune_entry_desc &entry, const char *name, uint32_t rank) {
  for (uint32_t i = 0; i < entry.num_outputs; ++i)
    if (strcmp(entry.outputs[i].name, name) == 0 && entry.outputs[i].rank == rank && entry.outputs[i].dtype == ATTUNE_F32)
      return i;
  return kNoId;
}

static bool findShape(const attune_model *model, attune_task_kind kind, TaskShape &shape) {
  shape.entry = kind == ATTUNE_TASK_EMBED ? attune_model_entry(model, "embed") : nullptr;
  bool hasEmbed = shape.entry != nullptr;
  if (!hasEmbed)
    shape.entry = attune_model_entry(model, "forward");
  if (!shape.entry || shape.entry->num_outputs > kMaxOutputs)
    return false;
  const attune_entry_desc &entry = *shape.entry;
  int64_t labels = attune_model_num_labels(model);
  shape.perToken = kind == ATTUNE_TASK_CLASSIFY_TOKENS || kind == ATTUNE_TASK_FILL || (kind == ATTUNE_TASK_EMBED && !hasEmbed);
  shape.outputs[1] = 0;
  switch (kind) {
  case ATTUNE_TASK_EMBED:
    shape.outputs[0] = hasEmbed ? findOutput(entry, "sentence_embedding", 2) : findOutput(entry, "last_hidden_state", 3);
    break;
  case ATTUNE_TASK_CLASSIFY_TEXTS:
    shape.outputs[0] = labels ? findOutput(entry, "logits", 2) : kNoId;
    break;
  case ATTUNE_TASK_CLASSIFY_TOKENS:
    shape.outputs[0] = labels ? findOutput(entry, "logits", 3) : kNoId;
    break;
  case ATTUNE_TASK_FILL:
    // Decoders have logits of this shape, too, but no masks.
    shape.outputs[0] = labels || attune_model_entry(model, "prefill") ? kNoId : findOutput(entry, "logits", 3);
    break;
  case ATTUNE_TASK_ANSWER:
    shape.outputs[0] = findOutput(entry, "start_logits", 2);
    shape.outputs[1] = findOutput(entry, "end_logits", 2);
    shape.features = 1;
    return shape.outputs[0] != kNoId && shape.outputs[1] != kNoId;
  }
  if (shape.outputs[0] == kNoId)
    return false;
  const attune_tensor_desc &output = entry.outputs[shape.outputs[0]];
  shape.features = output.shape[output.rank - 1];
  bool classifies = kind == ATTUNE_TASK_CLASSIFY_TEXTS || kind == ATTUNE_TASK_CLASSIFY_TOKENS;
  return shape.features > 0 && (!classifies || shape.features == labels);
}

attune_status attune_task_find_kind(const attune_model *model, attune_task_kind *outKind) {
  if (!model || !outKind)
    return fail(ATTUNE_INVALID_ARGUMENT, "model or out_kind is null");
  TaskShape shape;
  static constexpr attune_task_kind kinds[] = {ATTUNE_TASK_ANSWER, ATTUNE_TASK_CLASSIFY_TEXTS, ATTUNE_TASK_CLASSIFY_TOKENS,
                                               ATTUNE_TASK_FILL, ATTUNE_TASK_EMBED};
  for (attune_task_kind kind : kinds)
    if (findShape(model, kind, shape)) {
      *outKind = kind;
      return ATTUNE_OK;
    }
  return fail(ATTUNE_INVALID_ARGUMENT, "'%s' has no outputs of a task with texts", attune_model_descriptor(model)->architecture);
}

attune_status attune::text::findTaskShape(const attune_model *model, attune_task_kind kind, TaskShape &shape) {
  if (kind < ATTUNE_TASK_EMBED || kind > ATTUNE_TASK_ANSWER)
    return fail(ATTUNE_INVALID_ARGUMENT, "kind: expected 0 to 4, got %d", kind);
  if (!findShape(model, kind, shape)) {
    attune_task_kind other;
    const char *architecture = attune_model_descriptor(model)->architecture;
    if (attune_task_find_kind(model, &other) != ATTUNE_OK)
      return fail(ATTUNE_INVALID_ARGUMENT, "expected a model that can %s, '%s' cannot", kindNames[kind], architecture);
    return fail(ATTUNE_INVALID_ARGUMENT, "expected a model that can %s, '%s' can %s", kindNames[kind], architecture, kindNames[other]);
  }
  for (uint32_t i = 0; i < shape.entry->num_inputs; ++i) {
    const attune_tensor_desc &input = shape.entry->inputs[i];
    bool isIds = strcmp(input.name, "input_ids") == 0;
    if ((isIds && input.rank != 2) || (!isIds && input.fill == ATTUNE_FILL_REQUIRED && strcmp(input.name, "attention_mask") != 0 &&
                                       strcmp(input.name, "token_type_ids") != 0 && strcmp(input.name, "prompt_length") != 0))
      return fail(ATTUNE_INVALID_ARGUMENT, "expected a model of texts, '%s' needs the input '%s' of rank %u",
                  attune_model_descriptor(model)->architecture, input.name, input.rank);
  }
  return ATTUNE_OK;
}

//===--- Memory ------------------------------------------------------------===//

void attune_task_options_init(attune_task_options *options) {
  if (!options)
    return;
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
  options->max_batch = 32;
  options->max_texts = 1024;
  options->max_text_bytes = size_t(64) << 10;
}

/// Returns the input of |entry| called |name|, or null.
static const attune_tensor_desc *findInput(const attune_entry_desc &entry, const char *name) {
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (strcmp(entry.inputs[i].name, name) == 0)
      return &entry.inputs[i];
  return nullptr;
}

/// Writes the values of the dims of |entry| for |batch| texts of |length| tokens to |dims|. Returns false if |entry|
/// has a dim other than `batch` and `length`.
static bool writeDims(const attune_entry_desc &entry, int64_t batch, int64_t length, int64_t *dims) {
  for (uint32_t i = 0; i < entry.num_dims; ++i) {
    bool isBatch = strcmp(entry.dims[i].name, "batch") == 0;
    if (!isBatch && strcmp(entry.dims[i].name, "length") != 0)
      return false;
    dims[i] = isBatch ? batch : length;
  }
  return true;
}

/// Returns the largest value of the dim |name| of |entry|; 0 if there is no limit or no such dim.
static int64_t limitOf(const attune_entry_desc &entry, const char *name) {
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    if (strcmp(entry.dims[i].name, name) == 0)
      return entry.dims[i].max;
  return 0;
}

/// Sets the shape, the limits and the optional inputs of |task|, whose model, text, kind and settings are set already.
/// Fails with INVALID_ARGUMENT if |options| are out of range or the model does not fit the task.
static attune_status decideLimits(attune_task &task, const attune_task_options &options) {
  if (options.max_batch < 1 || options.max_texts < 1 || options.max_batch > kMostTexts || options.max_texts > kMostTexts ||
      options.max_length < 0 || options.max_length > kMostLength)
    return fail(ATTUNE_INVALID_ARGUMENT, "max_batch, max_texts and max_length: expected at least 1, 1 and 0, got %lld, %lld and %lld",
                static_cast<long long>(options.max_batch), static_cast<long long>(options.max_texts),
                static_cast<long long>(options.max_length));
  ATTUNE_TRY(findTaskShape(task.model, task.kind, task.shape));
  const attune_entry_desc &entry = *task.shape.entry;
  int64_t length = task.settings.header.maxLength;
  const int64_t limits[] = {limitOf(entry, "length"), options.max_length};
  for (int64_t limit : limits)
    if (limit && (length == 0 || length > limit))
      length = limit;
  task.maxLength = length ? length : kDefaultLength;
  bool single = task.kind == ATTUNE_TASK_CLASSIFY_TOKENS || task.kind == ATTUNE_TASK_FILL;
  int64_t batchLimit = limitOf(entry, "batch");
  task.maxBatch = single ? 1 : batchLimit && options.max_batch > batchLimit ? batchLimit : options.max_batch;
  task.maxTexts = single ? 1 : options.max_texts < task.maxBatch ? task.maxBatch : options.max_texts;
  task.maxTextBytes = options.max_text_bytes;
  task.hasMask = findInput(entry, "attention_mask") != nullptr;
  task.hasTypes = findInput(entry, "token_type_ids") && (task.text->tables.settings.defaults & kDefaultGiveTypes);
  task.hasPromptLength = findInput(entry, "prompt_length") != nullptr;
  int64_t dims[ATTUNE_MAX_DIMS];
  if (!writeDims(entry, task.maxBatch, task.maxLength, dims))
    return fail(ATTUNE_INVALID_ARGUMENT, "expected an entry with the dimensions batch and length, '%s' of '%s' has others", entry.name,
                attune_model_descriptor(task.model)->architecture);
  return ATTUNE_OK;
}

/// Takes the buffers of |task| from |memory|, whose block is null if it only measures.
static attune_status layOut(attune_task &task, Memory &memory) {
  size_t tokens = size_t(task.maxTexts) * size_t(task.maxLength), batchTokens = size_t(task.maxBatch) * size_t(task.maxLength);
  task.ids = memory.take<int32_t>(tokens);
  task.types = memory.take<int32_t>(tokens);
  task.rows = memory.take<TokenRow>(size_t(task.maxTexts));
  task.batchIds = memory.take<int32_t>(batchTokens).data;
  task.batchTypes = memory.take<int32_t>(batchTokens).data;
  task.batchMask = memory.take<int32_t>(batchTokens).data;
  task.batchPrompts = memory.take<int32_t>(size_t(task.maxBatch)).data;
  task.joined = memory.take<char>(task.maxTextBytes).data;
  const attune_entry_desc &entry = *task.shape.entry;
  int64_t dims[ATTUNE_MAX_DIMS];
  writeDims(entry, task.maxBatch, task.maxLength, dims);
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    size_t bytes = 0;
    ATTUNE_TRY(attune_output_shape(task.model, entry.name, i, dims, nullptr, &bytes));
    task.batchOutputs[i] = memory.take<char>(bytes).data;
  }
  size_t results = kResultBytes + 16 * task.maxTextBytes + 256 * size_t(task.maxLength);
  task.results.open(memory.take<char>(results).data, results);
  return ATTUNE_OK;
}

/// The options of a task's session and tokenizer.
struct PartOptions {
  attune_session_options session;
  attune_dim_limit limits[4];
  attune_tokenizer_options tokenizer;
};

static void makePartOptions(const attune_task &task, const attune_task_options &options, PartOptions &parts) {
  attune_session_options_init(&parts.session);
  parts.limits[0] = {"batch", task.maxBatch};
  parts.limits[1] = {"length", task.maxLength};
  size_t count = 2;
  const attune_model_desc *desc = attune_model_descriptor(task.model);
  // A task does not use the caches of other entries, so it limits the dims that size them to 1.
  static const char *const unused[] = {"past", "source_length"};
  for (const char *name : unused)
    for (uint32_t i = 0; i < desc->num_entries; ++i)
      if (count < 4 && findInput(desc->entries[i], "input_ids")) {
        bool has = false;
        for (uint32_t k = 0; k < desc->entries[i].num_dims; ++k)
          has |= strcmp(desc->entries[i].dims[k].name, name) == 0;
        if (has) {
          parts.limits[count++] = {name, 1};
          break;
        }
      }
  parts.session.limits = parts.limits;
  parts.session.num_limits = count;
  parts.session.num_threads = options.num_threads;
  parts.session.host = options.host;
  attune_tokenizer_options_init(&parts.tokenizer);
  parts.tokenizer.max_call_bytes = task.maxTextBytes;
}

static attune_status checkOptions(attune_model *model, const attune_text *text, const attune_task_options *&options,
                                  attune_task_options &defaults) {
  if (!model || !text)
    return fail(ATTUNE_INVALID_ARGUMENT, model ? "text is null" : "model is null");
  attune_task_options_init(&defaults);
  if (!options)
    options = &defaults;
  if (options->struct_bytes != sizeof(*options))
    return fail(ATTUNE_INVALID_ARGUMENT, "options: expected struct_bytes %zu, got %zu: call attune_task_options_init", sizeof(*options),
                options->struct_bytes);
  return ATTUNE_OK;
}

/// Sets the limits of |task| and measures its buffers; the pointers to them stay invalid. Sets |own| to the bytes of
/// the task's block, a multiple of 64, without session and tokenizer.
static attune_status plan(attune_task &task, const attune_task_options &options, size_t &own) {
  ATTUNE_TRY(decideLimits(task, options));
  Memory memory;
  memory.open(nullptr, SIZE_MAX / 2);
  memory.take<attune_task>(1);
  ATTUNE_TRY(layOut(task, memory));
  own = (memory.mark() + 63) / 64 * 64;
  return ATTUNE_OK;
}

static void beginTask(attune_task &task, attune_model *model, const attune_text *text, attune_task_kind kind) {
  task.model = model;
  task.text = text;
  task.kind = kind;
  task.settings = TaskSettings(text);
}

attune_status attune_task_memory_bytes(attune_model *model, const attune_text *text, attune_task_kind kind,
                                       const attune_task_options *options, size_t *outBytes) {
  if (!outBytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_bytes is null");
  *outBytes = 0;
  attune_task_options defaults;
  ATTUNE_TRY(checkOptions(model, text, options, defaults));
  attune_task task = {};
  beginTask(task, model, text, kind);
  size_t own, session;
  ATTUNE_TRY(plan(task, *options, own));
  PartOptions parts;
  makePartOptions(task, *options, parts);
  ATTUNE_TRY(attune_session_memory_bytes(model, &parts.session, &session));
  size_t tokenizer = attune_tokenizer_memory_bytes(text, &parts.tokenizer);
  if (!tokenizer)
    return fail(ATTUNE_INVALID_ARGUMENT, "'%s' has no tokenizer, or max_text_bytes %zu is too large", text->name, task.maxTextBytes);
  *outBytes = own + (session + 63) / 64 * 64 + (tokenizer + 63) / 64 * 64;
  return ATTUNE_OK;
}

/// Makes the session and the tokenizer of |task|: in |memory|, which has room for both at a multiple of 64, or in
/// memory of their own if |memory| is null.
static attune_status makeParts(attune_task &task, const attune_task_options &options, char *memory) {
  PartOptions parts;
  makePartOptions(task, options, parts);
  if (memory) {
    size_t session;
    ATTUNE_TRY(attune_session_memory_bytes(task.model, &parts.session, &session));
    parts.session.memory = memory;
    parts.session.memory_bytes = session;
    parts.tokenizer.memory = memory + (session + 63) / 64 * 64;
    parts.tokenizer.memory_bytes = attune_tokenizer_memory_bytes(task.text, &parts.tokenizer);
  }
  ATTUNE_TRY(attune_tokenizer_create(task.text, &parts.tokenizer, &task.tokenizer));
  return attune_session_create(task.model, &parts.session, &task.session);
}

attune_status attune_task_create(attune_model *model, const attune_text *text, attune_task_kind kind, const attune_task_options *options,
                                 attune_task **outTask) {
  if (!outTask)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_task is null");
  *outTask = nullptr;
  attune_task_options defaults;
  ATTUNE_TRY(checkOptions(model, text, options, defaults));
  attune_task planned = {};
  beginTask(planned, model, text, kind);
  size_t own;
  ATTUNE_TRY(plan(planned, *options, own));
  void *block = options->memory;
  if (block) {
    size_t needed;
    ATTUNE_TRY(attune_task_memory_bytes(model, text, kind, options, &needed));
    if (reinterpret_cast<uintptr_t>(block) % 64 || options->memory_bytes < needed)
      return fail(ATTUNE_INVALID_ARGUMENT, "memory: expected %zu bytes at a multiple of 64, got %zu", needed, options->memory_bytes);
  } else {
    block = aligned_alloc(64, own);
    if (!block)
      return fail(ATTUNE_OUT_OF_MEMORY, "cannot take %zu bytes for a task", own);
  }
  Memory memory;
  memory.open(block, own);
  attune_task *task = new (memory.take<attune_task>(1).data) attune_task(planned);
  task->block = block;
  task->blockBytes = own;
  task->ownsBlock = !options->memory;
  attune_status status = layOut(*task, memory);
  if (status == ATTUNE_OK)
    status = makeParts(*task, *options, options->memory ? static_cast<char *>(block) + own : nullptr);
  if (status != ATTUNE_OK) {
    attune_task_destroy(task);
    return status;
  }
  *outTask = task;
  return ATTUNE_OK;
}

void attune_task_destroy(attune_task *task) {
  if (!task)
    return;
  attune_session_destroy(task->session);
  attune_tokenizer_destroy(task->tokenizer);
  if (task->ownsBlock)
    free(task->block);
}

attune_session *attune_task_session(attune_task *task) { return task ? task->session : nullptr; }
attune_tokenizer *attune_task_tokenizer(attune_task *task) { return task ? task->tokenizer : nullptr; }
int64_t attune_task_max_length(const attune_task *task) { return task ? task->maxLength : 0; }
int64_t attune_task_num_cut(const attune_task *task) { return task ? task->numCut : 0; }

attune_status attune::text::checkKind(const attune_task *task, attune_task_kind kind) {
  if (!task)
    return fail(ATTUNE_INVALID_ARGUMENT, "task is null");
  if (task->kind != kind)
    return fail(ATTUNE_INVALID_ARGUMENT, "expected a task to %s, got one to %s", kindNames[kind], kindNames[task->kind]);
  return ATTUNE_OK;
}
