/*===- TasksTest.c - Tasks on texts through the C API ------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * usage: program FOLDER. Tests attune/tasks.h with the models embed.so, classify.so, tokens.so, fill.so and answer.so
 * in FOLDER and their .text files: options, wrong uses, the caller's memory, results that do not depend on batches,
 * calls without an allocation, and damaged settings. The C compiler links the program, which shows that the library
 * needs no C++ library.
 *===-----------------------------------------------------------------------===*/
#include "attune/tasks.h"
#include "Check.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static volatile long allocations;

void *malloc(size_t bytes) {
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_realloc(memory, bytes);
}

static const char *folder;

static const char *pathOf(const char *name, const char *extension) {
  static char path[4096];
  snprintf(path, sizeof(path), "%s/%s.%s", folder, name, extension);
  return path;
}

static attune_model *openModel(const char *name) {
  void *library = dlopen(pathOf(name, "so"), RTLD_NOW);
  CHECK(library);
  attune_model *model;
  CHECK_OK(attune_model_open(dlsym(library, "attune_model"), NULL, &model));
  return model;
}

static attune_text *openText(const char *name) {
  attune_text *text;
  CHECK_OK(attune_text_open(pathOf(name, "text"), &text));
  return text;
}

static attune_text_input makeInput(const char *text) { return (attune_text_input){text, strlen(text), NULL, 0}; }

static const char *const words[] = {"the dog", "a fox", "the quick brown fox jumps over the lazy dog and runs", "", "dog", "the dog"};
enum { count = 6 };

