/*===- Worker.c - Times the tokenizer ---------------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * attune-bench-text OUT.text TEXTS THREADS encode|offsets|decode: the process that `tokenizers` times. TEXTS holds
 * records, the size of a text (u32) and the text. Each thread has a tokenizer and a contiguous share of the texts. Reads
 * commands from standard input, one on each line, and answers each with a line:
 *
 *   go        encodes, or decodes, all texts once: the seconds
 *   open      opens OUT.text, creates a tokenizer and closes both: the seconds
 *   ids FILE  writes the ids of all texts to FILE as records, the number of ids (u32) and the ids (i32), in the mode
 *             `offsets` followed by begin and end of each (i32): the number of all ids
 *===-----------------------------------------------------------------------===*/
#include "attune/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { mostThreads = 64 };
/* The most texts of one call. */
enum { callTexts = 256 };

typedef struct {
  pthread_t thread;
  attune_tokenizer *tokenizer;
  size_t begin, end;
} Worker;

static attune_text_input *texts;
static int32_t **ids;
static int32_t **offsets; /* with the mode offsets */
static size_t *counts;
static size_t numTexts;
static attune_encode_options options;
static int decodes;

static void fail(const char *what) {
  fprintf(stderr, "attune-bench-text: error: %s\n", what);
  exit(1);
}

static void check(attune_status status) {
  if (status != ATTUNE_OK)
    fail(attune_last_error());
}

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory)
    fail("out of memory");
  return memory;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Splits the records of |path|. */
static void readTexts(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0)
    fail("cannot read the texts");
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *data = allocate(size);
  if (fread(data, 1, size, file) != size)
    fail("cannot read the texts");
  fclose(file);
  texts = allocate((size / 4 + 1) * sizeof(*texts));
  for (size_t at = 0; at + 4 <= size; ++numTexts) {
    uint32_t bytes;
    memcpy(&bytes, data + at, 4);
    at += 4;
    if (bytes > size - at)
      fail("a truncated record");
    texts[numTexts] = (attune_text_input){data + at, bytes, NULL, 0};
    at += bytes;
  }
}

/* Encodes the share of a worker; with |keep|, stores the ids. */
static void encodeShare(Worker *worker, int keep) {
  for (size_t at = worker->begin; at < worker->end; at += callTexts) {
    size_t count = worker->end - at < callTexts ? worker->end - at : callTexts, made;
    const attune_encoding *encodings;
    check(attune_tokenizer_encode(worker->tokenizer, texts + at, count, &options, &encodings, &made));
    for (size_t i = 0; keep && i < made; ++i) {
      counts[at + i] = (size_t)encodings[i].length;
      ids[at + i] = allocate(sizeof(int32_t) * counts[at + i]);
      memcpy(ids[at + i], encodings[i].ids, sizeof(int32_t) * counts[at + i]);
      if (!options.want_offsets)
        continue;
      offsets[at + i] = allocate(2 * sizeof(int32_t) * counts[at + i]);
      memcpy(offsets[at + i], encodings[i].offsets, 2 * sizeof(int32_t) * counts[at + i]);
    }
  }
}

static void *runShare(void *argument) {
  Worker *worker = argument;
  if (!decodes) {
    encodeShare(worker, 0);
    return NULL;
  }
  for (size_t i = worker->begin; i < worker->end; ++i) {
    const char *text;
    size_t bytes;
    check(attune_tokenizer_decode(worker->tokenizer, ids[i], counts[i], 1, &text, &bytes));
  }
  return NULL;
}

static double runAll(Worker *workers, int threads) {
  double begin = now();
  for (int i = 1; i < threads; ++i)
    if (pthread_create(&workers[i].thread, NULL, runShare, &workers[i]) != 0)
      fail("cannot start a thread");
  runShare(&workers[0]);
  for (int i = 1; i < threads; ++i)
    pthread_join(workers[i].thread, NULL);
  return now() - begin;
}

