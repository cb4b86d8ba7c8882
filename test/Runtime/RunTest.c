/*===- RunTest.c - Running entries: right results, refused calls --------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Usage: attune-test-run FOLDER (writable)
 *===-----------------------------------------------------------------------===*/

#include "Check.h"
#include "FakeModel.h"

static attune_session *session;
static fake_call call;

static attune_status run(const attune_tensor *inputs, size_t count) {
  return attune_session_run(session, "forward", inputs, count, call.outputs, 2);
}

static void test_good(void) {
  for (int64_t batch = 1; batch <= 8; ++batch)
    for (int64_t length = 1; length <= 16; ++length) {
      fake_call c;
      fake_call_init(&c, batch, length);
      CHECK_OK(attune_session_run(session, NULL, c.inputs, 1, c.outputs, 2));
      fake_call_check(&c);
      fake_call_free(&c);
    }
}

static void test_all_inputs_in_any_order(void) {
  int64_t mask[6] = {1, 0, 1, 1, 1, 0}, types[6] = {0, 1, 0, 1, 0, 1}, positions[6] = {5, 4, 3, 2, 1, 0},
          shape[2] = {2, 3}, four = 4;
  float scale[4] = {1, 2, 4, 8}, offset = 0.25f;
  fake_call_init(&call, 2, 3);
  attune_tensor inputs[6] = {{"offset", ATTUNE_F32, 0, NULL, &offset, 4},
                             {"position_ids", ATTUNE_I64, 2, shape, positions, 48},
                             {"scale", ATTUNE_F32, 1, &four, scale, 16},
                             {"token_type_ids", ATTUNE_I64, 2, shape, types, 48},
                             call.inputs[0],
                             {"attention_mask", ATTUNE_I64, 2, shape, mask, 48}};
  attune_tensor outputs[2] = {call.outputs[1], call.outputs[0]};
  CHECK_OK(attune_session_run(session, "forward", inputs, 6, outputs, 2));
  for (int t = 0; t < 6; ++t)
    for (int j = 0; j < 4; ++j)
      CHECK(call.hidden[t * 4 + j] == (float)(call.ids[t] * mask[t] + 1000 * types[t]) * scale[j] +
                                          (float)positions[t] / 2 * scale[j] + offset + fake_weight(j));
  /* The error about conflicting dimensions names both tensors. */
  int64_t other[2] = {2, 4};
  int64_t longer[8] = {0};
  attune_tensor conflict[2] = {call.inputs[0], {"attention_mask", ATTUNE_I64, 2, other, longer, 64}};
  CHECK_FAILS(run(conflict, 2), ATTUNE_INVALID_ARGUMENT,
              "input 'attention_mask' has shape [2, 4], expected [batch, length]: length is 3 in 'input_ids'");
  attune_tensor twice[2] = {call.inputs[0], call.inputs[0]};
  CHECK_FAILS(run(twice, 2), ATTUNE_INVALID_ARGUMENT, "input 'input_ids' is given twice");
  fake_call_free(&call);
}

/* Evaluates |change|, which changes |in|, a copy of the tensor input_ids. Checks that a run with |in| alone fails with
 * |status| and |text|. */
#define REFUSED(change, status, text)                                                                                  \
  do {                                                                                                                 \
    attune_tensor in = call.inputs[0];                                                                                 \
    change;                                                                                                            \
    CHECK_FAILS(run(&in, 1), status, text);                                                                            \
  } while (0)