static void testEmbed(attune_model *model, attune_text *text) {
  attune_task_kind kind;
  CHECK_OK(attune_task_find_kind(model, &kind));
  CHECK(kind == ATTUNE_TASK_EMBED);
  attune_task_options options;
  attune_task_options_init(&options);
  options.max_batch = 2;
  options.max_texts = 4;
  options.num_threads = 1;
  attune_task *task;
  CHECK_OK(attune_task_create(model, text, ATTUNE_TASK_EMBED, &options, &task));
  const int64_t features = attune_embed_size(task);
  CHECK(features == 64 && attune_task_max_length(task) == 64 && attune_embed_is_declared(text));
  CHECK(attune_embed_similarity(text) == ATTUNE_SIMILARITY_COSINE);
  size_t bytes, textBytes;
  const char *prompt, *name = attune_embed_prompt(text, 0, &bytes, &prompt, &textBytes);
  CHECK(name && bytes == 8 && memcmp(name, "document", 8) == 0 && textBytes == 10 && memcmp(prompt, "document: ", 10) == 0);
  CHECK(!attune_embed_prompt(text, 2, &bytes, &prompt, &textBytes) && !attune_embed_prompt(text, -1, NULL, NULL, NULL));

  /* The call takes its six texts in groups of at most 4 (max_texts) and batches of at most 2 (max_batch). The results
   * are those of single calls, and no call allocates memory. */
  attune_text_input inputs[count];
  static float vectors[count][64], single[64], prompted[64], joined[64];
  for (int i = 0; i < count; ++i)
    inputs[i] = makeInput(words[i]);
  long before = allocations;
  CHECK_OK(attune_embed_texts(task, inputs, count, NULL, vectors[0]));
  for (int i = 0; i < count; ++i) {
    CHECK_OK(attune_embed_texts(task, &inputs[i], 1, NULL, single));
    CHECK(memcmp(single, vectors[i], sizeof(single)) == 0);
  }
  CHECK(allocations == before && attune_task_num_cut(task) == 0);
  CHECK(memcmp(vectors[0], vectors[5], sizeof(single)) == 0 && memcmp(vectors[0], vectors[1], sizeof(single)) != 0);
  CHECK_OK(attune_embed_texts(task, NULL, 0, NULL, NULL));

  /* A prompt is put before the text. */
  attune_embed_options call;
  attune_embed_options_init(&call);
  call.prompt_name = "query";
  CHECK_OK(attune_embed_texts(task, inputs, 1, &call, prompted));
  attune_text_input whole = makeInput("query: the dog");
  CHECK_OK(attune_embed_texts(task, &whole, 1, NULL, joined));
  CHECK(memcmp(prompted, joined, sizeof(joined)) == 0 && memcmp(prompted, vectors[0], sizeof(joined)) != 0);
  call.prompt = "query: ";
  call.prompt_name = NULL;
  CHECK_OK(attune_embed_texts(task, inputs, 1, &call, prompted));
  CHECK(memcmp(prompted, joined, sizeof(joined)) == 0);
  call.prompt = NULL;
  call.prompt_name = "code";
  CHECK_FAILS(attune_embed_texts(task, inputs, 1, &call, prompted), ATTUNE_INVALID_ARGUMENT,
              "prompt 'code': expected one of the model's prompts, document, query");

  /* The second text of an input is ignored. A null text with a size fails also if a prompt precedes it. */
  attune_text_input pair = {words[0], strlen(words[0]), words[1], strlen(words[1])};
  CHECK_OK(attune_embed_texts(task, &pair, 1, NULL, single));
  CHECK(memcmp(single, vectors[0], sizeof(single)) == 0);
  call.prompt_name = "query";
  attune_text_input null = {NULL, 3, NULL, 0};
  CHECK_FAILS(attune_embed_texts(task, &null, 1, &call, single), ATTUNE_INVALID_ARGUMENT, "text 0: the text is null");
  attune_text_input empty = {NULL, 0, NULL, 0};
  CHECK_OK(attune_embed_texts(task, &empty, 1, &call, single));

  /* Long texts are cut and counted. */
  static char tooLong[1000];
  memset(tooLong, 'a', sizeof(tooLong));
  for (int i = 1; i < 1000; i += 2)
    tooLong[i] = ' ';
  attune_text_input cut = {tooLong, sizeof(tooLong), NULL, 0};
  CHECK_OK(attune_embed_texts(task, &cut, 1, NULL, single));
  CHECK(attune_task_num_cut(task) == 1);

  float x[2] = {3, 4}, y[2] = {4, 3};
  CHECK(fabsf(attune_embed_compare(ATTUNE_SIMILARITY_COSINE, x, y, 2) - 0.96f) < 1e-6f);
  CHECK(attune_embed_compare(ATTUNE_SIMILARITY_DOT, x, y, 2) == 24);
  CHECK(fabsf(attune_embed_compare(ATTUNE_SIMILARITY_EUCLIDEAN, x, y, 2) + sqrtf(2)) < 1e-6f);
  CHECK(attune_embed_compare(ATTUNE_SIMILARITY_MANHATTAN, x, y, 2) == -2);

  /* Wrong uses. */
  attune_text_input broken = {"a\xC3(", 3, NULL, 0};
  attune_text_input two[2] = {inputs[0], broken};
  CHECK_FAILS(attune_embed_texts(task, two, 2, NULL, vectors[0]), ATTUNE_INVALID_ARGUMENT, "text 1: expected UTF-8, got byte 0xC3");
  CHECK_FAILS(attune_embed_texts(NULL, inputs, 1, NULL, single), ATTUNE_INVALID_ARGUMENT, "task is null");
  CHECK_FAILS(attune_embed_texts(task, NULL, 1, NULL, single), ATTUNE_INVALID_ARGUMENT, "texts is null");
  CHECK_FAILS(attune_embed_texts(task, inputs, 1, NULL, NULL), ATTUNE_INVALID_ARGUMENT, "the results are null");
  CHECK_FAILS(attune_classify_texts(task, inputs, 1, ATTUNE_SCORES_DEFAULT, single), ATTUNE_INVALID_ARGUMENT,
              "expected a task to classify texts, got one to embed texts");
  attune_text_input huge = {tooLong, options.max_text_bytes + 1, NULL, 0};
  CHECK_FAILS(attune_embed_texts(task, &huge, 1, NULL, single), ATTUNE_LIMIT_EXCEEDED, "text 0: expected at most 65536 bytes");
  attune_embed_options unset = {0};
  CHECK_FAILS(attune_embed_texts(task, inputs, 1, &unset, single), ATTUNE_INVALID_ARGUMENT, "call attune_embed_options_init");
  attune_task_destroy(task);

  /* The caller's memory. */
  size_t needed;
  CHECK_OK(attune_task_memory_bytes(model, text, ATTUNE_TASK_EMBED, &options, &needed));
  options.memory = aligned_alloc(64, (needed + 63) / 64 * 64);
  options.memory_bytes = needed - 1;
  CHECK(options.memory);
  CHECK_FAILS(attune_task_create(model, text, ATTUNE_TASK_EMBED, &options, &task), ATTUNE_INVALID_ARGUMENT, "at a multiple of 64");
  options.memory_bytes = needed;
  CHECK_OK(attune_task_create(model, text, ATTUNE_TASK_EMBED, &options, &task));
  CHECK_OK(attune_embed_texts(task, inputs, 1, NULL, single));
  CHECK_OK(attune_embed_texts(task, &inputs[5], 1, NULL, joined));
  CHECK(memcmp(single, joined, sizeof(single)) == 0);
  attune_task_destroy(task);
  free(options.memory);
  options.memory = NULL;

  CHECK_FAILS(attune_task_create(model, text, ATTUNE_TASK_FILL, NULL, &task), ATTUNE_INVALID_ARGUMENT,
              "expected a model that can fill masks");
  CHECK(!task);
  CHECK_FAILS(attune_task_create(model, text, (attune_task_kind)9, NULL, &task), ATTUNE_INVALID_ARGUMENT, "kind: expected 0 to 4, got 9");
  CHECK_FAILS(attune_task_create(NULL, text, ATTUNE_TASK_EMBED, NULL, &task), ATTUNE_INVALID_ARGUMENT, "model is null");
  CHECK_FAILS(attune_task_create(model, NULL, ATTUNE_TASK_EMBED, NULL, &task), ATTUNE_INVALID_ARGUMENT, "text is null");
  CHECK_FAILS(attune_task_create(model, text, ATTUNE_TASK_EMBED, NULL, NULL), ATTUNE_INVALID_ARGUMENT, "out_task is null");
  options.max_batch = 0;
  CHECK_FAILS(attune_task_create(model, text, ATTUNE_TASK_EMBED, &options, &task), ATTUNE_INVALID_ARGUMENT, "max_batch");
  attune_task_options none = {0};
  CHECK_FAILS(attune_task_create(model, text, ATTUNE_TASK_EMBED, &none, &task), ATTUNE_INVALID_ARGUMENT, "call attune_task_options_init");
  attune_task_destroy(NULL);
}