/* Divides the texts by bytes. */
static void share(Worker *workers, int threads) {
  size_t total = 0, done = 0, at = 0;
  for (size_t i = 0; i < numTexts; ++i)
    total += texts[i].bytes;
  for (int t = 0; t < threads; ++t) {
    workers[t].begin = at;
    while (at < numTexts && (t == threads - 1 || done < total * (size_t)(t + 1) / (size_t)threads))
      done += texts[at++].bytes;
    workers[t].end = at;
  }
}

static size_t writeIds(const char *path) {
  FILE *file = fopen(path, "wb");
  if (!file)
    fail("cannot write the ids");
  size_t sum = 0;
  for (size_t i = 0; i < numTexts; ++i) {
    uint32_t count = (uint32_t)counts[i];
    fwrite(&count, 4, 1, file);
    fwrite(ids[i], 4, counts[i], file);
    if (options.want_offsets)
      fwrite(offsets[i], 8, counts[i], file);
    sum += counts[i];
  }
  if (fclose(file) != 0)
    fail("cannot write the ids");
  return sum;
}

static void openText(const char *path, size_t callBytes, attune_text **text, attune_tokenizer **tokenizer) {
  attune_tokenizer_options tokenizerOptions;
  attune_tokenizer_options_init(&tokenizerOptions);
  if (callBytes > tokenizerOptions.max_call_bytes)
    tokenizerOptions.max_call_bytes = callBytes;
  if (!*text)
    check(attune_text_open(path, text));
  check(attune_tokenizer_create(*text, &tokenizerOptions, tokenizer));
}

int main(int argc, char **argv) {
  if (argc != 5)
    fail("expected OUT.text TEXTS THREADS encode|offsets|decode");
  int threads = atoi(argv[3]);
  if (threads < 1 || threads > mostThreads)
    fail("expected 1 to 64 threads");
  readTexts(argv[2]);
  counts = allocate(numTexts * sizeof(*counts));
  ids = allocate(numTexts * sizeof(*ids));
  offsets = allocate(numTexts * sizeof(*offsets));
  size_t callBytes = 0;
  for (size_t i = 0; i < numTexts; i += callTexts) {
    size_t bytes = 16;
    for (size_t j = i; j < numTexts && j < i + callTexts; ++j)
      bytes += texts[j].bytes + 16;
    callBytes = bytes > callBytes ? bytes : callBytes;
  }
  Worker workers[mostThreads];
  attune_text *text = NULL;
  for (int i = 0; i < threads; ++i)
    openText(argv[1], callBytes, &text, &workers[i].tokenizer);
  attune_encode_options_init(text, &options);
  options.max_length = -1;
  options.pad_to_longest = 0;
  options.pad_length = 0;
  options.want_offsets = !strcmp(argv[4], "offsets");
  share(workers, threads);
  decodes = !strcmp(argv[4], "decode");
  int haveIds = 0;
  printf("ready\n");
  fflush(stdout);
  for (char line[4096]; fgets(line, sizeof(line), stdin);) {
    line[strcspn(line, "\n")] = 0;
    if ((decodes || !strncmp(line, "ids ", 4)) && !haveIds) {
      for (int i = 0; i < threads; ++i)
        encodeShare(&workers[i], 1);
      haveIds = 1;
    }
    if (!strcmp(line, "go")) {
      printf("%.9f\n", runAll(workers, threads));
    } else if (!strcmp(line, "open")) {
      double begin = now();
      attune_text *opened = NULL;
      attune_tokenizer *tokenizer;
      openText(argv[1], 0, &opened, &tokenizer);
      attune_tokenizer_destroy(tokenizer);
      attune_text_close(opened);
      printf("%.9f\n", now() - begin);
    } else if (!strncmp(line, "ids ", 4)) {
      printf("%zu\n", writeIds(line + 4));
    } else {
      fail("an unknown command");
    }
    fflush(stdout);
  }
  return 0;
}
