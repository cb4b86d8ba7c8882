/*===- FakeModel.c - A handwritten compiled model ----------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===-----------------------------------------------------------------------===*/

#include "FakeModel.h"
#include "Check.h"

/* Bytes of scratch per token and worker. */
enum { SCRATCH = 64 };

static const attune_dim_desc forward_dims[] = {{"batch", 0, 0, 0}, {"length", 16, 0, 0}};
static const int64_t tokens_shape[] = {-1, -2}, scale_shape[] = {4}, hidden_shape[] = {-1, -2, 4}, batch_shape[] = {-1};
static const attune_tensor_desc forward_inputs[] = {
    {"input_ids", ATTUNE_I64, 2, tokens_shape, ATTUNE_FILL_REQUIRED, 0, 100},
    {"attention_mask", ATTUNE_I64, 2, tokens_shape, ATTUNE_FILL_ONES, 0, 2},
    {"token_type_ids", ATTUNE_I64, 2, tokens_shape, ATTUNE_FILL_ZEROS, 0, 2},
    {"position_ids", ATTUNE_I64, 2, tokens_shape, ATTUNE_FILL_ARANGE, 0, 16},
    {"scale", ATTUNE_F32, 1, scale_shape, ATTUNE_FILL_ONES, 0, 0},
    {"offset", ATTUNE_F32, 0, NULL, ATTUNE_FILL_ZEROS, 0, 0}};
static const attune_tensor_desc forward_outputs[] = {{"hidden", ATTUNE_F32, 3, hidden_shape, 0, 0, 0},
                                                     {"total", ATTUNE_I64, 1, batch_shape, 0, 0, 0}};
static const attune_dim_desc decode_dims[] = {{"batch", 0, 0, 0}, {"past", 8, 0, 0}};
static const attune_tensor_desc decode_inputs[] = {
    {"token", ATTUNE_I64, 1, batch_shape, ATTUNE_FILL_REQUIRED, 0, 0},
    {"cache_mask", ATTUNE_F32, 2, tokens_shape, ATTUNE_FILL_ZEROS, 0, 0}};
static const attune_tensor_desc decode_outputs[] = {{"next", ATTUNE_I64, 1, batch_shape, 0, 0, 0}};

static uint64_t forward_workspace(const int64_t *dims, int64_t workers) {
  return SCRATCH * (uint64_t)(dims[0] * dims[1] * workers);
}
static uint64_t no_workspace(const int64_t *dims, int64_t workers) { return (void)dims, (void)workers, 0; }

/* Computes the hidden states of the tokens from |begin| to |end| - 1. First fills the scratch memory of the worker,
 * which no other worker may touch. */
static void forward_tokens(void *ctx, int64_t worker, int64_t begin, int64_t end) {
  const attune_call *call = ctx;
  int64_t tokens = call->dims[0] * call->dims[1];
  const int64_t *ids = call->inputs[0], *mask = call->inputs[1], *types = call->inputs[2], *positions = call->inputs[3];
  const float *scale = call->inputs[4], *offset = call->inputs[5], *weights = call->weights;
  float *hidden = call->outputs[0];
  char *scratch = (char *)call->workspace + worker * tokens * SCRATCH;
  memset(scratch, (int)worker, tokens * SCRATCH);
  for (int64_t t = begin; t < end; ++t)
    for (int j = 0; j < 4; ++j)
      hidden[t * 4 + j] = (float)(ids[t] * mask[t] + 1000 * types[t]) * scale[j] + (float)positions[t] / 2 * scale[j] +
                          *offset + weights[j];
  CHECK(scratch[0] == (char)worker && scratch[tokens * SCRATCH - 1] == (char)worker);
}

static void forward_totals(void *ctx, int64_t worker, int64_t begin, int64_t end) {
  const attune_call *call = ctx;
  const int64_t *ids = call->inputs[0], *mask = call->inputs[1];
  int64_t *total = call->outputs[1], length = call->dims[1];
  (void)worker;
  for (int64_t b = begin; b < end; ++b) {
    total[b] = 0;
    for (int64_t i = 0; i < length; ++i)
      total[b] += ids[b * length + i] * mask[b * length + i];
  }
}

static int32_t forward(const attune_host *host, const attune_call *call) {
  CHECK(host->abi_version == ATTUNE_ABI_VERSION && host->num_workers >= 1);
  CHECK((uintptr_t)call->workspace % ATTUNE_ALIGNMENT == 0);
  attune_call own = *call; /* contexts are not const */
  host->parallel_for(host->pool, call->dims[0] * call->dims[1], 2, forward_tokens, &own);
  host->parallel_for(host->pool, call->dims[0], 1, forward_totals, &own);
  return 0;
}

static int32_t decode(const attune_host *host, const attune_call *call) {
  (void)host;
  for (int64_t i = 0; i < call->dims[0] * call->dims[1]; ++i)
    CHECK(((const float *)call->inputs[1])[i] == 0);
  for (int64_t b = 0; b < call->dims[0]; ++b)
    ((int64_t *)call->outputs[0])[b] = ((const int64_t *)call->inputs[0])[b] + 1;
  return 0;
}

static int32_t broken(const attune_host *host, const attune_call *call) { return (void)host, (void)call, 7; }

