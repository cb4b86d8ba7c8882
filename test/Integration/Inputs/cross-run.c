/*===- cross-run.c - One call of a compiled model, without files to parse ----===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * cross-run WEIGHTS THREADS OUTPUT [NAME f32|i64 AxBxC FILE]…: runs the model `cross` once. Each input is read from a
 * file that has only the elements of the tensor, in row-major order. Writes the elements of all outputs to OUTPUT, one
 * output after the other, and prints the name of each output and its size in bytes. Needs only the runtime and the C
 * library, so that a cross compiler without C++ can build it.
 *===-----------------------------------------------------------------------===*/
#include "attune/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const attune_model_desc attune_model_cross;

enum { MAX_TENSORS = 16 };

static void must(attune_status status) {
  if (status == ATTUNE_OK)
    return;
  fprintf(stderr, "%s: %s\n", attune_status_name(status), attune_last_error());
  exit(1);
}

/* Returns memory for |bytes| bytes at a multiple of 64. Ends the program if there is none. */
static void *allocate(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (!memory)
    exit(2);
  return memory;
}

/* Reads the tensor that four arguments describe: NAME, f32 or i64, sizes, and FILE. |shape| receives the sizes. */
static attune_tensor read_input(char **argument, int64_t *shape) {
  attune_tensor tensor = {argument[0], strcmp(argument[1], "i64") == 0 ? ATTUNE_I64 : ATTUNE_F32, 0, shape, NULL, 0};
  tensor.bytes = attune_dtype_bytes(tensor.dtype);
  for (char *cursor = argument[2]; tensor.rank < ATTUNE_MAX_RANK; ++cursor) {
    tensor.bytes *= (size_t)(shape[tensor.rank++] = strtoll(cursor, &cursor, 10));
    if (*cursor != 'x')
      break;
  }
  tensor.data = allocate(tensor.bytes);
  FILE *file = fopen(argument[3], "rb");
  if (!file || fread(tensor.data, 1, tensor.bytes, file) != tensor.bytes || fclose(file)) {
    perror(argument[3]);
    exit(2);
  }
  return tensor;
}

int main(int argc, char **argv) {
  if (argc < 4 || argc % 4 != 0 || argc / 4 - 1 > MAX_TENSORS)
    return 2;
  attune_tensor inputs[MAX_TENSORS], outputs[MAX_TENSORS];
  int64_t shapes[2][MAX_TENSORS][ATTUNE_MAX_RANK], dims[8];
  size_t num_inputs = (size_t)argc / 4 - 1;
  for (size_t i = 0; i < num_inputs; ++i)
    inputs[i] = read_input(argv + 4 + 4 * i, shapes[0][i]);

  attune_model_options model_options;
  attune_model_options_init(&model_options);
  model_options.weights_path = argv[1];
  model_options.verify_contents = 1;
  attune_model *model;
  must(attune_model_open(&attune_model_cross, &model_options, &model));
  must(attune_infer_dims(model, NULL, inputs, num_inputs, dims));

  const attune_entry_desc *entry = attune_model_entry(model, NULL);
  attune_dim_limit limits[8];
  for (uint32_t i = 0; i < entry->num_dims; ++i)
    limits[i] = (attune_dim_limit){entry->dims[i].name, dims[i]};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = entry->num_dims;
  options.num_threads = atoll(argv[2]);
  attune_session *session;
  must(attune_session_create(model, &options, &session));

  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    const attune_tensor_desc *desc = &entry->outputs[i];
    outputs[i] = (attune_tensor){desc->name, (attune_dtype)desc->dtype, desc->rank, shapes[1][i], NULL, 0};
    must(attune_output_shape(model, NULL, i, dims, shapes[1][i], &outputs[i].bytes));
    outputs[i].data = allocate(outputs[i].bytes);
  }
  must(attune_session_run(session, NULL, inputs, num_inputs, outputs, entry->num_outputs));

  FILE *file = fopen(argv[3], "wb");
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    if (!file || fwrite(outputs[i].data, 1, outputs[i].bytes, file) != outputs[i].bytes)
      return 2;
    printf("%s %zu\n", outputs[i].name, outputs[i].bytes);
  }
  if (fclose(file))
    return 2;
  attune_session_destroy(session);
  attune_model_close(model);
  for (uint32_t i = 0; i < entry->num_outputs; ++i)
    free(outputs[i].data);
  for (size_t i = 0; i < num_inputs; ++i)
    free(inputs[i].data);
  return 0;
}
