/* A program outside the tree that uses an installed Attune: runs the model once and prints checksums of its outputs.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "attune/runtime.h"
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

static void must(attune_status status) {
  if (status == ATTUNE_OK)
    return;
  fprintf(stderr, "%s: %s\n", attune_status_name(status), attune_last_error());
  exit(1);
}

int main(int argc, char **argv) {
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = argc > 1 ? argv[1] : NULL;
  attune_model *model;
  must(attune_model_open(&attune_model_model, &options, &model));
  attune_dim_limit limits[] = {{"batch", 1}, {"length", 5}};
  attune_session_options with;
  attune_session_options_init(&with);
  with.limits = limits;
  with.num_limits = 2;
  attune_session *session;
  must(attune_session_create(model, &with, &session));

  int64_t ids[] = {1, 5, 7, 2, 3}, shape[] = {1, 5};
  attune_tensor input = {"input_ids", ATTUNE_I64, 2, shape, ids, sizeof(ids)};
  const attune_entry_desc *entry = attune_model_entry(model, NULL);
  int64_t dims[ATTUNE_MAX_DIMS];
  must(attune_infer_dims(model, NULL, &input, 1, dims));
  attune_tensor outputs[8];
  int64_t shapes[8][ATTUNE_MAX_RANK];
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    attune_tensor output = {entry->outputs[i].name, ATTUNE_F32, entry->outputs[i].rank, shapes[i], NULL, 0};
    must(attune_output_shape(model, NULL, i, dims, shapes[i], &output.bytes));
    output.data = malloc(output.bytes);
    outputs[i] = output;
  }
  must(attune_session_run(session, NULL, &input, 1, outputs, entry->num_outputs));
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    printf("%s %016llx\n", outputs[i].name, (unsigned long long)attune_checksum(outputs[i].data, outputs[i].bytes));
    free(outputs[i].data);
  }
  attune_session_destroy(session);
  attune_model_close(model);
  return 0;
}