static void test_refused_inputs(void) {
  int64_t zero_batch[2] = {0, 3}, negative[2] = {-2, 3}, too_long[2] = {1, 17}, many[2] = {9, 3},
          huge[2] = {INT64_MAX, INT64_MAX};
  int64_t cube[9] = {2, 3, 1, 1, 1, 1, 1, 1, 1};
  fake_call_init(&call, 2, 3);
  REFUSED(in.name = "ids", ATTUNE_INVALID_ARGUMENT,
          "entry 'forward' has no input 'ids', its inputs: input_ids, attention_mask, token_type_ids");
  REFUSED(in.name = NULL, ATTUNE_INVALID_ARGUMENT, "input number 0 has no name");
  REFUSED(in.name = "attention_mask", ATTUNE_INVALID_ARGUMENT,
          "input 'input_ids' is missing, expected i64 [batch, length]");
  REFUSED(in.dtype = ATTUNE_F32, ATTUNE_INVALID_ARGUMENT, "input 'input_ids' has dtype f32, expected i64");
  REFUSED(in.dtype = (attune_dtype)99, ATTUNE_INVALID_ARGUMENT, "has unknown dtype 99, expected i64");
  REFUSED((in.rank = 3, in.shape = cube), ATTUNE_INVALID_ARGUMENT, "has shape [2, 3, 1], expected [batch, length]");
  REFUSED((in.rank = 9, in.shape = cube), ATTUNE_INVALID_ARGUMENT, "has shape [2, 3, 1, 1, 1, 1, 1, 1, …], expected");
  REFUSED(in.rank = 0, ATTUNE_INVALID_ARGUMENT, "has shape [], expected [batch, length]");
  REFUSED(in.shape = NULL, ATTUNE_INVALID_ARGUMENT, "has shape [?, ?], expected [batch, length]");
  REFUSED(in.shape = zero_batch, ATTUNE_INVALID_ARGUMENT, "input 'input_ids' has batch 0, at least 1 expected");
  REFUSED(in.shape = negative, ATTUNE_INVALID_ARGUMENT, "has batch -2, at least 1 expected");
  REFUSED(in.shape = too_long, ATTUNE_LIMIT_EXCEEDED, "length is 17, the limit of the session is 16");
  REFUSED(in.shape = many, ATTUNE_LIMIT_EXCEEDED, "batch is 9, the limit of the session is 8");
  REFUSED(in.shape = huge, ATTUNE_LIMIT_EXCEEDED, "batch is 9223372036854775807");
  REFUSED(in.data = NULL, ATTUNE_INVALID_ARGUMENT, "input 'input_ids' has null data");
  REFUSED(in.data = (char *)in.data + 4, ATTUNE_INVALID_ARGUMENT, "expected a multiple of 8");
  REFUSED(in.bytes = 47, ATTUNE_INVALID_ARGUMENT, "has 47 bytes of data, 48 expected for i64 [2, 3]");
  call.ids[4] = 100;
  REFUSED((void)0, ATTUNE_INVALID_ARGUMENT, "input 'input_ids' is 100 at [1, 1], expected 0 to 99");
  call.ids[4] = -1;
  REFUSED((void)0, ATTUNE_INVALID_ARGUMENT, "input 'input_ids' is -1 at [1, 1], expected 0 to 99");
  call.ids[4] = 99;
  CHECK_OK(run(call.inputs, 1));
  CHECK_FAILS(run(NULL, 1), ATTUNE_INVALID_ARGUMENT, "1 inputs given but their array is null");
  CHECK_FAILS(run(NULL, 0), ATTUNE_INVALID_ARGUMENT, "input 'input_ids' is missing");
  float scale[5] = {0};
  int64_t five = 5;
  attune_tensor two[2] = {call.inputs[0], {"scale", ATTUNE_F32, 1, &five, scale, 20}};
  CHECK_FAILS(run(two, 2), ATTUNE_INVALID_ARGUMENT, "input 'scale' has shape [5], expected [4]");
  fake_call_free(&call);
}

/* Integers of 32 bits give the same results as those of 64 bits and are checked in the same way. A later call with
 * defaults does not see their converted copies. */
