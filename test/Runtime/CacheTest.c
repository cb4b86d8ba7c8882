/*===- CacheTest.c - Slots and sources of sessions ---------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *  Tests slots and sources on a handwritten model. It makes the "keys" and "values" of a token from the token's id, so
 *  that the contents of caches, and the values that a call reads there, can be checked. The output of a row is the sum
 *  of the ids in its slot, which the model reads from the values, plus 1000 times the sum of the ids in its source.
 *===-----------------------------------------------------------------------===*/

#include "Check.h"
#include "FakeModel.h"

#include <fenv.h>
#include <math.h>

enum { HEADS = 2, KEY = 3, VALUE = 2, PANEL = ATTUNE_CACHE_PANEL };

static const attune_dim_desc encode_dims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"source_length", 70, ATTUNE_DIM_INPUTS, 0}};
static const attune_dim_desc append_dims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0},
                                              {"length", 80, ATTUNE_DIM_INPUTS, 0},
                                              {"past", 80, ATTUNE_DIM_PAST, 0},
                                              {"source_length", 70, ATTUNE_DIM_SOURCE_LENGTH, 0}};
static const int64_t ids_shape[] = {-1, -2}, token_shape[] = {-1, 1}, rows_shape[] = {-1};
static const attune_tensor_desc encode_inputs[] = {{"ids", ATTUNE_I64, 2, ids_shape, ATTUNE_FILL_REQUIRED, 0, 0},
                                                   {"sources", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_SOURCES, 0, 0}};
static const attune_tensor_desc append_inputs[] = {{"ids", ATTUNE_I64, 2, ids_shape, ATTUNE_FILL_REQUIRED, 0, 0},
                                                   {"slots", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_SLOTS, 0, 0},
                                                   {"past_lengths", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_PAST_LENGTHS, 0, 0},
                                                   {"sources", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_SOURCES, 0, 0},
                                                   {"source_lengths", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_SOURCE_LENGTHS, 0, 0},
                                                   {"mask", ATTUNE_I64, 2, ids_shape, ATTUNE_FILL_TOKENS, 0, 0}};
static const attune_tensor_desc decode_inputs[] = {{"ids", ATTUNE_I64, 2, token_shape, ATTUNE_FILL_REQUIRED, 0, 0},
                                                   {"slots", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_SLOTS, 0, 0},
                                                   {"past_lengths", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_PAST_LENGTHS, 0, 0},
                                                   {"sources", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_SOURCES, 0, 0},
                                                   {"source_lengths", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_SOURCE_LENGTHS, 0, 0}};
