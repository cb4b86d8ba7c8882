/*===- explained.c - Run a compiled BERT from C: the long form --------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * explained [LENGTH [THREADS [REPEAT]]]: the same program as terse.c, with the reasons.
 *
 * `attune compile MODEL -o bert.o` wrote three files:
 *   bert.o        code, and one visible symbol: the descriptor attune_model_bert
 *   bert.weights  packed weights, mapped at run time; has to lie beside the program (or be named in attune_model_options)
 *   bert.h        the signature as C declarations (not needed here: this program reads it from the descriptor)
 * The program links bert.o and the runtime library, nothing else: no Python, no LLVM, no parser.
 *===-----------------------------------------------------------------------===*/
#include "attune/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The name is attune_model_ and the stem of the object file, or the argument of --name. bert.h declares it, too. */
extern const attune_model_desc attune_model_bert;

/* Every call that can fail returns a status. attune_last_error gives the reason of the last failure in the calling
   thread; it names the tensor or file at fault. */
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
  int64_t length = argc > 1 ? atoll(argv[1]) : 128;
  int64_t threads = argc > 2 ? atoll(argv[2]) : 0; /* 0: as many as the affinity mask allows */
  int64_t repeat = argc > 3 ? atoll(argv[3]) : 10;

  /* Opening maps the weights read-only and checks that object, weights, runtime and CPU fit together. It does not read the weights: pages
     come in as they are used and are shared with every other process that runs this model. One model serves any number of sessions and
     threads. */
  attune_model *model;
  must(attune_model_open(&attune_model_bert, NULL, &model));

  /* A session owns the memory and the workers of one call at a time. The size of the session follows from the limits of
     the dimensions, which are set here; the compiled code takes any batch, and any length up to the model's limit. */
  attune_dim_limit limits[] = {{"batch", 1}, {"length", length}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 2;
  options.num_threads = threads;
  size_t session_bytes;
  must(attune_session_memory_bytes(model, &options, &session_bytes));
  fprintf(stderr, "session: %zu bytes\n", session_bytes);
  attune_session *session;
  must(attune_session_create(model, &options, &session)); /* the last allocation the runtime makes */

  /* The entry describes the inputs and outputs: names, element types, shapes in terms of the dimensions. */
  const attune_entry_desc *entry = attune_model_entry(model, "forward");

  /* The one required input. attention_mask, token_type_ids and position_ids are optional and have the usual defaults: all visible, type 0,
     positions 0, 1, 2, … A tokenizer would make these ids; here they are arbitrary but valid. */
  int64_t *ids = malloc(length * sizeof *ids), shape[] = {1, length};
  for (int64_t i = 0; i < length; ++i)
    ids[i] = (i * 7919 + 13) % entry->inputs[0].max_value;
  attune_tensor input = {"input_ids", ATTUNE_I64, 2, shape, ids, length * sizeof *ids};

  /* The dimensions of this call follow from the shapes of its inputs, the shapes of the outputs from the dimensions. Outputs are the
     caller's memory. A group of outputs (all hidden states, say) would be one tensor with one more dimension in front. */
  int64_t dims[8];
  must(attune_infer_dims(model, "forward", &input, 1, dims));
  attune_tensor outputs[8];
  int64_t shapes[8][ATTUNE_MAX_RANK];
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    const attune_tensor_desc *desc = &entry->outputs[i];
    outputs[i] = (attune_tensor){desc->name, (attune_dtype)desc->dtype, desc->rank, shapes[i], NULL, 0};
    must(attune_output_shape(model, "forward", i, dims, shapes[i], &outputs[i].bytes));
    outputs[i].data = malloc(outputs[i].bytes);
  }

  /* Runs block and allocate nothing. The first one also brings the weights into memory, so the best of several is the steady state. Results
     are the same bits in every run, whatever the number of threads. */
  double best = 1e30;
  for (int64_t i = 0; i < repeat; ++i) {
    double begin = now_ms();
    must(attune_session_run(session, "forward", &input, 1, outputs, entry->num_outputs));
    double ms = now_ms() - begin;
    best = ms < best ? ms : best;
  }

  /* BertModel's outputs are last_hidden_state [batch, length, hidden] and pooler_output [batch, hidden]. */
  const float *pooled = outputs[entry->num_outputs - 1].data;
  printf("%s:", outputs[entry->num_outputs - 1].name);
  for (int i = 0; i < 8; ++i)
    printf(" %.6f", pooled[i]);
  printf("\nlatency: %.3f ms, best of %lld, 1 x %lld tokens, %lld threads\n", best, (long long)repeat, (long long)length,
         (long long)attune_session_num_threads(session));

  /* The last two calls may come in either order: a closed model stays open until its last session is destroyed. */
  for (uint32_t i = 0; i < entry->num_outputs; ++i)
    free(outputs[i].data);
  free(ids);
  attune_session_destroy(session);
  attune_model_close(model);
  return 0;
}