static void test_narrow_inputs(void) {
  int64_t shape[2] = {2, 3};
  int32_t ids[6], mask[6] = {1, 0, 1, 1, 1, 0}, positions[6] = {5, 4, 3, 2, 1, 0};
  float expected[24];
  int64_t wide_mask[6], wide_positions[6], total[2];
  fake_call_init(&call, 2, 3);
  for (int i = 0; i < 6; ++i)
    ids[i] = (int32_t)call.ids[i], wide_mask[i] = mask[i], wide_positions[i] = positions[i];
  attune_tensor wide[3] = {
      call.inputs[0], {"attention_mask", ATTUNE_I64, 2, shape, wide_mask, 48}, {"position_ids", ATTUNE_I64, 2, shape, wide_positions, 48}};
  attune_tensor narrow[3] = {{"input_ids", ATTUNE_I32, 2, shape, ids, 24},
                             {"attention_mask", ATTUNE_I32, 2, shape, mask, 24},
                             {"position_ids", ATTUNE_I32, 2, shape, positions, 24}};
  CHECK_OK(run(wide, 3));
  memcpy(expected, call.hidden, sizeof(expected));
  memcpy(total, call.total, sizeof(total));
  memset(call.hidden, 0xff, sizeof(expected));
  CHECK_OK(run(narrow, 3));
  CHECK(memcmp(expected, call.hidden, sizeof(expected)) == 0 && memcmp(total, call.total, sizeof(total)) == 0);
  CHECK_OK(run(call.inputs, 1));
  fake_call_check(&call);
  ids[4] = -1;
  CHECK_FAILS(run(narrow, 1), ATTUNE_INVALID_ARGUMENT, "input 'input_ids' is -1 at [1, 1], expected 0 to 99");
  ids[4] = 4;
  narrow[0].bytes = 23;
  CHECK_FAILS(run(narrow, 1), ATTUNE_INVALID_ARGUMENT, "input 'input_ids' has 23 bytes of data, 24 expected for i32 [2, 3]");
  narrow[0].bytes = 24;
  narrow[0].data = (char *)ids + 2;
  CHECK_FAILS(run(narrow, 1), ATTUNE_INVALID_ARGUMENT, "expected a multiple of 4");
  narrow[0].data = ids;
  int64_t four = 4;
  attune_tensor scale[2] = {narrow[0], {"scale", ATTUNE_I32, 1, &four, mask, 16}};
  CHECK_FAILS(run(scale, 2), ATTUNE_INVALID_ARGUMENT, "input 'scale' has dtype i32, expected f32");
  call.outputs[1].dtype = ATTUNE_I32;
  CHECK_FAILS(run(narrow, 1), ATTUNE_INVALID_ARGUMENT, "output 'total' has dtype i32, expected i64");
  CHECK(attune_dtype_bytes(ATTUNE_I32) == 4 && strcmp(attune_dtype_name(ATTUNE_I32), "i32") == 0);
  /* An array of ATTUNE_MAX_DIMS values has room for the dims of any entry. */
  int64_t dims[ATTUNE_MAX_DIMS];
  CHECK_OK(attune_infer_dims(attune_session_model(session), NULL, narrow, 3, dims));
  CHECK(dims[0] == 2 && dims[1] == 3);
  fake_call_free(&call);
}

static void test_refused_outputs(void) {
  int64_t wrong[3] = {2, 4, 4}, wrong_static[3] = {2, 3, 5};
  fake_call_init(&call, 2, 3);
  attune_tensor hidden = call.outputs[0], ids = call.inputs[0];
  CHECK_FAILS(attune_session_run(session, NULL, &ids, 1, &hidden, 1), ATTUNE_INVALID_ARGUMENT,
              "output 'total' is missing, expected i64 [2]");
  CHECK_FAILS(attune_session_run(session, NULL, &ids, 1, NULL, 2), ATTUNE_INVALID_ARGUMENT,
              "2 outputs given but their array is null");
  call.outputs[0].shape = wrong;
  CHECK_FAILS(run(&ids, 1), ATTUNE_INVALID_ARGUMENT, "output 'hidden' has shape [2, 4, 4], expected [2, 3, 4]");
  call.outputs[0].shape = wrong_static;
  CHECK_FAILS(run(&ids, 1), ATTUNE_INVALID_ARGUMENT,
              "output 'hidden' has shape [2, 3, 5], expected [batch, length, 4]");
  call.outputs[0] = hidden;
  call.outputs[0].bytes = 95;
  CHECK_FAILS(run(&ids, 1), ATTUNE_INVALID_ARGUMENT, "output 'hidden' has 95 bytes of data, 96 expected");
  call.outputs[0].data = NULL;
  CHECK_FAILS(run(&ids, 1), ATTUNE_INVALID_ARGUMENT, "output 'hidden' has null data");
  call.outputs[0] = hidden;
  call.outputs[1].data = call.hidden;
  CHECK_FAILS(run(&ids, 1), ATTUNE_INVALID_ARGUMENT, "output 'total' overlaps output 'hidden'");
  call.outputs[1].data = call.ids;
  CHECK_FAILS(run(&ids, 1), ATTUNE_INVALID_ARGUMENT, "output 'total' overlaps input 'input_ids'");
  call.outputs[1].data = call.total;
  CHECK_OK(run(&ids, 1));
  fake_call_check(&call);
  fake_call_free(&call);
}

