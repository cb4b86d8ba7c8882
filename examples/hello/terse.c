/*===- terse.c - Run a compiled BERT from C: the short form -----------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * terse [LENGTH [THREADS [REPEAT]]]: explained.c gives the reason for each line.
 *===-----------------------------------------------------------------------===*/
#include "attune/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern const attune_model_desc attune_model_bert;

static void must(attune_status status) {
  if (status == ATTUNE_OK)
    return;
  fprintf(stderr, "hello: error: %s\n", attune_last_error());
  exit(1);
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  int64_t length = argc > 1 ? atoll(argv[1]) : 128, threads = argc > 2 ? atoll(argv[2]) : 0, repeat = argc > 3 ? atoll(argv[3]) : 10;

  attune_model *model;
  must(attune_model_open(&attune_model_bert, NULL, &model));

  attune_dim_limit limits[] = {{"batch", 1}, {"length", length}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 2;
  options.num_threads = threads;
  attune_session *session;
  must(attune_session_create(model, &options, &session));

  const attune_entry_desc *entry = attune_model_entry(model, "forward");
  int64_t *ids = malloc(length * sizeof *ids), shape[] = {1, length}, dims[8];
  for (int64_t i = 0; i < length; ++i)
    ids[i] = (i * 7919 + 13) % entry->inputs[0].max_value;
  attune_tensor input = {"input_ids", ATTUNE_I64, 2, shape, ids, length * sizeof *ids};
  must(attune_infer_dims(model, "forward", &input, 1, dims));

  attune_tensor outputs[8];
  int64_t shapes[8][ATTUNE_MAX_RANK];
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    const attune_tensor_desc *desc = &entry->outputs[i];
    outputs[i] = (attune_tensor){desc->name, (attune_dtype)desc->dtype, desc->rank, shapes[i], NULL, 0};
    must(attune_output_shape(model, "forward", i, dims, shapes[i], &outputs[i].bytes));
    outputs[i].data = malloc(outputs[i].bytes);
  }

  double best = 1e30;
  for (int64_t i = 0; i < repeat; ++i) {
    double begin = now_ms();
    must(attune_session_run(session, "forward", &input, 1, outputs, entry->num_outputs));
    double ms = now_ms() - begin;
    best = ms < best ? ms : best;
  }

  const float *pooled = outputs[entry->num_outputs - 1].data;
  printf("%s:", outputs[entry->num_outputs - 1].name);
  for (int i = 0; i < 8; ++i)
    printf(" %.6f", pooled[i]);
  printf("\nlatency: %.3f ms, best of %lld, 1 x %lld tokens, %lld threads\n", best, (long long)repeat, (long long)length,
         (long long)attune_session_num_threads(session));

  for (uint32_t i = 0; i < entry->num_outputs; ++i)
    free(outputs[i].data);
  free(ids);
  attune_session_destroy(session);
  attune_model_close(model);
  return 0;
}