static attune_task *createTask(attune_model *model, attune_text *text, attune_task_kind expected) {
  attune_task_kind kind;
  CHECK_OK(attune_task_find_kind(model, &kind));
  CHECK(kind == expected);
  attune_task *task;
  CHECK_OK(attune_task_create(model, text, kind, NULL, &task));
  return task;
}

static void testClassify(attune_model *model, attune_text *text) {
  attune_task *task = createTask(model, text, ATTUNE_TASK_CLASSIFY_TEXTS);
  CHECK(attune_model_num_labels(model) == 2);
  float scores[2][2], logits[2][2];
  attune_text_input pairs[2] = {{"the dog", 7, "a fox", 5}, {"a fox", 5, NULL, 0}};
  long before = allocations;
  CHECK_OK(attune_classify_texts(task, pairs, 2, ATTUNE_SCORES_DEFAULT, scores[0]));
  CHECK_OK(attune_classify_texts(task, pairs, 2, ATTUNE_SCORES_LOGITS, logits[0]));
  CHECK(allocations == before);
  for (int i = 0; i < 2; ++i) {
    CHECK(fabsf(scores[i][0] + scores[i][1] - 1) < 1e-5f);
    CHECK(fabsf(scores[i][0] - 1 / (1 + expf(logits[i][1] - logits[i][0]))) < 1e-5f);
  }
  CHECK_FAILS(attune_classify_texts(task, pairs, 2, (attune_score_function)7, scores[0]), ATTUNE_INVALID_ARGUMENT,
              "function: expected 0 to 3");
  attune_task_destroy(task);
}