static void test_entries_and_shapes(void) {
  const attune_model *model = attune_session_model(session);
  int64_t token = 41, next = 0, one = 1, past[2] = {1, 5}, dims[2], shape[8];
  float mask[5] = {0};
  size_t bytes;
  attune_tensor inputs[2] = {{"token", ATTUNE_I64, 1, &one, &token, 8}, {"cache_mask", ATTUNE_F32, 2, past, mask, 20}};
  attune_tensor output = {"next", ATTUNE_I64, 1, &one, &next, 8};
  CHECK_FAILS(attune_session_run(session, "decode", inputs, 1, &output, 1), ATTUNE_INVALID_ARGUMENT,
              "past is unknown: no given input has it");
  CHECK_OK(attune_session_run(session, "decode", inputs, 2, &output, 1));
  CHECK(next == 42);
  CHECK_FAILS(attune_session_run(session, "encode", inputs, 2, &output, 1), ATTUNE_INVALID_ARGUMENT,
              "model 'fake' has no entry 'encode', its entries: forward, decode, broken");
  CHECK_FAILS(attune_session_run(session, "broken", NULL, 0, NULL, 0), ATTUNE_INTERNAL,
              "entry 'broken' of model 'fake' failed with code 7");
  CHECK_FAILS(attune_session_run(NULL, NULL, NULL, 0, NULL, 0), ATTUNE_INVALID_ARGUMENT, "the session is null");
  fake_call_init(&call, 2, 3);
  call.inputs[0].data = NULL; /* attune_infer_dims reads only shapes */
  CHECK_OK(attune_infer_dims(model, NULL, call.inputs, 1, dims));
  CHECK(dims[0] == 2 && dims[1] == 3);
  CHECK_OK(attune_output_shape(model, NULL, 0, dims, shape, &bytes));
  CHECK(shape[0] == 2 && shape[1] == 3 && shape[2] == 4 && bytes == 96);
  call.ids_shape[1] = 17;
  CHECK_FAILS(attune_infer_dims(model, NULL, call.inputs, 1, dims), ATTUNE_LIMIT_EXCEEDED,
              "length is 17, the limit of the model is 16");
  CHECK_FAILS(attune_output_shape(model, NULL, 2, dims, shape, &bytes), ATTUNE_INVALID_ARGUMENT,
              "output number 2 of entry 'forward', which has 2");
  CHECK_FAILS(attune_output_shape(model, NULL, 0, NULL, shape, &bytes), ATTUNE_INVALID_ARGUMENT,
              "dims is null, 2 values expected");
  dims[0] = INT64_MAX;
  CHECK_FAILS(attune_output_shape(model, NULL, 0, dims, shape, &bytes), ATTUNE_LIMIT_EXCEEDED,
              "output 'hidden' would be too large");
  fake_call_free(&call);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  for (int64_t threads = 1; threads <= 7; ++threads) {
    session = fake_session(argv[1], threads);
    CHECK(attune_session_num_threads(session) == threads);
    test_good();
    test_all_inputs_in_any_order();
    test_refused_inputs();
    test_narrow_inputs();
    test_refused_outputs();
    test_entries_and_shapes();
    test_good(); /* refused calls have no effect on later ones */
    attune_session_destroy(session);
  }
  puts("ok");
  return 0;
}
