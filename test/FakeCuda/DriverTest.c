/*===- DriverTest.c - The rules of the fake driver ----------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * attune-test-fake-driver IMAGE TEST runs the test TEST of the table in main, on the driver in test/FakeCuda, and
 * prints "ok" if the test passes. IMAGE is a file with the emulated image of Inputs/kernels.ll. driver.test sets
 * ATTUNE_FAKE_CUDA as each test needs it.
 *===-----------------------------------------------------------------------===*/

#define _GNU_SOURCE
#include "Check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

typedef void *handle;
typedef unsigned long long address;

enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719 };
enum { CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_IMPLICIT = 906 };
enum { MAX_DYNAMIC_SHARED = 8, BLOCKING = 0, NON_BLOCKING = 1, GLOBAL = 0, RELAXED = 2 };
enum { COUNT = 32, BYTES = COUNT * sizeof(float) };

/* The functions of the driver: name in this program, name in the library, parameters. */
#define FUNCTIONS(F)                                                                                                                       \
  F(init, "cuInit", (unsigned))                                                                                                            \
  F(retain, "cuDevicePrimaryCtxRetain", (handle *, int))                                                                                   \
  F(push, "cuCtxPushCurrent_v2", (handle))                                                                                                 \
  F(pop, "cuCtxPopCurrent_v2", (handle *))                                                                                                 \
  F(current, "cuCtxGetCurrent", (handle *))                                                                                                \
  F(load, "cuModuleLoadDataEx", (handle *, const void *, unsigned, int *, void **))                                                        \
  F(find, "cuModuleGetFunction", (handle *, handle, const char *))                                                                         \
  F(set_attribute, "cuFuncSetAttribute", (handle, int, int))                                                                               \
  F(allocate, "cuMemAlloc_v2", (address *, size_t))                                                                                        \
  F(release, "cuMemFree_v2", (address))                                                                                                    \
  F(to_device, "cuMemcpyHtoDAsync_v2", (address, const void *, size_t, handle))                                                            \
  F(to_host, "cuMemcpyDtoHAsync_v2", (void *, address, size_t, handle))                                                                    \
  F(stream_create, "cuStreamCreate", (handle *, unsigned))                                                                                 \
  F(stream_wait, "cuStreamSynchronize", (handle))                                                                                          \
  F(is_capturing, "cuStreamIsCapturing", (handle, int *))                                                                                  \
  F(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *))                                                                            \
  F(begin_capture, "cuStreamBeginCapture_v2", (handle, int))                                                                               \
  F(end_capture, "cuStreamEndCapture", (handle, handle *))                                                                                 \
  F(instantiate, "cuGraphInstantiateWithFlags", (handle *, handle, unsigned long long))                                                    \
  F(graph_launch, "cuGraphLaunch", (handle, handle))                                                                                       \
  F(event_create, "cuEventCreate", (handle *, unsigned))                                                                                   \
  F(event_record, "cuEventRecord", (handle, handle))                                                                                       \
  F(event_wait, "cuEventSynchronize", (handle))                                                                                            \
  F(launch, "cuLaunchKernel", (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **))
#define DECLARE(name, symbol, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

static handle context, scale, streams[2];
static address device[2];
static float host[2][COUNT], result[2][COUNT];

static void open_driver(const char *path) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(library);
#define FIND(name, symbol, parameters) CHECK((*(void **)&name = dlsym(library, symbol)));
  FUNCTIONS(FIND)
  FILE *file = fopen(path, "rb");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  long bytes = ftell(file);
  void *image = malloc((size_t)bytes);
  rewind(file);
  CHECK(fread(image, 1, (size_t)bytes, file) == (size_t)bytes);
  fclose(file);
  handle module;
  CHECK(init(0) == 0 && retain(&context, 0) == 0 && push(context) == 0);
  CHECK(load(&module, image, 0, NULL, NULL) == 0 && find(&scale, module, "scale") == 0);
  free(image);
  for (int i = 0; i < 2; ++i) {
    CHECK(stream_create(&streams[i], BLOCKING) == 0 && allocate(&device[i], BYTES) == 0);
    for (int j = 0; j < COUNT; ++j)
      host[i][j] = (float)(100 * i + j);
  }
}

/* Launches a kernel that doubles the COUNT floats at |data|. */
static int launch_scale(address data, handle stream) {
  int64_t count = COUNT;
  float factor = 2;
  void *args[] = {&data, &data, &count, &factor};
  return launch(scale, 1, 1, 1, COUNT, 1, 1, 0, stream, args, NULL);
}

static int is_scaled(int i, float factor) {
  for (int j = 0; j < COUNT; ++j)
    if (result[i][j] != host[i][j] * factor)
      return 0;
  return 1;
}

