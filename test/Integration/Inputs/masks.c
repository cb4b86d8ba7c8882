/*===- masks.c - Values of masks through the C API -----------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * masks WEIGHTS_FOLDER: calls a BERT with integer masks or, compiled with -DFLOATS, with masks of floats. Prints a line
 * for each call, with its title and status. If the call succeeds, the line also says whether all outputs are finite; if
 * it fails, the line has the message, or says that the call has written to its outputs.
 *===-----------------------------------------------------------------------===*/
#include "attune/runtime.h"
#ifdef FLOATS
#include "floats.h"
#define MODEL attune_model_floats
#define MASK ATTUNE_F32
typedef float mask_value;
#else
#include "bert.h"
#define MODEL attune_model_bert
#define MASK ATTUNE_I64
typedef int64_t mask_value;
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 3 };

static attune_model *model;
static attune_session *session;

/* Calls the model with the mask of these three values and prints the outcome. */
static void call(const char *title, mask_value first, mask_value second, mask_value third) {
  int64_t shape[] = {1, LENGTH}, ids[LENGTH] = {5, 6, 7}, dims[16];
  mask_value mask[LENGTH];
  mask[0] = first, mask[1] = second, mask[2] = third;
  const attune_tensor inputs[] = {{"input_ids", ATTUNE_I64, 2, shape, ids, sizeof(ids)},
                                  {"attention_mask", MASK, 2, shape, mask, sizeof(mask)}};
  const attune_entry_desc *entry = attune_model_entry(model, "forward");
  attune_tensor outputs[8];
  int64_t shapes[8][ATTUNE_MAX_RANK];
  attune_status status = attune_infer_dims(model, "forward", inputs, 2, dims);
  for (uint32_t i = 0; i < entry->num_outputs && status == ATTUNE_OK; ++i) {
    size_t bytes;
    status = attune_output_shape(model, "forward", i, dims, shapes[i], &bytes);
    outputs[i] = (attune_tensor){entry->outputs[i].name, (attune_dtype)entry->outputs[i].dtype, entry->outputs[i].rank,
                                 shapes[i], malloc(bytes), bytes};
    memset(outputs[i].data, 0xff, bytes);
  }
  if (status == ATTUNE_OK)
    status = attune_session_run(session, "forward", inputs, 2, outputs, entry->num_outputs);
  int finite = 1, untouched = 1;
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    const float *values = outputs[i].data;
    for (size_t j = 0; j < outputs[i].bytes / sizeof(float); ++j) {
      finite &= isfinite(values[j]) != 0;
      untouched &= memcmp(&values[j], "\xff\xff\xff\xff", 4) == 0;
    }
    free(outputs[i].data);
  }
  printf("%s: %s %s\n", title, attune_status_name(status),
         status == ATTUNE_OK ? (finite ? "finite" : "not finite") : untouched ? attune_last_error() : "outputs were written");
}

int main(int argc, char **argv) {
  attune_model_options options;
  attune_session_options session_options;
  const attune_dim_limit limits[] = {{"batch", 1}, {"length", LENGTH}};
  attune_model_options_init(&options);
  attune_session_options_init(&session_options);
  options.weights_path = argc > 1 ? argv[1] : NULL;
  session_options.limits = limits;
  session_options.num_limits = 2;
  session_options.num_threads = 1;
  if (attune_model_open(&MODEL, &options, &model) != ATTUNE_OK || attune_session_create(model, &session_options, &session) != ATTUNE_OK) {
    fprintf(stderr, "%s\n", attune_last_error());
    return 1;
  }
#ifdef FLOATS
  call("zeros", 0, 0, 0);
  call("hidden", 0, 0, -INFINITY);
  call("all hidden", -INFINITY, -INFINITY, -INFINITY);
  call("added", 1e38f, -1e38f, 0);
  call("infinite", 0, 0, INFINITY);
  call("no number", 0, 0, NAN);
#else
  call("ones", 1, 1, 1);
  call("zero", 1, 1, 0);
  call("zeros", 0, 0, 0);
  call("two", 1, 1, 2);
  call("minus one", 1, -1, 1);
  call("largest", INT64_MAX, 1, 1);
#endif
  attune_session_destroy(session);
  attune_model_close(model);
  return 0;
}