static const attune_entry_desc entries[] = {
    {"forward", 2, 6, 2, 0, forward_dims, forward_inputs, forward_outputs, forward, forward_workspace, no_workspace, NULL, NULL, NULL},
    {"decode", 2, 2, 1, 0, decode_dims, decode_inputs, decode_outputs, decode, no_workspace, no_workspace, NULL, NULL, NULL},
    {"broken", 0, 0, 0, 0, NULL, NULL, NULL, broken, no_workspace, no_workspace, NULL, NULL, NULL}};

#define MANIFEST "{\"tensors\":[{\"name\":\"w\"}]}"
/* attune_checksum(MANIFEST), which fake_write_weights checks. */
#define MANIFEST_CHECKSUM 0x18a79a0e3573b185ull
#define BUILD_ID {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xff}

const attune_model_desc attune_model_fake = {ATTUNE_MODEL_MAGIC,
                                             ATTUNE_ABI_VERSION,
                                             sizeof(attune_model_desc),
                                             "fake",
                                             "fake",
                                             "FakeModel",
                                             "",
                                             "generic",
                                             "",
                                             "",
                                             BUILD_ID,
                                             FAKE_WEIGHTS * sizeof(float),
                                             MANIFEST_CHECKSUM,
                                             3,
                                             0,
                                             entries,
                                             NULL,
                                             NULL,
                                             0,
                                             ATTUNE_DEVICE_CPU,
                                             NULL,
                                             0,
                                             0,
                                             NULL,
                                             NULL,
                                             0,
                                             0,
                                             NULL};

float fake_weight(int i) { return (float)(i % 64) / 4; }

void fake_write_weights(const char *path, void (*edit)(attune_weights_header *header)) {
  float data[FAKE_WEIGHTS];
  for (int i = 0; i < FAKE_WEIGHTS; ++i)
    data[i] = fake_weight(i);
  static char zeros[4096];
  attune_weights_header header = {ATTUNE_WEIGHTS_MAGIC,
                                  ATTUNE_ABI_VERSION,
                                  sizeof(header),
                                  BUILD_ID,
                                  0,
                                  4096,
                                  sizeof(data),
                                  0,
                                  strlen(MANIFEST),
                                  attune_checksum(MANIFEST, strlen(MANIFEST)),
                                  attune_checksum(data, sizeof(data)),
                                  /*rank=*/0,
                                  /*ranks=*/1};
  header.manifest_offset = header.data_offset + sizeof(data);
  header.file_bytes = header.manifest_offset + header.manifest_bytes;
  if (header.manifest_checksum != MANIFEST_CHECKSUM) {
    fprintf(stderr, "MANIFEST_CHECKSUM must be 0x%llxull\n", (unsigned long long)header.manifest_checksum);
    exit(1);
  }
  if (edit)
    edit(&header);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(&header, sizeof(header), 1, file) != 1 || fwrite(zeros, 4096 - sizeof(header), 1, file) != 1 ||
      fwrite(data, sizeof(data), 1, file) != 1 || fwrite(MANIFEST, strlen(MANIFEST), 1, file) != 1 ||
      fclose(file) != 0) {
    perror(path);
    exit(1);
  }
}

void fake_call_init(fake_call *call, int64_t batch, int64_t length) {
  fake_call made = {batch, length, {batch, length}, {batch, length, 4}, {batch}, NULL, NULL, NULL, {{0}}, {{0}}};
  *call = made;
  call->ids = malloc(batch * length * 8);
  call->hidden = malloc(batch * length * 16);
  call->total = malloc(batch * 8);
  CHECK(call->ids && call->hidden && call->total);
  for (int64_t i = 0; i < batch * length; ++i)
    call->ids[i] = i * 37 % 100;
  memset(call->hidden, 0xff, batch * length * 16);
  memset(call->total, 0xff, batch * 8);
  attune_tensor input = {"input_ids", ATTUNE_I64, 2, call->ids_shape, call->ids, (size_t)(batch * length * 8)};
  attune_tensor hidden = {"hidden", ATTUNE_F32, 3, call->hidden_shape, call->hidden, (size_t)(batch * length * 16)};
  attune_tensor total = {"total", ATTUNE_I64, 1, call->total_shape, call->total, (size_t)(batch * 8)};
  call->inputs[0] = input;
  call->outputs[0] = hidden;
  call->outputs[1] = total;
}

void fake_call_check(const fake_call *call) {
  for (int64_t b = 0; b < call->batch; ++b) {
    int64_t total = 0;
    for (int64_t i = 0; i < call->length; ++i) {
      int64_t id = call->ids[b * call->length + i];
      total += id;
      for (int j = 0; j < 4; ++j)
        CHECK(call->hidden[(b * call->length + i) * 4 + j] == (float)id + (float)i / 2 + fake_weight(j));
    }
    CHECK(call->total[b] == total);
  }
}

void fake_call_free(fake_call *call) {
  free(call->ids);
  free(call->hidden);
  free(call->total);
}

attune_session *fake_session(const char *folder, int64_t threads) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/fake.weights", folder);
  fake_write_weights(path, NULL);
  attune_model_options model_options;
  attune_model_options_init(&model_options);
  model_options.weights_path = path;
  attune_model *model;
  CHECK_OK(attune_model_open(&attune_model_fake, &model_options, &model));
  attune_dim_limit limits[] = {{"batch", 8}, {"length", 16}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 2;
  options.num_threads = threads;
  attune_session *session;
  CHECK_OK(attune_session_create(model, &options, &session));
  /* The session keeps the model alive. */
  attune_model_close(model);
  return session;
}
