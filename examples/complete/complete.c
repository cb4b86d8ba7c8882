/*===- complete.c - A C program with a language model in it -----------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * complete NEW_TOKENS ID…: continues the ids by at most NEW_TOKENS ids, greedily unless the model's settings say
 * otherwise, and prints each new id as soon as it is chosen. A larger program would make the ids from text by a
 * tokenizer, and decode the new ones. `attune compile MODEL -o decoder.o` wrote the model.
 *===-----------------------------------------------------------------------===*/
#include "attune/generate.h"

#include <stdio.h>
#include <stdlib.h>

extern const attune_model_desc attune_model_decoder;

static void must(attune_status status) {
  if (status == ATTUNE_OK)
    return;
  fprintf(stderr, "complete: error: %s\n", attune_last_error());
  exit(1);
}

/* Called for every new token. Returns 0 to continue, or 1, which ends the generation, if standard output cannot be
   written. */
static int print_token(void *user, int64_t row, int64_t token, int64_t length) {
  (void)user, (void)row, (void)length;
  return printf("%lld\n", (long long)token) < 0 || fflush(stdout) != 0;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: complete NEW_TOKENS ID...\n");
    return 1;
  }
  int64_t count = argc - 2, shape[] = {1, count}, *ids = malloc((size_t)count * sizeof *ids);
  for (int64_t i = 0; i < count; ++i)
    ids[i] = atoll(argv[i + 2]);
  attune_tensor input = {"input_ids", ATTUNE_I64, 2, shape, ids, (size_t)count * sizeof *ids};

  /* The model brings its own settings, from generation_config.json and config.json; fields set here override them. */
  attune_model *model;
  must(attune_model_open(&attune_model_decoder, NULL, &model));
  attune_generation_options options;
  attune_generation_options_init(model, &options);
  options.max_new_tokens = atoll(argv[1]);
  options.on_token = print_token;

  /* The session keeps the keys and values of all tokens, so the size of the session depends on the generation. */
  attune_dim_limit limits[ATTUNE_MAX_GENERATION_LIMITS];
  attune_session_options session_options;
  attune_session_options_init(&session_options);
  session_options.limits = limits;
  must(attune_generation_limits(model, &options, &input, 1, limits, &session_options.num_limits));
  attune_session *session;
  must(attune_session_create(model, &session_options, &session));

  attune_generation *generation;
  must(attune_generate(session, &options, &input, 1, &generation));
  fprintf(stderr, "%lld tokens\n", (long long)generation->steps);

  attune_generation_free(generation);
  attune_session_destroy(session);
  attune_model_close(model);
  free(ids);
  return 0;
}