/* Queues work in streams[i]: copies host[i] to device[i], doubles the numbers there, and copies them to result[i]. */
static void queue_all(int i) {
  CHECK(to_device(device[i], host[i], BYTES, streams[i]) == 0 && launch_scale(device[i], streams[i]) == 0);
  CHECK(to_host(result[i], device[i], BYTES, streams[i]) == 0);
}

/* With `lazy`, the work of a stream runs when a call waits for the stream. The work of another stream does not run
 * then. */
static void test_late(void) {
  queue_all(0);
  queue_all(1);
  CHECK(result[0][1] == 0 && result[1][1] == 0);
  CHECK(stream_wait(streams[1]) == 0 && is_scaled(1, 2) && result[0][1] == 0);
  CHECK(stream_wait(streams[0]) == 0 && is_scaled(0, 2));
}

/* With `lazy,random`, work of other streams also runs during a wait. Each stream keeps its own order. */
static void test_random(void) {
  float steps[2][16] = {{0}};
  for (int step = 0; step < 16; ++step)
    for (int i = 0; i < 2; ++i) {
      host[i][0] = 1;
      CHECK(step || to_device(device[i], host[i], BYTES, streams[i]) == 0);
      CHECK(launch_scale(device[i], streams[i]) == 0 && to_host(&steps[i][step], device[i], 4, streams[i]) == 0);
    }
  CHECK(stream_wait(streams[0]) == 0);
  int done = 0;
  while (done < 16 && steps[1][done] != 0)
    ++done;
  CHECK(done > 0);
  CHECK(stream_wait(streams[1]) == 0);
  for (int step = 0; step < 16; ++step)
    CHECK(steps[0][step] == (float)(2 << step) && steps[1][step] == (float)(2 << step));
}

/* Waiting for an event runs the work before it in its stream, and nothing after it. */
static void test_events(void) {
  handle event;
  CHECK(event_create(&event, 0) == 0);
  queue_all(0);
  CHECK(event_record(event, streams[0]) == 0 && launch_scale(device[0], streams[0]) == 0);
  CHECK(to_host(result[1], device[0], BYTES, streams[0]) == 0);
  CHECK(event_wait(event) == 0 && is_scaled(0, 2) && result[1][1] == 0);
  CHECK(stream_wait(streams[0]) == 0 && result[1][1] == 4 * host[0][1]);
}

/* The default stream and blocking streams wait for each other. Non-blocking streams and the default stream do not. */
static void test_default(void) {
  handle other;
  CHECK(stream_create(&other, NON_BLOCKING) == 0);
  queue_all(0);
  CHECK(to_host(result[1], device[0], BYTES, NULL) == 0 && launch_scale(device[0], streams[1]) == 0);
  CHECK(to_host(result[0], device[0], BYTES, other) == 0);
  CHECK(stream_wait(streams[1]) == 0 && is_scaled(0, 2) && result[1][1] == 2 * host[0][1]);
  CHECK(stream_wait(other) == 0 && is_scaled(0, 4));
}

static void test_changed(void) {
  CHECK(to_device(device[0], host[0], BYTES, streams[0]) == 0);
  host[0][3] = 0;
  CHECK(stream_wait(streams[0]) == LAUNCH_FAILED);
}

static void test_gone(void) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED && to_device(device[0], page, BYTES, streams[0]) == 0 && munmap(page, 4096) == 0);
  CHECK(stream_wait(streams[0]) == LAUNCH_FAILED);
}

static void test_gone_result(void) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED && to_host(page, device[0], BYTES, streams[0]) == 0 && munmap(page, 4096) == 0);
  CHECK(stream_wait(streams[0]) == LAUNCH_FAILED);
}

static void test_limits(void) {
  int64_t count = 0;
  float factor = 1;
  void *args[] = {&device[0], &device[0], &count, &factor};
#define LAUNCH(gx, gy, gz, bx, by, bz, shared) launch(scale, gx, gy, gz, bx, by, bz, shared, streams[0], args, NULL)
  CHECK(LAUNCH(1u << 31, 1, 1, 1, 1, 1, 0) == INVALID_VALUE && LAUNCH(1, 65536, 1, 1, 1, 1, 0) == INVALID_VALUE);
  CHECK(LAUNCH(1, 1, 65536, 1, 1, 1, 0) == INVALID_VALUE && LAUNCH(0, 1, 1, 1, 1, 1, 0) == INVALID_VALUE);
  CHECK(LAUNCH(1, 1, 1, 1025, 1, 1, 0) == INVALID_VALUE && LAUNCH(1, 1, 1, 1, 1, 65, 0) == INVALID_VALUE);
  CHECK(LAUNCH(1, 1, 1, 1, 1, 1, 64 << 10) == INVALID_VALUE);
  CHECK(set_attribute(scale, MAX_DYNAMIC_SHARED, 64 << 10) == 0 && LAUNCH(1, 1, 1, 1, 1, 1, 64 << 10) == 0);
  CHECK(LAUNCH(1, 1, 1, 1, 1, 1, (64 << 10) + 1) == INVALID_VALUE && set_attribute(scale, MAX_DYNAMIC_SHARED, 228 << 10) == INVALID_VALUE);
  CHECK(to_device(device[0] + 4, host[0], 4, streams[0]) == INVALID_VALUE &&
        to_host(result[0], device[0] + 8, 4, streams[0]) == INVALID_VALUE);
  CHECK(to_device(device[0], host[0], BYTES + 1, streams[0]) == INVALID_VALUE);
  CHECK(stream_wait(streams[0]) == 0);
}