static void testTokens(attune_model *model, attune_text *text) {
  attune_task *task = createTask(model, text, ATTUNE_TASK_CLASSIFY_TOKENS);
  attune_text_input input = makeInput("the unaffable dog");
  const attune_span *spans;
  size_t number, tokens;
  long before = allocations;
  CHECK_OK(attune_classify_tokens(task, &input, ATTUNE_AGGREGATE_NONE, 1, &spans, &tokens));
  CHECK(tokens >= 3 && spans[0].begin == 0 && spans[0].index == 1 && spans[0].word_bytes > 0);
  CHECK(spans[tokens - 1].end == 17 && spans[tokens - 1].index == (int64_t)tokens);
  for (attune_aggregation a = ATTUNE_AGGREGATE_SIMPLE; a <= ATTUNE_AGGREGATE_MAX; ++a) {
    CHECK_OK(attune_classify_tokens(task, &input, a, 1, &spans, &number));
    CHECK(number >= 1 && number <= tokens && spans[number - 1].end == 17 && spans[0].index == -1);
  }
  CHECK(allocations == before);
  /* The second text of an input is ignored. */
  input.pair = "a fox";
  input.pair_bytes = 5;
  CHECK_OK(attune_classify_tokens(task, &input, ATTUNE_AGGREGATE_NONE, 1, &spans, &number));
  CHECK(number == tokens && spans[number - 1].end == 17);
  /* The word of an unknown token stays as it is when the caller overwrites the text. */
  char snowman[] = "the \xE2\x98\x83";
  attune_text_input unknown = makeInput(snowman);
  CHECK_OK(attune_classify_tokens(task, &unknown, ATTUNE_AGGREGATE_NONE, 1, &spans, &number));
  memset(snowman, 'x', strlen(snowman));
  CHECK(spans[number - 1].begin == 4 && spans[number - 1].word_bytes == 3 && memcmp(spans[number - 1].word, "\xE2\x98\x83", 3) == 0);
  CHECK_FAILS(attune_classify_tokens(task, &input, (attune_aggregation)5, 1, &spans, &number), ATTUNE_INVALID_ARGUMENT,
              "aggregation: expected 0 to 4");
  CHECK_FAILS(attune_classify_tokens(task, NULL, ATTUNE_AGGREGATE_NONE, 1, &spans, &number), ATTUNE_INVALID_ARGUMENT, "text is null");
  CHECK(!spans && number == 0);
  attune_task_destroy(task);
}

static void testFill(attune_model *model, attune_text *text) {
  attune_task *task = createTask(model, text, ATTUNE_TASK_FILL);
  size_t number, bytes;
  const char *mask = attune_fill_mask(text, &bytes);
  CHECK(mask && bytes == 6 && memcmp(mask, "[MASK]", 6) == 0);
  attune_text_input input = makeInput("the [MASK] dog [MASK]");
  const attune_candidate *candidates;
  long before = allocations;
  CHECK_OK(attune_fill_text(task, &input, 3, &candidates, &number));
  CHECK(allocations == before && number == 6);
  for (int i = 0; i < 6; ++i)
    CHECK(candidates[i].mask == i / 3 && candidates[i].score > 0 && (i % 3 == 0 || candidates[i].score <= candidates[i - 1].score));
  attune_text_input none = makeInput("the dog");
  CHECK_FAILS(attune_fill_text(task, &none, 3, &candidates, &number), ATTUNE_INVALID_ARGUMENT,
              "expected a text with the mask '[MASK]', got one without");
  CHECK_FAILS(attune_fill_text(task, &input, 0, &candidates, &number), ATTUNE_INVALID_ARGUMENT, "top_k: expected 1 to 300, got 0");
  attune_text_input pair = input;
  pair.pair = mask, pair.pair_bytes = SIZE_MAX - 4;
  CHECK_FAILS(attune_fill_text(task, &pair, 3, &candidates, &number), ATTUNE_LIMIT_EXCEEDED, "(max_text_bytes)");
  attune_task_destroy(task);
}

