/*===- narrow_ids.c - A compiled model with ids of 32 and of 64 bits --------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===-----------------------------------------------------------------------===*/
#include "bert.h"

#include "attune/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(attune_status status) {
  if (status == ATTUNE_OK)
    return;
  printf("error: %s\n", attune_last_error());
  exit(1);
}

int main(void) {
  attune_model *model;
  attune_session *session;
  must(attune_model_open(&attune_model_bert, NULL, &model));
  attune_dim_limit limits[] = {{"batch", 2}, {"length", 5}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 2;
  must(attune_session_create(model, &options, &session));
  int64_t wide[10] = {5, 9, 1, 33, 7, 8, 2, 60, 11, 4}, shape[2] = {2, 5}, dims[ATTUNE_MAX_DIMS], out_shape[ATTUNE_MAX_RANK];
  int32_t narrow[10], mask[10] = {1, 1, 1, 0, 0, 1, 1, 1, 1, 1};
  int64_t wide_mask[10];
  for (int i = 0; i < 10; ++i)
    narrow[i] = (int32_t)wide[i], wide_mask[i] = mask[i];
  attune_tensor inputs[2][2] = {
      {{"input_ids", ATTUNE_I64, 2, shape, wide, sizeof(wide)}, {"attention_mask", ATTUNE_I64, 2, shape, wide_mask, sizeof(wide_mask)}},
      {{"input_ids", ATTUNE_I32, 2, shape, narrow, sizeof(narrow)}, {"attention_mask", ATTUNE_I32, 2, shape, mask, sizeof(mask)}}};
  float *results[2];
  size_t bytes = 0;
  for (int kind = 0; kind < 2; ++kind) {
    must(attune_infer_dims(model, NULL, inputs[kind], 2, dims));
    must(attune_output_shape(model, NULL, 0, dims, out_shape, &bytes));
    results[kind] = malloc(bytes);
    attune_tensor output = {"last_hidden_state", ATTUNE_F32, 3, out_shape, results[kind], bytes};
    must(attune_session_run(session, NULL, inputs[kind], 2, &output, 1));
  }
  puts(memcmp(results[0], results[1], bytes) == 0 ? "same bits" : "different");
  attune_session_destroy(session);
  attune_model_close(model);
  free(results[0]);
  free(results[1]);
  return 0;
}
