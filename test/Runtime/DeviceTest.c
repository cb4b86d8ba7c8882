/*===- DeviceTest.c - Models on a GPU -----------------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tests a handwritten model whose kernels are in Inputs/device.ll on the GPU of test/FakeCuda. IMAGE is the file of the
 * compiled kernels, FOLDER receives the weights file.
 *
 * DeviceTest IMAGE FOLDER              runs all tests
 * DeviceTest IMAGE FOLDER once         prints the outcome of one call (report)
 * DeviceTest IMAGE FOLDER write|copy   prints the outcome of writing or copying a slot (report_slots)
 *===-----------------------------------------------------------------------===*/

#include "attune/generate.h"
#include "Check.h"
#include "FakeModel.h"

#include <dlfcn.h>
#include <pthread.h>

enum { PANEL = ATTUNE_CACHE_PANEL, BLOCK = 32 };
enum { GATHER, SPREAD, APPEND, ABSENT };

static const attune_dim_desc forward_dims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"length", 16, ATTUNE_DIM_INPUTS, 0}};
static const attune_dim_desc decode_dims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"past", 80, ATTUNE_DIM_PAST, 0}};
static const int64_t ids_shape[] = {-1, -2}, token_shape[] = {-1, 1}, rows_shape[] = {-1}, hidden_shape[] = {-1, -2, 2};
static const attune_tensor_desc forward_inputs[] = {{"ids", ATTUNE_I64, 2, ids_shape, ATTUNE_FILL_REQUIRED, 0, 100},
                                                    {"mask", ATTUNE_I64, 2, ids_shape, ATTUNE_FILL_ONES, 0, 0},
                                                    {"positions", ATTUNE_I64, 2, ids_shape, ATTUNE_FILL_ARANGE, 0, 0}};
static const attune_tensor_desc forward_outputs[] = {{"hidden", ATTUNE_F32, 3, hidden_shape, 0, 0, 0}};
static const attune_tensor_desc decode_inputs[] = {{"ids", ATTUNE_I64, 2, token_shape, ATTUNE_FILL_REQUIRED, 0, 0},
                                                   {"slots", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_SLOTS, 0, 0},
                                                   {"past_lengths", ATTUNE_I64, 1, rows_shape, ATTUNE_FILL_PAST_LENGTHS, 0, 0}};
static const attune_tensor_desc decode_outputs[] = {{"sums", ATTUNE_F32, 1, rows_shape, 0, 0, 0}};
static const attune_cache_desc caches[] = {{"values", ATTUNE_F32, ATTUNE_CACHE_VALUES, 0, 0, 2, 1}};

static uint64_t workspace(const int64_t *dims, int64_t workers) { return (void)workers, (uint64_t)(dims[0] * dims[1]) * sizeof(float); }
static uint64_t nothing(const int64_t *dims, int64_t workers) { return (void)dims, (void)workers, 0; }