static void test_freed(void) {
  CHECK(release(device[0]) == 0 && release(device[0]) == INVALID_VALUE);
  CHECK(to_device(device[0], host[0], BYTES, streams[0]) == INVALID_VALUE);
  CHECK(launch_scale(device[0], streams[0]) == 0 && stream_wait(streams[0]) == ILLEGAL_ADDRESS);
}

static void *work_without_context(void *unused) {
  (void)unused;
  handle popped;
  CHECK(stream_wait(streams[0]) == INVALID_CONTEXT && pop(&popped) == INVALID_CONTEXT && push(streams[0]) == INVALID_CONTEXT);
  CHECK(push(context) == 0 && stream_wait(streams[0]) == 0 && current(&popped) == 0 && popped == context && pop(&popped) == 0);
  CHECK(current(&popped) == 0 && !popped);
  return NULL;
}

static void *leave_context(void *unused) {
  (void)unused;
  CHECK(push(context) == 0);
  return NULL;
}

static void run_thread(void *(*body)(void *)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, body, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void test_contexts(void) { run_thread(work_without_context); }
static void test_unbalanced(void) { run_thread(leave_context); }

/* Captured work does not run at once, but at each launch of its graph. */
static void test_graph(void) {
  handle graph, executable;
  int status = -1;
  queue_all(0);
  CHECK(begin_capture(streams[0], GLOBAL) == 0 && is_capturing(streams[0], &status) == 0 && status == 1);
  CHECK(launch_scale(device[0], streams[0]) == 0 && to_host(result[0], device[0], BYTES, streams[0]) == 0);
  CHECK(end_capture(streams[0], &graph) == 0 && is_capturing(streams[0], &status) == 0 && status == 0);
  CHECK(stream_wait(streams[0]) == 0 && is_scaled(0, 2));
  CHECK(instantiate(&executable, graph, 0) == 0 && graph_launch(executable, streams[0]) == 0 && graph_launch(executable, streams[0]) == 0);
  CHECK(stream_wait(streams[0]) == 0 && is_scaled(0, 8));
}

/* Calls that a capture forbids fail and invalidate the capture. A thread in the capture mode "relaxed" may allocate
 * memory during a capture. */
static void test_broken_captures(void) {
  handle graph;
  address memory;
  int mode = RELAXED, status;
  CHECK(begin_capture(streams[0], GLOBAL) == 0 && stream_wait(streams[0]) == CAPTURE_UNSUPPORTED);
  CHECK(is_capturing(streams[0], &status) == 0 && status == 2 && launch_scale(device[0], streams[0]) == CAPTURE_INVALIDATED);
  CHECK(end_capture(streams[0], &graph) == CAPTURE_INVALIDATED);
  CHECK(begin_capture(streams[0], GLOBAL) == 0 && allocate(&memory, 16) == CAPTURE_UNSUPPORTED);
  CHECK(end_capture(streams[0], &graph) == CAPTURE_INVALIDATED);
  CHECK(begin_capture(streams[0], GLOBAL) == 0 && is_capturing(NULL, &status) == CAPTURE_IMPLICIT);
  CHECK(launch_scale(device[0], NULL) == CAPTURE_IMPLICIT && end_capture(streams[0], &graph) == CAPTURE_INVALIDATED);
  CHECK(capture_mode(&mode) == 0 && mode == GLOBAL);
  CHECK(begin_capture(streams[0], GLOBAL) == 0 && allocate(&memory, 16) == 0 && stream_wait(streams[1]) == 0);
  CHECK(end_capture(streams[0], &graph) == 0 && capture_mode(&mode) == 0 && mode == RELAXED);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {{"late", test_late},
               {"random", test_random},
               {"events", test_events},
               {"default", test_default},
               {"changed", test_changed},
               {"gone", test_gone},
               {"gone-result", test_gone_result},
               {"limits", test_limits},
               {"freed", test_freed},
               {"contexts", test_contexts},
               {"unbalanced", test_unbalanced},
               {"graph", test_graph},
               {"broken-captures", test_broken_captures}};
  CHECK(argc == 3);
  open_driver(argv[1]);
  for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); ++i)
    if (strcmp(tests[i].name, argv[2]) == 0) {
      tests[i].run();
      puts("ok");
      return 0;
    }
  fprintf(stderr, "no test '%s'\n", argv[2]);
  return 1;
}
