/*===- search.c - Semantic search over a folder of files ------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * search FINDER.text FOLDER QUERY [BEST]: finds the BEST (default 3) paragraphs of the files in FOLDER whose embeddings
 * are closest to that of QUERY, and prints the score, file and line of each. `attune compile MODEL -o finder.o` wrote
 * the model: finder.o is part of this program, finder.weights stays beside the program, and finder.text has tokenizer
 * and prompts.
 *===-----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "attune/tasks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const attune_model_desc attune_model_finder;

/* A paragraph: its file, the line where it begins, and its similarity to the query. */
typedef struct paragraph {
  const char *file;
  long line;
  float score;
} paragraph;

static paragraph *paragraphs;
static attune_text_input *texts; /* the texts of |paragraphs|, in the same order */
static size_t count, capacity, longest;

static int fail(const char *what, const char *why) {
  fprintf(stderr, "search: error: %s%s%s\n", what, *what ? ": " : "", why);
  exit(1);
}

static void check(attune_status status) {
  if (status != ATTUNE_OK)
    fail("", attune_last_error());
}

static void *grow(void *memory, size_t bytes) {
  memory = realloc(memory, bytes ? bytes : 1);
  return memory ? memory : (fail("", "no memory"), NULL);
}

static char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  char *content = NULL;
  size_t space = 0, got;
  *bytes = 0;
  if (!file)
    fail(path, "cannot be read");
  do {
    content = grow(content, space += 65536);
    *bytes += got = fread(content + *bytes, 1, space - *bytes, file);
  } while (got > 0);
  fclose(file);
  return content;
}

/* Returns 1 if the line that begins at byte |at| of |content| is empty, or if |at| is the end of |content|, which has
   |bytes| bytes. Lines end with "\n" or "\r\n". */
static int is_blank(const char *content, size_t at, size_t bytes) {
  at += at < bytes && content[at] == '\r';
  return at == bytes || content[at] == '\n';
}

/* Appends the paragraphs of the file |name| to |paragraphs| and |texts|. Blank lines separate paragraphs. The texts
   point into |content|. */
static void split(const char *name, const char *content, size_t bytes) {
  long line = 1;
  for (size_t begin = 0, end; begin < bytes; begin = end) {
    for (; begin < bytes && (content[begin] == '\n' || content[begin] == '\r'); ++begin)
      line += content[begin] == '\n';
    for (end = begin; end < bytes && !(content[end] == '\n' && is_blank(content, end + 1, bytes)); ++end) {
    }
    if (end == begin)
      break;
    size_t length = end - begin - (content[end - 1] == '\r');
    if (count == capacity) {
      capacity = 2 * capacity + 64;
      paragraphs = grow(paragraphs, capacity * sizeof(*paragraphs));
      texts = grow(texts, capacity * sizeof(*texts));
    }
    paragraphs[count] = (paragraph){name, line, 0};
    texts[count++] = (attune_text_input){content + begin, length, NULL, 0};
    longest = length > longest ? length : longest;
    for (size_t i = begin; i < end; ++i)
      line += content[i] == '\n';
  }
}

static void read_folder(const char *folder) {
  struct dirent **entries;
  int found = scandir(folder, &entries, NULL, alphasort);
  if (found < 0)
    fail(folder, "expected a folder that can be read");
  for (int i = 0; i < found; ++i) {
    size_t bytes = strlen(folder) + strlen(entries[i]->d_name) + 2;
    char *path = grow(NULL, bytes);
    struct stat info;
    snprintf(path, bytes, "%s/%s", folder, entries[i]->d_name);
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    const char *content = read_file(path, &bytes);
    if (!memchr(content, 0, bytes)) /* a file with a NUL is no text */
      split(path, content, bytes);
  }
}

/* Returns the first of |names|, which ends with NULL, that is the name of a prompt of the model; "" (no prompt) if none
   is. */
static const char *find_prompt(const attune_text *text, const char *const *names) {
  for (; *names; ++names) {
    size_t bytes;
    const char *name;
    for (int64_t i = 0; (name = attune_embed_prompt(text, i, &bytes, NULL, NULL)); ++i)
      if (strlen(*names) == bytes && memcmp(name, *names, bytes) == 0)
        return *names;
  }
  return "";
}

static int is_closer(const void *a, const void *b) {
  float x = ((const paragraph *)a)->score, y = ((const paragraph *)b)->score;
  return x < y ? 1 : x > y ? -1 : 0;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: search FINDER.text FOLDER QUERY [BEST]\n");
    return 2;
  }
  attune_model *model;
  attune_text *text;
  attune_task *task;
  read_folder(argv[2]);
  check(attune_model_open(&attune_model_finder, NULL, &model));
  check(attune_text_open(argv[1], &text));
  attune_task_options options;
  attune_task_options_init(&options);
  attune_text_input query = {argv[3], strlen(argv[3]), NULL, 0};
  /* max_text_bytes counts the prompt, too; 4096 bytes are enough for it. */
  options.max_text_bytes = (longest > query.bytes ? longest : query.bytes) + 4096;
  check(attune_task_create(model, text, ATTUNE_TASK_EMBED, &options, &task));

  const int64_t features = attune_embed_size(task);
  float *vectors = grow(NULL, (count + 1) * (size_t)features * sizeof(float)), *wanted = vectors + count * (size_t)features;
  attune_embed_options call;
  attune_embed_options_init(&call);
  call.prompt_name = find_prompt(text, (const char *const[]){"document", "passage", NULL});
  check(attune_embed_texts(task, texts, count, &call, vectors));
  call.prompt_name = find_prompt(text, (const char *const[]){"query", NULL});
  check(attune_embed_texts(task, &query, 1, &call, wanted));

  const attune_similarity similarity = attune_embed_similarity(text);
  for (size_t i = 0; i < count; ++i)
    paragraphs[i].score = attune_embed_compare(similarity, vectors + i * (size_t)features, wanted, features);
  qsort(paragraphs, count, sizeof(*paragraphs), is_closer);
  const size_t best = argc > 4 ? strtoul(argv[4], NULL, 10) : 3;
  for (size_t i = 0; i < count && i < best; ++i)
    printf("%.4f %s:%ld\n", paragraphs[i].score, paragraphs[i].file, paragraphs[i].line);

  attune_task_destroy(task);
  attune_text_close(text);
  attune_model_close(model);
  return 0;
}
