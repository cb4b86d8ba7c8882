/*===- CApi.c - Invalid calls of the C interface -------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * capi FOLDER: writes the weights of the fake model (FakeModel.h) to FOLDER and makes each bad call. Prints a line for
 * each call: a description, the name of the status and the message, separated by tabs. Exits with 1 at the first call
 * that succeeds, or that writes to the output `hidden`.
 *===-----------------------------------------------------------------------===*/
#include "FakeModel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static attune_session *session;
static fake_call call;

static void row(const char *what, attune_status status) {
  printf("%s\t%s\t%s\n", what, attune_status_name(status), attune_last_error());
  if (status == ATTUNE_OK)
    exit(1);
}

/* Makes a call of forward that must fail, with one input and |count| outputs. Exits with 1 if the call succeeds or
 * changes the bytes of call.hidden, which fake_call_init has set to 0xff. */
static void refused(const char *what, attune_tensor input, const attune_tensor *outputs, size_t count) {
  row(what, attune_session_run(session, "forward", &input, 1, outputs, count));
  for (int64_t i = 0; i < call.batch * call.length * 4; ++i)
    if (memcmp(&call.hidden[i], "\xff\xff\xff\xff", 4) != 0)
      exit(1);
}

static void inputs(void) {
  int64_t zero_batch[] = {0, 3}, zero_length[] = {2, 0}, negative[] = {-2, 3}, too_long[] = {1, 17}, huge[] = {INT64_MAX, INT64_MAX},
          least[] = {INT64_MIN, 3};
  const attune_tensor good = call.inputs[0];
  attune_tensor in = good;
#define REFUSED(what, change)                                                                                                              \
  do {                                                                                                                                     \
    in = good;                                                                                                                             \
    change;                                                                                                                                \
    refused(what, in, call.outputs, 2);                                                                                                    \
  } while (0)
  REFUSED("input data is null", in.data = NULL);
  REFUSED("input data is misaligned", in.data = (char *)in.data + 4);
  REFUSED("input memory too small", in.bytes -= 1);
  REFUSED("input without a name", in.name = NULL);
  REFUSED("input without a shape", in.shape = NULL);
  REFUSED("input of another dtype", in.dtype = ATTUNE_F32);
  REFUSED("input of no dtype", in.dtype = (attune_dtype)99);
  REFUSED("input of rank 0", in.rank = 0);
  REFUSED("batch of 0", in.shape = zero_batch);
  REFUSED("length of 0", in.shape = zero_length);
  REFUSED("negative batch", in.shape = negative);
  REFUSED("least integer for a batch", in.shape = least);
  REFUSED("length beyond the limit", in.shape = too_long);
  REFUSED("sizes whose product wraps", in.shape = huge);
  call.ids[1] = 100;
  REFUSED("id out of the vocabulary", (void)0);
  call.ids[1] = INT64_MIN;
  REFUSED("least integer for an id", (void)0);
  call.ids[1] = 1;
}

/* Calls with valid ids and an attention mask that has an invalid element. */
static void masks(void) {
  int64_t mask[] = {1, 1, 1, 1, 2, 1};
  attune_tensor in[2] = {call.inputs[0], call.inputs[0]};
  in[1].name = "attention_mask";
  in[1].data = mask;
  row("mask above one", attune_session_run(session, "forward", in, 2, call.outputs, 2));
  mask[4] = -1;
  row("negative mask", attune_session_run(session, "forward", in, 2, call.outputs, 2));
}

static void outputs(void) {
  const attune_tensor in = call.inputs[0], hidden = call.outputs[0];
  int64_t wrong[] = {2, 4, 4};
  attune_tensor out[2] = {call.outputs[0], call.outputs[1]};
  refused("output missing", in, out, 1);
  refused("array of outputs is null", in, NULL, 2);
  out[0].data = NULL;
  refused("output data is null", in, out, 2);
  out[0] = hidden;
  out[0].data = (char *)hidden.data + 2;
  refused("output data is misaligned", in, out, 2);
  out[0] = hidden;
  out[0].bytes -= 1;
  refused("output memory too small", in, out, 2);
  out[0] = hidden;
  out[0].shape = wrong;
  refused("output of another shape", in, out, 2);
  out[0] = hidden;
  out[1].data = hidden.data;
  refused("outputs that overlap", in, out, 2);
  out[1].data = call.ids;
  refused("output that overlaps an input", in, out, 2);
}