static int32_t launch(const attune_host *host, uint32_t function, int64_t count, const void *const *args) {
  attune_launch launch = {function, 0, {(uint32_t)((count + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, args};
  CHECK(host->arch == 10 && host->num_workers == 6 && !host->parallel_for);
  return host->launch(host->pool, &launch);
}

static int32_t forward(const attune_host *host, const attune_call *call) {
  int64_t count = call->dims[0] * call->dims[1];
  const void *gather[] = {&call->inputs[0], &call->inputs[1], &call->inputs[2], &call->workspace, &count};
  const void *spread[] = {&call->workspace, &call->weights, &call->outputs[0], &count};
  int32_t code = launch(host, GATHER, count, gather);
  return code ? code : launch(host, SPREAD, count, spread);
}

static int32_t decode(const attune_host *host, const attune_call *call) {
  int64_t tokens = call->state_dims[1] * PANEL;
  const void *args[] = {&call->inputs[0], &call->inputs[1], &call->inputs[2], &call->state, &call->outputs[0], &call->dims[0], &tokens};
  return launch(host, APPEND, call->dims[0], args);
}

/* Launches an empty grid, then a function that the image lacks. */
static int32_t broken(const attune_host *host, const attune_call *call) {
  const void *args[] = {&call->weights};
  int32_t code = launch(host, GATHER, 0, args);
  CHECK(code == 0);
  return launch(host, ABSENT, 1, args);
}

/* Launches UINT32_MAX blocks, which compiled code passes for any number above 2^31 - 1; the runtime refuses it. */
static int32_t huge(const attune_host *host, const attune_call *call) {
  const void *args[] = {&call->weights};
  attune_launch launch = {GATHER, 0, {UINT32_MAX, 1, 1}, {BLOCK, 1, 1}, args};
  return host->launch(host->pool, &launch);
}

static const attune_entry_desc entries[] = {
    {"forward", 2, 3, 1, ATTUNE_CACHE_UNUSED, forward_dims, forward_inputs, forward_outputs, forward, workspace, nothing, NULL, NULL, NULL},
    {"decode", 2, 3, 1, ATTUNE_CACHE_APPEND, decode_dims, decode_inputs, decode_outputs, decode, nothing, nothing, NULL, NULL, NULL},
    {"broken", 0, 0, 0, ATTUNE_CACHE_UNUSED, NULL, NULL, NULL, broken, nothing, nothing, NULL, NULL, NULL},
    {"huge", 0, 0, 0, ATTUNE_CACHE_UNUSED, NULL, NULL, NULL, huge, nothing, nothing, NULL, NULL, NULL}};
static const attune_kernel_desc kernels[] = {{"all", "nvvm", "everything", NULL, NULL}};
static const attune_gpu_function functions[] = {{"gather", 0, 0}, {"spread", 0, 0}, {"append", 0, 0}, {"absent", 0, 0}};
static attune_gpu_image images[] = {{ATTUNE_IMAGE_PTX, 80, 0, 0, ".ptx 80", 8},
                                    {ATTUNE_IMAGE_CUBIN, 80, 0, 0, "cubin 80", 8},
                                    {ATTUNE_IMAGE_PTX, 90, 1, 0, ".ptx 90a", 9},
                                    {ATTUNE_IMAGE_CUBIN, 10, 0, 0, NULL, 0}};
static attune_model_desc desc;
/* Refers to the CUDA functions of the runtime, as a generated header for GPUs does, so that they are linked. */
__attribute__((used)) static const struct attune_device_functions *device = &attune_cuda_device;

static void make_model(const char *image_path, const char *folder) {
  FILE *file = fopen(image_path, "rb");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  images[3].bytes = (uint64_t)ftell(file);
  void *data = malloc(images[3].bytes);
  images[3].data = data;
  rewind(file);
  CHECK(fread(data, 1, images[3].bytes, file) == images[3].bytes);
  fclose(file);
  desc = attune_model_fake;
  desc.name = "device";
  desc.num_entries = 4;
  desc.entries = entries;
  desc.num_kernels = 1;
  desc.kernels = kernels;
  desc.num_caches = 1;
  desc.caches = caches;
  desc.device = ATTUNE_DEVICE_CUDA;
  desc.num_images = 4;
  desc.images = images;
  desc.num_functions = 4;
  desc.functions = functions;
  char path[4096];
  snprintf(path, sizeof(path), "%s/device.weights", folder);
  fake_write_weights(path, NULL);
}

static attune_status open_model(const char *folder, int gpu, attune_model **model) {
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = folder;
  options.gpu = gpu;
  return attune_model_open(&desc, &options, model);
}

static attune_status make_session(attune_model *model, void *stream, attune_session **session) {
  static attune_dim_limit limits[] = {{"batch", 4}, {"length", 16}, {"past", 70}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 3;
  options.stream = stream;
  return attune_session_create(model, &options, session);
}

/* Functions of the CUDA driver, which the test calls as a program with GPU memory and streams of its own does. */
static int (*device_alloc)(void **, size_t), (*device_free)(void *), (*to_device)(void *, const void *, size_t, void *),
    (*to_host)(void *, const void *, size_t, void *), (*stream_create)(void **, unsigned), (*stream_wait)(void *),
    (*stream_destroy)(void *), (*init)(unsigned), (*retain)(void **, int), (*push)(void *), (*pop)(void **), (*current)(void **),
    (*begin_capture)(void *, int), (*end_capture)(void *, void **), (*instantiate)(void **, void *, unsigned long long),
    (*graph_launch)(void *, void *);
static void *context;

static void open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(library);
#define FIND(function, name) CHECK((*(void **)&function = dlsym(library, name)))
  FIND(device_alloc, "cuMemAlloc_v2");
  FIND(device_free, "cuMemFree_v2");
  FIND(to_device, "cuMemcpyHtoDAsync_v2");
  FIND(to_host, "cuMemcpyDtoHAsync_v2");
  FIND(stream_create, "cuStreamCreate");
  FIND(stream_wait, "cuStreamSynchronize");
  FIND(stream_destroy, "cuStreamDestroy_v2");
  FIND(init, "cuInit");
  FIND(retain, "cuDevicePrimaryCtxRetain");
  FIND(push, "cuCtxPushCurrent_v2");
  FIND(pop, "cuCtxPopCurrent_v2");
  FIND(current, "cuCtxGetCurrent");
  FIND(begin_capture, "cuStreamBeginCapture_v2");
  FIND(end_capture, "cuStreamEndCapture");
  FIND(instantiate, "cuGraphInstantiateWithFlags");
  FIND(graph_launch, "cuGraphLaunch");
  CHECK(init(0) == 0 && retain(&context, 0) == 0 && push(context) == 0);
}

/* A call of forward in host memory: 3 rows of 5 ids, and the result. The shape of the ids is the first two sizes of
 * |call_shape|. */
enum { ROWS = 3, LENGTH = 5, TOKENS = ROWS * LENGTH };
static int64_t call_ids[TOKENS];
static float call_hidden[TOKENS * 2];
static const int64_t call_shape[] = {ROWS, LENGTH, 2};

static void check_hidden(int64_t first) {
  for (int64_t i = 0; i < TOKENS; ++i)
    for (int j = 0; j < 2; ++j)
      CHECK(call_hidden[2 * i + j] == (float)(first + i) + (float)(i % LENGTH) / 2 + fake_weight(j));
}

static attune_status run_forward(attune_session *session, void *ids, void *hidden) {
  attune_tensor inputs[] = {{"ids", ATTUNE_I64, 2, call_shape, ids, sizeof(call_ids)}};
  attune_tensor outputs[] = {{"hidden", ATTUNE_F32, 3, call_shape, hidden, sizeof(call_hidden)}};
  return attune_session_run(session, "forward", inputs, 1, outputs, 1);
}

static void set_ids(int64_t first) {
  for (int64_t i = 0; i < TOKENS; ++i)
    call_ids[i] = first + i;
  memset(call_hidden, 0, sizeof(call_hidden));
}

static void test_host_memory(attune_model *model) {
  attune_session *session, *other;
  CHECK_OK(make_session(model, NULL, &session));
  CHECK_OK(make_session(model, NULL, &other)); /* both read the same weights on the GPU */
  CHECK(attune_session_num_threads(session) == 6);
  for (int64_t first = 0; first < 3; ++first) {
    set_ids(first);
    CHECK_OK(run_forward(first == 1 ? other : session, call_ids, call_hidden));
    check_hidden(first);
  }
  set_ids(95);
  CHECK_FAILS(run_forward(session, call_ids, call_hidden), ATTUNE_INVALID_ARGUMENT, "'ids' is 100 at [1, 0], expected 0 to 99");
  CHECK_FAILS(attune_session_run(session, "broken", NULL, 0, NULL, 0), ATTUNE_INTERNAL,
              "launches function number 3, which its sm_10 image lacks");
  CHECK_FAILS(attune_session_run(session, "huge", NULL, 0, NULL, 0), ATTUNE_DEVICE_ERROR,
              "launching 'gather' needs more than 2147483647 blocks, the most that a GPU launches at once");
  attune_session_destroy(other);
  attune_session_destroy(session);
}

static void test_device_memory(attune_model *model) {
  attune_session *session;
  void *ids, *hidden, *stream;
  CHECK(stream_create(&stream, 0) == 0);
  CHECK(device_alloc(&ids, sizeof(call_ids)) == 0 && device_alloc(&hidden, sizeof(call_hidden) + 16) == 0);
  for (int own = 0; own < 2; ++own) {
    CHECK_OK(make_session(model, own ? NULL : stream, &session));
    set_ids(7 + own);
    CHECK(to_device(ids, call_ids, sizeof(call_ids), stream) == 0);
    CHECK(!own || stream_wait(stream) == 0); /* the session's own stream does not wait for |stream| */
    CHECK_OK(run_forward(session, ids, hidden));
    CHECK(to_host(call_hidden, hidden, sizeof(call_hidden), stream) == 0 && stream_wait(stream) == 0);
    check_hidden(7 + own);
    /* Ids in host memory with a result in GPU memory, then the reverse. */
    set_ids(20);
    CHECK_OK(run_forward(session, call_ids, hidden));
    CHECK(to_host(call_hidden, hidden, sizeof(call_hidden), stream) == 0 && stream_wait(stream) == 0);
    check_hidden(20);
    set_ids(30);
    CHECK(to_device(ids, call_ids, sizeof(call_ids), stream) == 0);
    CHECK(!own || stream_wait(stream) == 0);
    CHECK_OK(run_forward(session, ids, call_hidden));
    check_hidden(30);
    CHECK_FAILS(run_forward(session, ids, (char *)hidden + 8), ATTUNE_INVALID_ARGUMENT, "'hidden' has data at ");
    CHECK_FAILS(run_forward(session, ids, ids), ATTUNE_INVALID_ARGUMENT, "output 'hidden' overlaps input 'ids'");
    attune_session_destroy(session);
  }
  device_free(ids);
  device_free(hidden);
  stream_destroy(stream);
}

/* Appends one token to each of |rows| slots and checks the sums. */
static void append(attune_session *session, int64_t rows, int64_t *slots, int64_t *ids, const float *expected) {
  int64_t shape[] = {rows, 1};
  float sums[4];
  attune_tensor inputs[] = {{"ids", ATTUNE_I64, 2, shape, ids, (size_t)rows * 8}, {"slots", ATTUNE_I64, 1, shape, slots, (size_t)rows * 8}};
  attune_tensor outputs[] = {{"sums", ATTUNE_F32, 1, shape, sums, sizeof(sums)}};
  CHECK_OK(attune_session_run(session, "decode", inputs, 2, outputs, 1));
  CHECK(memcmp(sums, expected, (size_t)rows * sizeof(float)) == 0);
}

static void test_caches(attune_model *model) {
  attune_session *session;
  CHECK_OK(make_session(model, NULL, &session));
  append(session, 2, (int64_t[]){0, 2}, (int64_t[]){10, 20}, (float[]){11, 21});
  append(session, 2, (int64_t[]){2, 1}, (int64_t[]){1, 5}, (float[]){23, 6});
  CHECK_OK(attune_session_slot_copy(session, 2, 3));
  append(session, 2, (int64_t[]){3, 2}, (int64_t[]){100, 0}, (float[]){124, 24});
  CHECK_OK(attune_session_slot_truncate(session, 3, 1));
  append(session, 1, (int64_t[]){3}, (int64_t[]){0}, (float[]){22});

  float read[2][2][2], written[1][2][2] = {{{1, 2}, {3, 4}}};
  int64_t slots[] = {3, 2}, shape[] = {2, 2, 2, 1}, one[] = {1, 2, 2, 1};
  attune_tensor tensor = {"values", ATTUNE_F32, 4, shape, read, sizeof(read)};
  CHECK_OK(attune_session_cache_read(session, slots, &tensor));
  CHECK(read[0][0][0] == 20 && read[0][0][1] == 0 && read[0][1][1] == 1 && read[1][0][1] == 1 && read[1][1][0] == 21);
  attune_tensor given = {"values", ATTUNE_F32, 4, one, written, sizeof(written)};
  CHECK_OK(attune_session_cache_write(session, (int64_t[]){1}, &given, 1));
  append(session, 1, (int64_t[]){1}, (int64_t[]){4}, (float[]){12});

  void *device;
  CHECK(device_alloc(&device, 64) == 0);
  attune_tensor inputs[] = {{"ids", ATTUNE_I64, 2, (int64_t[]){1, 1}, device, 8},
                            {"slots", ATTUNE_I64, 1, (int64_t[]){1}, (char *)device + 16, 8}};
  float sum;
  attune_tensor outputs[] = {{"sums", ATTUNE_F32, 1, (int64_t[]){1}, &sum, sizeof(sum)}};
  CHECK_FAILS(attune_session_run(session, "decode", inputs, 2, outputs, 1), ATTUNE_INVALID_ARGUMENT,
              "input 'slots' is on the GPU, but says which tokens the session keeps: host memory expected");
  attune_generation *generation;
  CHECK_FAILS(attune_generate(session, NULL, inputs, 1, &generation), ATTUNE_INVALID_ARGUMENT,
              "input 'ids' is in memory of the GPU, expected memory of the host, which attune_generate reads");
  device_free(device);
  attune_session_destroy(session);
}

static void test_options(attune_model *model, const char *folder) {
  attune_session_options options;
  attune_session_options_init(&options);
  attune_host host = {ATTUNE_ABI_VERSION, 0, NULL, 1, NULL, NULL, NULL, 0, NULL, NULL};
  attune_session *session;
  options.host = &host;
  CHECK_FAILS(attune_session_create(model, &options, &session), ATTUNE_INVALID_ARGUMENT,
              "a host is given, but model 'device' runs on a GPU");
  attune_model *other;
  CHECK_OK(open_model(folder, 1, &other));
  CHECK_FAILS(make_session(other, NULL, &session), ATTUNE_INVALID_ARGUMENT, "GPU number 1, the driver finds 0 to 0");
  attune_model_close(other);
  attune_model_options cpu;
  attune_model_options_init(&cpu);
  cpu.weights_path = folder;
  CHECK_OK(attune_model_open(&attune_model_fake, &cpu, &other));
  CHECK_FAILS(make_session(other, &host, &session), ATTUNE_INVALID_ARGUMENT, "a stream is given, but model 'fake' runs on the CPU");
  attune_model_close(other);
  CHECK_FAILS(make_session(model, (void *)2, &session), ATTUNE_INVALID_ARGUMENT,
              "the session's stream is the per-thread default stream (2)");
}

/* Calls in the caller's stream whose tensors are on the GPU return before their work is done. The memory from which
 * the session copies inputs that it makes itself, such as positions and the lengths of slots, must not change until
 * then. */
static void test_queued_calls(attune_model *model) {
  enum { CALLS = 4 };
  attune_session *session;
  int64_t ids[CALLS][TOKENS];
  float hidden[CALLS][TOKENS * 2], sums[CALLS];
  void *stream, *device_ids[CALLS], *device_hidden[CALLS], *device_sums[CALLS];
  CHECK(stream_create(&stream, 0) == 0);
  CHECK_OK(make_session(model, stream, &session));
  for (int i = 0; i < CALLS; ++i) {
    int64_t rows = 1 + i % 3, length = TOKENS / rows / (1 + i / 3), shape[] = {rows, length, 2};
    CHECK(device_alloc(&device_ids[i], sizeof(ids[i])) == 0 && device_alloc(&device_hidden[i], sizeof(hidden[i])) == 0 &&
          device_alloc(&device_sums[i], sizeof(sums[i])) == 0);
    for (int64_t j = 0; j < TOKENS; ++j)
      ids[i][j] = i + j;
    CHECK(to_device(device_ids[i], ids[i], sizeof(ids[i]), stream) == 0);
    attune_tensor input = {"ids", ATTUNE_I64, 2, shape, device_ids[i], sizeof(ids[i])};
    attune_tensor output = {"hidden", ATTUNE_F32, 3, shape, device_hidden[i], sizeof(hidden[i])};
    CHECK_OK(attune_session_run(session, "forward", &input, 1, &output, 1));
    /* Row 0 continues in slot 0. */
    attune_tensor token = {"ids", ATTUNE_I64, 2, (int64_t[]){1, 1}, device_ids[i], 8};
    attune_tensor sum = {"sums", ATTUNE_F32, 1, (int64_t[]){1}, device_sums[i], sizeof(float)};
    CHECK_OK(attune_session_run(session, "decode", &token, 1, &sum, 1));
    CHECK(to_host(hidden[i], device_hidden[i], (size_t)(rows * length) * 2 * sizeof(float), stream) == 0);
    CHECK(to_host(&sums[i], device_sums[i], sizeof(float), stream) == 0);
  }
  CHECK(stream_wait(stream) == 0);
  float sum = 0;
  for (int i = 0; i < CALLS; ++i) {
    int64_t rows = 1 + i % 3, length = TOKENS / rows / (1 + i / 3);
    for (int64_t j = 0; j < 2 * rows * length; ++j)
      CHECK(hidden[i][j] == (float)(i + j / 2) + (float)(j / 2 % length) / 2 + fake_weight(j % 2));
    sum += (float)i + 1;
    CHECK(sums[i] == sum);
  }
  /* Queued work is done before the session is destroyed, even if the stream is destroyed before it. */
  attune_tensor input = {"ids", ATTUNE_I64, 2, call_shape, device_ids[0], sizeof(ids[0])};
  attune_tensor output = {"hidden", ATTUNE_F32, 3, call_shape, device_hidden[0], sizeof(hidden[0])};
  CHECK_OK(attune_session_run(session, "forward", &input, 1, &output, 1));
  CHECK(stream_destroy(stream) == 0);
  attune_session_destroy(session);
  set_ids(0);
  CHECK(stream_create(&stream, 0) == 0 && to_host(call_hidden, device_hidden[0], sizeof(call_hidden), stream) == 0);
  CHECK(stream_wait(stream) == 0 && stream_destroy(stream) == 0);
  check_hidden(0);
  for (int i = 0; i < CALLS; ++i)
    CHECK(device_free(device_ids[i]) == 0 && device_free(device_hidden[i]) == 0 && device_free(device_sums[i]) == 0);
}

/* Tests calls whose stream is being captured into a graph. A call with all its tensors on the GPU is captured, and
 * replayed with the graph. Other calls are refused. In both cases the capture continues. */
static void test_captures(attune_model *model) {
  attune_session *session, *other;
  void *stream, *graph, *executable, *ids, *positions, *hidden;
  CHECK(stream_create(&stream, 0) == 0);
  CHECK_OK(make_session(model, stream, &session));
  CHECK_OK(make_session(model, NULL, &other));
  CHECK(device_alloc(&ids, sizeof(call_ids)) == 0 && device_alloc(&positions, sizeof(call_ids)) == 0 &&
        device_alloc(&hidden, sizeof(call_hidden)) == 0);
  for (int64_t i = 0; i < TOKENS; ++i)
    call_ids[i] = i % LENGTH;
  CHECK(to_device(positions, call_ids, sizeof(call_ids), stream) == 0 && stream_wait(stream) == 0);
  attune_tensor inputs[] = {{"ids", ATTUNE_I64, 2, call_shape, ids, sizeof(call_ids)},
                            {"positions", ATTUNE_I64, 2, call_shape, positions, sizeof(call_ids)}};
  attune_tensor outputs[] = {{"hidden", ATTUNE_F32, 3, call_shape, hidden, sizeof(call_hidden)}};

  CHECK(begin_capture(stream, 0) == 0);
  CHECK_OK(attune_session_run(session, "forward", inputs, 2, outputs, 1));
#define CAPTURED "the session's stream is being captured into a graph: "
  CHECK_FAILS(run_forward(session, ids, hidden), ATTUNE_INVALID_ARGUMENT, CAPTURED "input 'positions' is left out, expected in GPU memory");
  set_ids(1);
  CHECK_FAILS(run_forward(session, call_ids, hidden), ATTUNE_INVALID_ARGUMENT,
              CAPTURED "input 'ids' is in host memory, expected in GPU memory");
  outputs[0].data = call_hidden;
  CHECK_FAILS(attune_session_run(session, "forward", inputs, 2, outputs, 1), ATTUNE_INVALID_ARGUMENT,
              CAPTURED "output 'hidden' is in host memory, expected in GPU memory");
  int64_t id = 1, shape[] = {1, 2, 1, 1};
  float values[2], sum;
  attune_tensor token = {"ids", ATTUNE_I64, 2, (int64_t[]){1, 1}, &id, 8}, sums = {"sums", ATTUNE_F32, 1, (int64_t[]){1}, &sum, 4};
  CHECK_FAILS(attune_session_run(session, "decode", &token, 1, &sums, 1), ATTUNE_INVALID_ARGUMENT,
              CAPTURED "entry 'decode' uses the session's caches");
  CHECK_FAILS(attune_session_slot_copy(session, 0, 1), ATTUNE_INVALID_ARGUMENT, CAPTURED "copying a slot is not possible");
  attune_tensor cache = {"values", ATTUNE_F32, 4, shape, values, sizeof(values)};
  CHECK_FAILS(attune_session_cache_write(session, NULL, &cache, 1), ATTUNE_INVALID_ARGUMENT, CAPTURED "writing caches is not possible");
  CHECK(attune_session_slot_length(session, 0) == 0);
  attune_session *refused;
  CHECK_FAILS(make_session(model, stream, &refused), ATTUNE_INVALID_ARGUMENT, CAPTURED "making a session is not possible");
  CHECK_FAILS(make_session(model, (void *)1, &refused), ATTUNE_INVALID_ARGUMENT, "the session's stream is the default stream");
  /* Sessions in other streams continue, and may be created and destroyed. */
  set_ids(40);
  CHECK_OK(run_forward(other, call_ids, call_hidden));
  check_hidden(40);
  attune_session_destroy(other);
  CHECK_OK(make_session(model, NULL, &other));
  CHECK(end_capture(stream, &graph) == 0 && instantiate(&executable, graph, 0) == 0);

  for (int64_t first = 3; first < 6; ++first) {
    set_ids(first);
    CHECK(to_device(ids, call_ids, sizeof(call_ids), stream) == 0 && graph_launch(executable, stream) == 0);
    CHECK(to_host(call_hidden, hidden, sizeof(call_hidden), stream) == 0 && stream_wait(stream) == 0);
    check_hidden(first);
  }
  set_ids(9);
  CHECK_OK(run_forward(session, call_ids, call_hidden)); /* not captured: host memory is allowed */
  check_hidden(9);
  CHECK(begin_capture(stream, 0) == 0 && stream_wait(stream) != 0); /* waiting invalidates the capture */
  CHECK_FAILS(run_forward(session, ids, hidden), ATTUNE_INVALID_ARGUMENT, "the capture of the session's stream has been invalidated");
  CHECK(end_capture(stream, &graph) != 0);
  /* A session may be destroyed while its stream is being captured. */
  CHECK(begin_capture(stream, 0) == 0);
  attune_session_destroy(session);
  attune_session_destroy(other);
  CHECK(end_capture(stream, &graph) == 0);
  CHECK(device_free(ids) == 0 && device_free(positions) == 0 && device_free(hidden) == 0 && stream_destroy(stream) == 0);
}

/* Runs a session of a model beside the sessions of other threads. The thread has no current CUDA context before and
 * after each call. */
static void *run_thread(void *of_model) {
  attune_session *session;
  void *now;
  int64_t ids[TOKENS], shape[] = {ROWS, LENGTH, 2};
  float hidden[TOKENS * 2];
  CHECK_OK(make_session(of_model, NULL, &session));
  for (int64_t first = 0; first < 20; ++first) {
    for (int64_t i = 0; i < TOKENS; ++i)
      ids[i] = first + i;
    attune_tensor input = {"ids", ATTUNE_I64, 2, shape, ids, sizeof(ids)};
    attune_tensor output = {"hidden", ATTUNE_F32, 3, shape, hidden, sizeof(hidden)};
    CHECK_OK(attune_session_run(session, "forward", &input, 1, &output, 1));
    for (int64_t i = 0; i < 2 * TOKENS; ++i)
      CHECK(hidden[i] == (float)(first + i / 2) + (float)(i / 2 % LENGTH) / 2 + fake_weight(i % 2));
    append(session, 1, (int64_t[]){0}, (int64_t[]){1}, (float[]){2 * (float)(first + 1)});
    CHECK(attune_session_run(session, "broken", NULL, 0, NULL, 0) == ATTUNE_INTERNAL);
    CHECK(current(&now) == 0 && !now);
  }
  attune_session_destroy(session);
  CHECK(current(&now) == 0 && !now);
  return NULL;
}

static void test_threads(attune_model *model) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    CHECK(pthread_create(&threads[i], NULL, run_thread, model) == 0);
  for (int i = 0; i < 4; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Prints the outcome of making a session and calling it once. If that fails, tries again with other inputs in the same
 * memory: the failure must not be permanent, nor leave work behind that still reads this memory. */
static void report(attune_model *model) {
  attune_session *session = NULL;
  for (int attempt = 0; attempt < 2; ++attempt) {
    attune_status status = session ? ATTUNE_OK : make_session(model, NULL, &session);
    set_ids(attempt);
    if (status == ATTUNE_OK)
      status = run_forward(session, call_ids, call_hidden);
    printf("%s: %s\n", attune_status_name(status), status == ATTUNE_OK ? "" : attune_last_error());
    if (status == ATTUNE_OK) {
      check_hidden(attempt);
      break;
    }
  }
  attune_session_destroy(session);
}

/* Prints the outcome of the operation |what| on slot 0, "write" or "copy", and the lengths of slots 0 and 1. The test
 * makes the fake driver fail in the operation. A slot that the failure leaves with tokens of two sequences must become
 * empty. */
static void report_slots(attune_model *model, const char *what) {
  attune_session *session;
  CHECK_OK(make_session(model, NULL, &session));
  append(session, 2, (int64_t[]){0, 1}, (int64_t[]){10, 20}, (float[]){11, 21});
  float written[2] = {1, 2};
  attune_tensor given = {"values", ATTUNE_F32, 4, (int64_t[]){1, 2, 1, 1}, written, sizeof(written)};
  attune_status status =
      strcmp(what, "write") == 0 ? attune_session_cache_write(session, NULL, &given, 1) : attune_session_slot_copy(session, 1, 0);
  printf("%s: %s\n%d and %d tokens\n", attune_status_name(status), attune_last_error(), (int)attune_session_slot_length(session, 0),
         (int)attune_session_slot_length(session, 1));
  attune_session_destroy(session);
}

int main(int argc, char **argv) {
  CHECK(argc >= 3);
  make_model(argv[1], argv[2]);
  attune_model *model;
  CHECK_OK(open_model(argv[2], 0, &model)); /* needs no GPU yet */
  if (argc > 3) {
    if (strcmp(argv[3], "once") == 0)
      report(model);
    else
      report_slots(model, argv[3]);
    attune_model_close(model);
    return 0;
  }
  open_driver();
  test_host_memory(model);
  test_device_memory(model);
  test_caches(model);
  test_options(model, argv[2]);
  test_queued_calls(model);
  test_captures(model);
  test_threads(model);
  void *now;
  CHECK(current(&now) == 0 && now == context && pop(&now) == 0 && current(&now) == 0 && !now);
  attune_model_close(model);
  puts("ok");
  return 0;
}