static void testAnswer(attune_model *model, attune_text *text) {
  attune_task *task = createTask(model, text, ATTUNE_TASK_ANSWER);
  attune_answer_options options;
  attune_answer_options_init(&options);
  options.top_k = 2;
  const char *context = "th\xC3\xA9 quick fox and the lazy dog";
  const attune_answer *answers;
  size_t number;
  long before = allocations;
  CHECK_OK(attune_answer_question(task, "who?", 4, context, strlen(context), &options, &answers, &number));
  CHECK(allocations == before && number == 2 && answers[0].score >= answers[1].score);
  for (size_t i = 0; i < number; ++i)
    CHECK(answers[i].begin < answers[i].end && answers[i].end_byte - (answers[i].end > 2) == (size_t)answers[i].end &&
          answers[i].end_byte <= strlen(context));
  CHECK_FAILS(attune_answer_question(task, "", 0, context, 3, &options, &answers, &number), ATTUNE_INVALID_ARGUMENT,
              "the question is empty");
  options.top_k = 0;
  CHECK_FAILS(attune_answer_question(task, "a", 1, context, 3, &options, &answers, &number), ATTUNE_INVALID_ARGUMENT,
              "top_k and max_answer");
  attune_task_destroy(task);
}

/* Flips the lowest, then the highest bit of each byte of the section of task settings in turn. Opening the file
 * succeeds, since it does not check sections. Reading the settings must not crash, and for the first 80 bytes, neither
 * must a task. */
static void testDamage(attune_model *model) {
  FILE *file = fopen(pathOf("embed", "text"), "rb");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  size_t bytes = (size_t)ftell(file);
  rewind(file);
  unsigned char *data = aligned_alloc(64, (bytes + 63) / 64 * 64), *table = data + 64, *section = NULL;
  CHECK(fread(data, 1, bytes, file) == bytes);
  fclose(file);
  uint64_t offset, size = 0;
  for (; !section; table += 32)
    if (memcmp(table, "TASK", 4) == 0) {
      memcpy(&offset, table + 8, 8);
      memcpy(&size, table + 16, 8);
      section = data + offset;
    }
  for (uint64_t i = 0; i < size; ++i)
    for (int bit = 0; bit < 8; bit += 7) {
      section[i] ^= (unsigned char)(1 << bit);
      attune_text *text;
      attune_task *task;
      CHECK_OK(attune_text_open_memory(data, bytes, &text));
      for (int64_t p = 0; p < 4; ++p)
        attune_embed_prompt(text, p, NULL, NULL, NULL);
      attune_embed_similarity(text);
      attune_fill_mask(text, NULL);
      if (i < 80 && attune_task_create(model, text, ATTUNE_TASK_EMBED, NULL, &task) == ATTUNE_OK) {
        float vector[64];
        attune_text_input input = makeInput("the dog");
        attune_embed_texts(task, &input, 1, NULL, vector);
        attune_task_destroy(task);
      }
      attune_text_close(text);
      section[i] ^= (unsigned char)(1 << bit);
    }
  free(data);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  folder = argv[1];
  static const char *const names[] = {"embed", "classify", "tokens", "fill", "answer"};
  static void (*const tests[])(attune_model *, attune_text *) = {testEmbed, testClassify, testTokens, testFill, testAnswer};
  for (int i = 0; i < 5; ++i) {
    attune_model *model = openModel(names[i]);
    attune_text *text = openText(names[i]);
    tests[i](model, text);
    if (i == 0)
      testDamage(model);
    attune_text_close(text);
    attune_model_close(model);
  }
  printf("ok\n");
  return 0;
}