static void handles(const char *folder) {
  attune_model *model = NULL;
  attune_session *none = NULL;
  attune_model_options model_options;
  attune_model_options_init(&model_options);
  char path[4096];
  snprintf(path, sizeof(path), "%s/fake.weights", folder);
  model_options.weights_path = path;
  row("descriptor is null", attune_model_open(NULL, NULL, &model));
  row("out_model is null", attune_model_open(&attune_model_fake, NULL, NULL));
  attune_model_options zeros = {0};
  row("options without init", attune_model_open(&attune_model_fake, &zeros, &model));
  attune_model_desc desc = attune_model_fake;
  desc.magic = 7;
  row("not a descriptor", attune_model_open(&desc, &model_options, &model));
  desc = attune_model_fake;
  desc.abi_version = 1;
  row("model of another ABI version", attune_model_open(&desc, &model_options, &model));
  desc = attune_model_fake;
  desc.cpu = "future";
  desc.cpu_features = "nonesuch";
  row("model for another CPU", attune_model_open(&desc, &model_options, &model));
  /* A negative size -i - 1 in a descriptor stands for dimension i of the entry. INT64_MIN has the largest i, which no
   * entry has. */
  desc = attune_model_fake;
  attune_entry_desc entry = desc.entries[0];
  attune_tensor_desc tensor = entry.inputs[0];
  int64_t least[] = {INT64_MIN, 1};
  tensor.shape = least;
  entry.inputs = &tensor;
  entry.num_inputs = 1;
  desc.entries = &entry;
  desc.num_entries = 1;
  row("descriptor with a shape that is damaged", attune_model_open(&desc, &model_options, &model));

  row("model is null", attune_session_create(NULL, NULL, &none));
  if (attune_model_open(&attune_model_fake, &model_options, &model) != ATTUNE_OK)
    exit(1);
  row("out_session is null", attune_session_create(model, NULL, NULL));
  attune_dim_limit unknown[] = {{"width", 5}}, zero[] = {{"batch", 0}}, over[] = {{"length", 17}}, huge[] = {{"batch", INT64_MAX}};
  static _Alignas(64) char memory[64];
  attune_session_options options;
#define LIMITED(what, list)                                                                                                                \
  do {                                                                                                                                     \
    attune_session_options_init(&options);                                                                                                 \
    options.limits = list;                                                                                                                 \
    options.num_limits = 1;                                                                                                                \
    row(what, attune_session_create(model, &options, &none));                                                                              \
  } while (0)
  LIMITED("limit of an unknown dimension", unknown);
  LIMITED("limit of 0", zero);
  LIMITED("limit beyond the model's", over);
  LIMITED("limit that wants all memory", huge);
  attune_session_options_init(&options);
  options.num_threads = -1;
  row("negative number of threads", attune_session_create(model, &options, &none));
  attune_session_options_init(&options);
  options.memory = memory + 8;
  options.memory_bytes = sizeof(memory) - 8;
  row("session memory is misaligned", attune_session_create(model, &options, &none));
  options.memory = memory;
  options.memory_bytes = sizeof(memory);
  row("session memory too small", attune_session_create(model, &options, &none));
  row("session is null", attune_session_run(NULL, NULL, NULL, 0, NULL, 0));
  row("unknown entry", attune_session_run(session, "encode", call.inputs, 1, call.outputs, 2));
  row("array of inputs is null", attune_session_run(session, NULL, NULL, 1, call.outputs, 2));
  attune_model_close(model);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  session = fake_session(argv[1], 1);
  fake_call_init(&call, 2, 3);
  inputs();
  masks();
  outputs();
  handles(argv[1]);
  fake_call_free(&call);
  attune_session_destroy(session);
  return 0;
}
