/*===- rerank.c - Texts sorted by their relevance to a query --------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * rerank JUDGE.text QUERY < texts: prints the lines of standard input with their scores, the most relevant one first.
 * `attune compile MODEL -o judge.o` wrote the model, a cross-encoder with one label: judge.o is part of this program,
 * judge.weights stays beside the program, and judge.text has the tokenizer.
 *===-----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "attune/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const attune_model_desc attune_model_judge;

/* A line and its score. */
typedef struct candidate {
  char *line;
  float score;
} candidate;

static int report(const char *message) {
  fprintf(stderr, "rerank: error: %s\n", message);
  return 1;
}

static int is_better(const void *a, const void *b) {
  float x = ((const candidate *)a)->score, y = ((const candidate *)b)->score;
  return x < y ? 1 : x > y ? -1 : 0;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: rerank JUDGE.text QUERY < texts\n");
    return 2;
  }
  candidate *candidates = NULL;
  attune_text_input *pairs = NULL;
  size_t count = 0, query_bytes = strlen(argv[2]), longest = 0, space = 0;
  char *line = NULL;
  for (ssize_t bytes; (bytes = getline(&line, &space, stdin)) >= 0; line = NULL, space = 0) {
    bytes -= bytes > 0 && line[bytes - 1] == '\n';
    line[bytes] = 0;
    candidates = realloc(candidates, (count + 1) * sizeof(*candidates));
    pairs = realloc(pairs, (count + 1) * sizeof(*pairs));
    if (!candidates || !pairs)
      return report("no memory");
    candidates[count] = (candidate){line, 0};
    pairs[count++] = (attune_text_input){argv[2], query_bytes, line, (size_t)bytes};
    longest = (size_t)bytes > longest ? (size_t)bytes : longest;
  }

  attune_model *model;
  attune_text *text;
  attune_task *task;
  attune_task_options options;
  attune_task_options_init(&options);
  options.max_text_bytes = query_bytes + longest + 1;
  if (attune_model_open(&attune_model_judge, NULL, &model) != ATTUNE_OK || attune_text_open(argv[1], &text) != ATTUNE_OK ||
      attune_task_create(model, text, ATTUNE_TASK_CLASSIFY_TEXTS, &options, &task) != ATTUNE_OK)
    return report(attune_last_error());
  if (attune_model_num_labels(model) != 1)
    return report("expected a model with one label, a reranker");

  float *scores = malloc((count + 1) * sizeof(float));
  if (!scores)
    return report("no memory");
  if (attune_classify_texts(task, pairs, count, ATTUNE_SCORES_DEFAULT, scores) != ATTUNE_OK)
    return report(attune_last_error());
  for (size_t i = 0; i < count; ++i)
    candidates[i].score = scores[i];
  qsort(candidates, count, sizeof(*candidates), is_better);
  for (size_t i = 0; i < count; ++i)
    printf("%.4f %s\n", candidates[i].score, candidates[i].line);

  attune_task_destroy(task);
  attune_text_close(text);
  attune_model_close(model);
  return 0;
}