static const attune_dim_desc decode_dims[] = {
    {"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"past", 80, ATTUNE_DIM_PAST, 0}, {"source_length", 70, ATTUNE_DIM_SOURCE_LENGTH, 0}};
static const attune_tensor_desc sums[] = {{"sums", ATTUNE_F32, 1, rows_shape, 0, 0, 0}};
static const attune_cache_desc caches[] = {{"past_key_values.0.0", ATTUNE_F32, ATTUNE_CACHE_KEYS, 0, 0, HEADS, KEY},
                                           {"past_key_values.0.1", ATTUNE_F32, ATTUNE_CACHE_VALUES, 0, 0, HEADS, VALUE},
                                           {"visible", ATTUNE_F32, ATTUNE_CACHE_MASK, 0, 0, 1, 1},
                                           {"past_key_values.0.2", ATTUNE_F32, ATTUNE_CACHE_KEYS, 1, 0, HEADS, KEY},
                                           {"past_key_values.0.3", ATTUNE_F32, ATTUNE_CACHE_VALUES, 1, 0, HEADS, VALUE}};

static uint64_t no_workspace(const int64_t *dims, int64_t workers) { return (void)dims, (void)workers, 0; }

/* Writes token |at| of a slot. In head h, its key has the components id + h + d / 8, for d < KEY, and its value has the
 * components id + h - e, for e < VALUE. The caches have |panels| panels for each slot and head. */
static void write_token(float *keys, float *values, int64_t panels, int64_t slot, int64_t at, int64_t id) {
  for (int64_t h = 0; h < HEADS; ++h) {
    for (int64_t d = 0; d < KEY; ++d)
      keys[(((slot * HEADS + h) * panels + at / PANEL) * KEY + d) * PANEL + at % PANEL] = (float)(id + h) + (float)d / 8;
    for (int64_t e = 0; e < VALUE; ++e)
      values[((slot * HEADS + h) * panels * PANEL + at) * VALUE + e] = (float)(id + h - e);
  }
}

/* Returns the cache of keys or, if |values|, of values; that of the slots or, if |sources|, of the sources. state_dims
 * has the numbers of slots, of panels in a slot, of sources, and of panels in a source. */
static float *cache_of(const attune_call *call, int sources, int values) {
  float *at = call->state;
  const int64_t *dims = call->state_dims;
  if (sources)
    at += dims[0] * dims[1] * PANEL * (HEADS * (KEY + VALUE) + 1);
  return at + (values ? dims[2 * sources] * dims[2 * sources + 1] * PANEL * HEADS * KEY : 0);
}

/* Writes the ids of each row to its source. Returns error 7 at a negative id, after writing the ids before that one. */
static int32_t encode(const attune_host *host, const attune_call *call) {
  (void)host;
  const int64_t *ids = call->inputs[0], *sources = call->inputs[1];
  for (int64_t row = 0; row < call->dims[0]; ++row)
    for (int64_t i = 0; i < call->dims[1]; ++i) {
      int64_t id = ids[row * call->dims[1] + i];
      if (id < 0)
        return 7;
      write_token(cache_of(call, 1, 0), cache_of(call, 1, 1), call->state_dims[3], sources[row], i, id);
    }
  return 0;
}

static int32_t append(const attune_call *call, int64_t length, const int64_t *mask, int64_t past, int64_t source_length) {
  const int64_t *ids = call->inputs[0], *slots = call->inputs[1], *past_lengths = call->inputs[2], *sources = call->inputs[3],
                *source_lengths = call->inputs[4];
  float *values = cache_of(call, 0, 1), *source_values = cache_of(call, 1, 1);
  for (int64_t row = 0; row < call->dims[0]; ++row) {
    int64_t at = past_lengths[row];
    CHECK(at <= past && source_lengths[row] <= source_length && source_lengths[row] > 0);
    for (int64_t i = 0; i < length; ++i)
      if (!mask || mask[row * length + i])
        write_token(cache_of(call, 0, 0), values, call->state_dims[1], slots[row], at++, ids[row * length + i]);
    float sum = 0;
    for (int64_t i = 0; i < at; ++i)
      sum += values[(slots[row] * HEADS * call->state_dims[1] * PANEL + i) * VALUE];
    for (int64_t i = 0; i < source_lengths[row]; ++i)
      sum += 1000 * source_values[(sources[row] * HEADS * call->state_dims[3] * PANEL + i) * VALUE];
    ((float *)call->outputs[0])[row] = sum;
  }
  return 0;
}

static int32_t prefill(const attune_host *host, const attune_call *call) {
  return (void)host, append(call, call->dims[1], call->inputs[5], call->dims[2], call->dims[3]);
}
static int32_t decode(const attune_host *host, const attune_call *call) {
  return (void)host, append(call, 1, NULL, call->dims[1], call->dims[2]);
}

static const attune_entry_desc entries[] = {
    {"encode", 2, 2, 0, ATTUNE_CACHE_ENCODE, encode_dims, encode_inputs, NULL, encode, no_workspace, no_workspace, NULL, NULL, NULL},
    {"prefill", 4, 6, 1, ATTUNE_CACHE_APPEND, append_dims, append_inputs, sums, prefill, no_workspace, no_workspace, NULL, NULL, NULL},
    {"decode", 3, 5, 1, ATTUNE_CACHE_CONTINUE, decode_dims, decode_inputs, sums, decode, no_workspace, no_workspace, NULL, NULL, NULL}};

/* Returns the fake model with the entries and caches above, and with its own weights. */
static attune_model_desc decoder(void) {
  attune_model_desc desc = attune_model_fake;
  desc.name = "fake_decoder";
  desc.num_entries = 3;
  desc.entries = entries;
  desc.num_caches = 5;
  desc.caches = caches;
  return desc;
}

static attune_model *open_model(const attune_model_desc *desc, const char *path) {
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = path;
  attune_model *model;
  CHECK_OK(attune_model_open(desc, &options, &model));
  return model;
}

static attune_session *make_session(attune_model *model) {
  attune_dim_limit limits[] = {{"batch", 3}, {"length", 70}, {"past", 75}, {"source_length", 66}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 4;
  options.num_threads = 1;
  attune_session *session;
  CHECK_OK(attune_session_create(model, &options, &session));
  CHECK(attune_session_num_slots(session) == 3);
  return session;
}

/* Runs an entry on |rows| rows of |length| ids, with slots, sources and mask unless null. |out| is null for an entry
 * without outputs. */
static attune_status run(attune_session *session, const char *entry, int64_t rows, int64_t length, int64_t *ids, int64_t *slots,
                         int64_t *sources, int64_t *mask, float *out) {
  int64_t shape[] = {rows, length};
  attune_tensor inputs[4] = {{"ids", ATTUNE_I64, 2, shape, ids, (size_t)(rows * length * 8)}};
  size_t count = 1;
  if (slots)
    inputs[count++] = (attune_tensor){"slots", ATTUNE_I64, 1, shape, slots, (size_t)(rows * 8)};
  if (sources)
    inputs[count++] = (attune_tensor){"sources", ATTUNE_I64, 1, shape, sources, (size_t)(rows * 8)};
  if (mask)
    inputs[count++] = (attune_tensor){"mask", ATTUNE_I64, 2, shape, mask, (size_t)(rows * length * 8)};
  attune_tensor output = {"sums", ATTUNE_F32, 1, shape, out, (size_t)(rows * 4)};
  return attune_session_run(session, entry, inputs, count, &output, out ? 1 : 0);
}

static void test_rows(attune_session *session) {
  float out[3];
  int64_t two[] = {1, 2, 10, 20}, source_ids[] = {5, 7}, one[] = {3};
  CHECK_FAILS(run(session, "prefill", 2, 2, two, NULL, NULL, NULL, out), ATTUNE_INVALID_ARGUMENT,
              "source 0 of row 0 is empty: run 'encode' first");
  CHECK_OK(run(session, "encode", 2, 1, source_ids, NULL, NULL, NULL, NULL));
  CHECK_FAILS(run(session, "decode", 1, 1, one, NULL, NULL, NULL, out), ATTUNE_INVALID_ARGUMENT,
              "slot 0 of row 0 is empty: 'decode' continues");
  int64_t mask[] = {1, 1, 0, 1};
  CHECK_OK(run(session, "prefill", 2, 2, two, NULL, NULL, mask, out));
  CHECK(out[0] == 5003 && out[1] == 7020);
  CHECK(attune_session_slot_length(session, 0) == 2 && attune_session_slot_length(session, 1) == 1);
  CHECK(attune_session_slot_length(session, 2) == 0 && attune_session_slot_length(session, 3) == -1);

  /* Row 0 continues slot 1, with its source 1. Row 1 begins slot 2, with source 0, which slot 0 reads, too. */
  int64_t slots[] = {1, 2}, sources[] = {1, 0}, next[] = {4, 6}, second[] = {1};
  CHECK_FAILS(run(session, "decode", 2, 1, next, slots, NULL, NULL, out), ATTUNE_INVALID_ARGUMENT, "slot 2 of row 1 is empty");
  CHECK(attune_session_slot_length(session, 1) == 1);
  CHECK_OK(run(session, "prefill", 2, 1, next, slots, sources, NULL, out));
  CHECK(out[0] == 7024 && out[1] == 5006);
  CHECK_OK(run(session, "decode", 1, 1, one, second, NULL, NULL, out));
  CHECK(out[0] == 7027 && attune_session_slot_length(session, 1) == 3);

  int64_t twice[] = {1, 1}, beyond[] = {0, 3}, nothing[] = {1, 1, 0, 0};
  CHECK_FAILS(run(session, "decode", 2, 1, next, twice, NULL, NULL, out), ATTUNE_INVALID_ARGUMENT,
              "row 1 is in slot 1, as an earlier row is");
  CHECK_FAILS(run(session, "decode", 2, 1, next, beyond, NULL, NULL, out), ATTUNE_INVALID_ARGUMENT,
              "row 1 is in slot 3, the session has 0 to 2");
  CHECK_FAILS(run(session, "decode", 2, 1, next, NULL, beyond, NULL, out), ATTUNE_INVALID_ARGUMENT, "row 1 is in source 3");
  CHECK_FAILS(run(session, "encode", 2, 1, next, NULL, twice, NULL, NULL), ATTUNE_INVALID_ARGUMENT, "row 1 is in source 1, as an earlier");
  CHECK_FAILS(run(session, "prefill", 2, 2, two, NULL, NULL, nothing, out), ATTUNE_INVALID_ARGUMENT, "row 1 has no token that is visible");
  int64_t given[] = {0}, shape[] = {1, 1};
  attune_tensor inputs[] = {{"ids", ATTUNE_I64, 2, shape, one, 8}, {"past_lengths", ATTUNE_I64, 1, shape, given, 8}};
  attune_tensor output = {"sums", ATTUNE_F32, 1, shape, out, 4};
  CHECK_FAILS(attune_session_run(session, "decode", inputs, 2, &output, 1), ATTUNE_INVALID_ARGUMENT,
              "'past_lengths' is what the session knows");
}

/* Tests that a call that fails after it has overwritten a part of its sources leaves these sources empty, and does not
 * change other sources. */
static void test_failure(attune_session *session) {
  float out[2];
  int64_t good[] = {5, 6, 7, 8}, bad[] = {9, 9, 9, -1}, slots[] = {0, 1}, own[] = {0, 1}, other[] = {2}, one[] = {3}, third[] = {2};
  for (int64_t slot = 0; slot < 3; ++slot)
    CHECK_OK(attune_session_slot_truncate(session, slot, 0));
  CHECK_OK(run(session, "encode", 2, 2, good, NULL, own, NULL, NULL));
  CHECK_OK(run(session, "encode", 1, 2, good, NULL, other, NULL, NULL));
  CHECK_FAILS(run(session, "encode", 2, 2, bad, NULL, own, NULL, NULL), ATTUNE_INTERNAL,
              "entry 'encode' of model 'fake_decoder' failed with code 7");
  CHECK_FAILS(run(session, "prefill", 1, 1, one, slots, own, NULL, out), ATTUNE_INVALID_ARGUMENT,
              "source 0 of row 0 is empty: run 'encode' first");
  CHECK_FAILS(run(session, "prefill", 1, 1, one, slots + 1, own + 1, NULL, out), ATTUNE_INVALID_ARGUMENT,
              "source 1 of row 0 is empty: run 'encode' first");
  CHECK_OK(run(session, "prefill", 1, 1, one, third, other, NULL, out));
  CHECK(out[0] == 11003);
  CHECK_OK(run(session, "encode", 2, 2, good, NULL, own, NULL, NULL));
  CHECK_OK(run(session, "prefill", 1, 1, one, slots, own, NULL, out));
  CHECK(out[0] == 11003);
}

static void test_capacity(attune_session *session) {
  int64_t ids[70] = {0};
  float out[3];
  CHECK_OK(attune_session_slot_truncate(session, 0, 0));
  CHECK_OK(run(session, "prefill", 1, 70, ids, NULL, NULL, NULL, out));
  CHECK_FAILS(run(session, "prefill", 1, 6, ids, NULL, NULL, NULL, out), ATTUNE_LIMIT_EXCEEDED,
              "past is 76 with the new tokens of row 0, the limit of the session is 75");
  int64_t mask[] = {0, 1, 1, 1, 1, 1};
  CHECK_OK(run(session, "prefill", 1, 6, ids, NULL, NULL, mask, out));
  CHECK(attune_session_slot_length(session, 0) == 75);
  CHECK_FAILS(run(session, "decode", 1, 1, ids, NULL, NULL, NULL, out), ATTUNE_LIMIT_EXCEEDED, "past is 76");
  CHECK_FAILS(run(session, "encode", 1, 70, ids, NULL, NULL, NULL, NULL), ATTUNE_LIMIT_EXCEEDED, "source_length is 70");
  int64_t four[4] = {1, 1, 1, 1};
  CHECK_FAILS(run(session, "decode", 4, 1, four, NULL, NULL, NULL, out), ATTUNE_LIMIT_EXCEEDED,
              "batch is 4, the limit of the session is 3");
}

static void test_slots(attune_session *session) {
  int64_t ids[68], one[] = {100}, slots[] = {2};
  float out[1], sum = 0;
  for (int64_t i = 0; i < 68; ++i)
    sum += (float)(ids[i] = i);
  CHECK_OK(attune_session_slot_truncate(session, 0, 0));
  CHECK_OK(run(session, "prefill", 1, 68, ids, NULL, NULL, NULL, out));
  CHECK(out[0] == 5000 + sum);
  CHECK_OK(attune_session_slot_copy(session, 0, 2));
  CHECK_OK(attune_session_slot_truncate(session, 0, 67));
  CHECK_OK(run(session, "decode", 1, 1, one, slots, NULL, NULL, out));
  CHECK(out[0] == 5000 + sum + 100 && attune_session_slot_length(session, 0) == 67 && attune_session_slot_length(session, 2) == 69);
  CHECK_OK(run(session, "decode", 1, 1, one, NULL, NULL, NULL, out));
  CHECK(out[0] == 5000 + sum - 67 + 100);
  CHECK_FAILS(attune_session_slot_copy(session, 0, 3), ATTUNE_INVALID_ARGUMENT, "slot 3, the session has 0 to 2");
  CHECK_FAILS(attune_session_slot_truncate(session, 0, 69), ATTUNE_INVALID_ARGUMENT, "slot 0 has 68 tokens, cannot keep 69");
  CHECK_FAILS(attune_session_slot_truncate(NULL, 0, 0), ATTUNE_INVALID_ARGUMENT, "session is null");

  /* A read returns keys as [slots, heads, tokens, components], without panels. */
  float keys[HEADS * 69 * KEY];
  int64_t shape[] = {1, HEADS, 69, KEY};
  attune_tensor tensor = {"past_key_values.0.0", ATTUNE_F32, 4, shape, keys, sizeof(keys)};
  CHECK_OK(attune_session_cache_read(session, slots, &tensor));
  for (int64_t h = 0; h < HEADS; ++h)
    for (int64_t i = 0; i < 69; ++i)
      for (int64_t d = 0; d < KEY; ++d)
        CHECK(keys[(h * 69 + i) * KEY + d] == (float)((i < 68 ? i : 100) + h) + (float)d / 8);
  CHECK_FAILS(attune_session_cache_read(session, NULL, &tensor), ATTUNE_INVALID_ARGUMENT, "slot 0 has 68 tokens, cannot read 69");
  tensor.bytes -= 4;
  CHECK_FAILS(attune_session_cache_read(session, slots, &tensor), ATTUNE_INVALID_ARGUMENT, "too few for its shape [1, 2, 69, 3]");
  tensor.name = "nonesuch";
  CHECK_FAILS(attune_session_cache_read(session, slots, &tensor), ATTUNE_INVALID_ARGUMENT, "has no cache 'nonesuch'");
}

static void test_write(attune_session *session) {
  float keys[2 * HEADS * 65 * KEY], values[2 * HEADS * 65 * VALUE], back[2 * HEADS * 65 * KEY], out[1];
  for (int64_t i = 0; i < 2 * HEADS * 65 * KEY; ++i)
    keys[i] = (float)i;
  for (int64_t i = 0; i < 2 * HEADS * 65 * VALUE; ++i)
    values[i] = (float)(i % 5);
  int64_t key_shape[] = {2, HEADS, 65, KEY}, value_shape[] = {2, HEADS, 65, VALUE};
  int64_t slots[] = {1, 0}, same[] = {1, 1}, last[] = {1}, one[] = {9};
  attune_tensor tensors[] = {{"past_key_values.0.1", ATTUNE_F32, 4, value_shape, values, sizeof(values)},
                             {"past_key_values.0.0", ATTUNE_F32, 4, key_shape, keys, sizeof(keys)}};
  CHECK_FAILS(attune_session_cache_write(session, slots, tensors, 1), ATTUNE_INVALID_ARGUMENT, "cache 'past_key_values.0.0' is missing");
  CHECK_FAILS(attune_session_cache_write(session, same, tensors, 2), ATTUNE_INVALID_ARGUMENT,
              "rows 0 and 1 of 'past_key_values.0.1' have the same slot, 1");
  CHECK_OK(attune_session_cache_write(session, slots, tensors, 2));
  CHECK(attune_session_slot_length(session, 0) == 65 && attune_session_slot_length(session, 1) == 65);
  attune_tensor read = {"past_key_values.0.0", ATTUNE_F32, 4, key_shape, back, sizeof(back)};
  CHECK_OK(attune_session_cache_read(session, slots, &read));
  CHECK(memcmp(keys, back, sizeof(keys)) == 0);
  float sum = 9;
  for (int64_t i = 0; i < 65; ++i)
    sum += values[i * VALUE];
  CHECK_OK(run(session, "decode", 1, 1, one, last, NULL, NULL, out));
  CHECK(out[0] == 7000 + sum);
  key_shape[2] = 64;
  CHECK_FAILS(attune_session_cache_write(session, slots, tensors, 2), ATTUNE_INVALID_ARGUMENT,
              "has 2 rows of 64 tokens, 'past_key_values.0.1' 2 of 65");
  key_shape[2] = 76;
  CHECK_FAILS(attune_session_cache_write(session, slots, tensors, 2), ATTUNE_LIMIT_EXCEEDED, "has at most 3 rows of 75 tokens");
  key_shape[2] = 65, key_shape[3] = 1;
  CHECK_FAILS(attune_session_cache_write(session, slots, tensors, 2), ATTUNE_INVALID_ARGUMENT,
              "2 heads of 3, f32 of rank 4, but got f32 [2, 2, 65, 1]");
}

/* Returns the number that a cache of |type| keeps for component |i| of the vector |x| of |size| components. */
static float kept(attune_dtype type, const float *x, int64_t size, int64_t i) {
  if (type == ATTUNE_I8) {
    float most = 0;
    for (int64_t d = 0; d < size; ++d) {
      if (!isfinite(x[d]))
        return NAN;
      most = fmaxf(most, fabsf(x[d]));
    }
    return most < 0x1p-119f ? 0 : (float)lrintf(x[i] * (127 / most)) * (most / 127);
  }
  /* The spacing of numbers near x[i]: bf16 has 8 significant bits, f16 has 11; the least spacing is 2^-133 or 2^-24. */
  int exponent;
  (void)frexpf(x[i], &exponent);
  double unit = ldexp(1, type == ATTUNE_BF16 ? (exponent < -125 ? -133 : exponent - 8) : exponent < -13 ? -24 : exponent - 11);
  double rounded = isfinite(x[i]) ? nearbyint((double)x[i] / unit) * unit : x[i];
  return type == ATTUNE_F16 && fabs(rounded) > 65504 && !isnan(rounded) ? copysignf(INFINITY, x[i]) : (float)rounded;
}

/* Tests caches of |type|. A read returns what was written, rounded to |type|, in any rounding mode of the caller. */
static void test_types(const char *path, attune_dtype type) {
  enum { TOKENS = 70 };
  static const float odd[] = {0,      -0.0f, 1.00390625f, 1.01171875f, 0x1p-14f,       0x1.8p-24f,     0x1p-25f,  -0x1p-130f, 65519, 65520,
                              -65504, 3e38f, INFINITY,    NAN,         1.00048828125f, 1.00146484375f, 0x1p-126f, 127,        -3,    2.5f};
  attune_cache_desc typed[5];
  memcpy(typed, caches, sizeof(typed));
  for (int i = 0; i < 5; ++i)
    if (typed[i].kind != ATTUNE_CACHE_MASK)
      typed[i].dtype = type;
  attune_model_desc desc = decoder();
  desc.caches = typed;
  attune_model *model = open_model(&desc, path);
  attune_session *session = make_session(model);
  int64_t element = type == ATTUNE_I8 ? 1 : 2, scale = type == ATTUNE_I8 ? 4 : 0;
  CHECK(attune_cache_token_bytes(&typed[0]) == HEADS * (KEY * element + scale));
  CHECK(attune_cache_token_bytes(&typed[2]) == 4 && attune_cache_token_bytes(NULL) == 0);
  static float keys[2 * HEADS * TOKENS * KEY], values[2 * HEADS * TOKENS * VALUE], back[2 * HEADS * TOKENS * KEY];
  for (int64_t i = 0; i < 2 * HEADS * TOKENS * KEY; ++i)
    keys[i] = i / KEY % 3 ? (float)(i * 37 % 101 - 50) / 7 : odd[(i + i / KEY) % 20];
  for (int64_t i = 0; i < 2 * HEADS * TOKENS * VALUE; ++i)
    values[i] = i / VALUE % 4 ? (float)(i * 53 % 97 - 48) / 9 : odd[(i / 2 + i % 2) % 20];
  int64_t key_shape[] = {2, HEADS, TOKENS, KEY}, value_shape[] = {2, HEADS, TOKENS, VALUE}, slots[] = {1, 0}, copies[] = {1, 2};
  attune_tensor tensors[] = {{"past_key_values.0.1", ATTUNE_F32, 4, value_shape, values, sizeof(values)},
                             {"past_key_values.0.0", ATTUNE_F32, 4, key_shape, keys, sizeof(keys)}};
  int modes[] = {FE_TONEAREST, FE_UPWARD};
  for (int mode = 0; mode < 2; ++mode) {
    fesetround(modes[mode]);
    CHECK_OK(attune_session_cache_write(session, slots, tensors, 2));
    fesetround(FE_TONEAREST);
    CHECK_OK(attune_session_slot_copy(session, 0, 2));
    for (int which = 0; which < 2; ++which) {
      int64_t size = which ? KEY : VALUE, *shape = which ? key_shape : value_shape;
      const float *given = which ? keys : values;
      attune_tensor read = {which ? "past_key_values.0.0" : "past_key_values.0.1", ATTUNE_F32, 4, shape, back, sizeof(back)};
      fesetround(modes[mode]);
      CHECK_OK(attune_session_cache_read(session, copies, &read)); /* slot 2 is a copy of slot 0, the second row */
      fesetround(FE_TONEAREST);
      for (int64_t i = 0; i < 2 * HEADS * TOKENS * size; ++i) {
        float want = kept(type, given + i / size * size, size, i % size);
        CHECK(isnan(want) ? isnan(back[i]) : back[i] == want);
      }
    }
  }
  CHECK_OK(attune_session_slot_truncate(session, 2, 1));
  attune_session_destroy(session);
  attune_model_close(model);
}

/* Tests the limit of a total length: the sum of those of "past" and "length", or the caller's, also if that is 1. */
static void test_total_length(const char *path) {
  attune_dim_desc dims[5] = {{0}};
  memcpy(dims, append_dims, sizeof(append_dims));
  dims[4] = (attune_dim_desc){"total_length", 0, ATTUNE_DIM_TOTAL_LENGTH, 0};
  attune_entry_desc changed[3];
  memcpy(changed, entries, sizeof(changed));
  changed[1].dims = dims;
  changed[1].num_dims = 5;
  attune_model_desc desc = decoder();
  desc.entries = changed;
  attune_model *model = open_model(&desc, path);
  attune_dim_limit limits[] = {{"batch", 1}, {"length", 70}, {"past", 75}, {"source_length", 66}, {"total_length", 1}};
  for (size_t count = 4; count <= 5; ++count) {
    attune_session_options options;
    attune_session_options_init(&options);
    options.limits = limits;
    options.num_limits = count;
    options.num_threads = 1;
    attune_session *session;
    CHECK_OK(attune_session_create(model, &options, &session));
    int64_t source[] = {5}, ids[] = {1, 2};
    float out[1];
    CHECK_OK(run(session, "encode", 1, 1, source, NULL, NULL, NULL, NULL));
    if (count == 4)
      CHECK_OK(run(session, "prefill", 1, 2, ids, NULL, NULL, NULL, out));
    else
      CHECK_FAILS(run(session, "prefill", 1, 2, ids, NULL, NULL, NULL, out), ATTUNE_LIMIT_EXCEEDED,
                  "total_length is 2, the limit of the session is 1");
    attune_session_destroy(session);
  }
  attune_model_close(model);
}

static void test_descriptor(const char *path) {
  attune_model *model;
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = path;
  attune_cache_desc own[5];
  attune_entry_desc changed[3];
  attune_tensor_desc inputs[6];
  attune_model_desc desc = decoder();
#define REFUSED(edit, text)                                                                                                                \
  do {                                                                                                                                     \
    memcpy(own, caches, sizeof(own)), memcpy(changed, entries, sizeof(changed)), memcpy(inputs, append_inputs, sizeof(inputs));            \
    desc = decoder(), desc.caches = own, desc.entries = changed, changed[1].inputs = inputs;                                               \
    edit;                                                                                                                                  \
    CHECK_FAILS(attune_model_open(&desc, &options, &model), ATTUNE_CORRUPT, text);                                                         \
  } while (0)
  REFUSED(desc.caches = NULL, "5 caches without descriptions");
  REFUSED(own[1].kind = 3, "cache number 1");
  REFUSED(own[2].heads = 0, "cache number 2");
  REFUSED(own[3].size = INT64_MAX, "cache number 3");
  REFUSED(own[0].of_sources = 1, "cache number 1");
  REFUSED(own[4].name = NULL, "cache number 4");
  REFUSED(own[0].dtype = ATTUNE_I64, "cache number 0");
  REFUSED(own[2].dtype = ATTUNE_I8, "cache number 2");
  REFUSED(desc.num_caches = 0, "the inputs of entry 'encode' do not fit its use of the caches");
  REFUSED(changed[1].cache_use = 4, "the inputs of entry 'prefill' do not fit");
  REFUSED(changed[1].cache_use = ATTUNE_CACHE_UNUSED, "entry 'prefill'");
  REFUSED(inputs[1].fill = ATTUNE_FILL_ZEROS, "entry 'prefill'");
  REFUSED(inputs[2].fill = ATTUNE_FILL_SLOTS, "entry 'prefill'");
  REFUSED(inputs[0].fill = ATTUNE_FILL_ZEROS, "entry 'prefill'");
  REFUSED(inputs[5].fill = 9, "dtype 1 and fill 9");
  REFUSED(inputs[1].rank = 2, "'slots' is about the rows of a call, i64 of rank 1 with rows expected");
  REFUSED(inputs[3].dtype = ATTUNE_F32, "'sources'");
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  char path[4096];
  snprintf(path, sizeof(path), "%s/decoder.weights", argv[1]);
  fake_write_weights(path, NULL);
  attune_model_desc desc = decoder();
  attune_model *model = open_model(&desc, path);
  attune_session *session = make_session(model);
  test_rows(session);
  test_capacity(session);
  test_slots(session);
  test_write(session);
  test_failure(session);
  attune_session_destroy(session);
  attune_model_close(model);
  test_total_length(path);
  test_descriptor(path);
  test_types(path, ATTUNE_BF16);
  test_types(path, ATTUNE_F16);
  test_types(path, ATTUNE_I8);
  printf("ok\n");
  return 0;
}
