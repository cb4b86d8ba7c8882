/*===- SessionTest.c - Sessions: options, memory, no allocation in a run -----===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Usage: attune-test-session FOLDER (writable)
 *===-----------------------------------------------------------------------===*/

#include "Check.h"
#include "FakeModel.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* The number of allocations of the program, which the functions below count. */
static atomic_long allocations;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
void *malloc(size_t bytes) { return atomic_fetch_add(&allocations, 1), __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return atomic_fetch_add(&allocations, 1), __libc_calloc(count, bytes); }
void *realloc(void *old, size_t bytes) { return atomic_fetch_add(&allocations, 1), __libc_realloc(old, bytes); }
void *memalign(size_t align, size_t bytes) { return atomic_fetch_add(&allocations, 1), __libc_memalign(align, bytes); }
void *aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }
int posix_memalign(void **out, size_t align, size_t bytes) { return (*out = memalign(align, bytes)) ? 0 : ENOMEM; }

static const char *folder;
static attune_model *model;

static attune_session_options options_for(const attune_dim_limit *limits, size_t count, int64_t threads) {
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = count;
  options.num_threads = threads;
  return options;
}

static void test_run_allocates_nothing(void) {
  for (int64_t threads = 1; threads <= 4; ++threads) {
    attune_session *session = fake_session(folder, threads);
    fake_call call;
    fake_call_init(&call, 8, 16);
    long before = atomic_load(&allocations);
    CHECK(before > 0); /* the functions above replace those of libc */
    for (int i = 0; i < 20; ++i)
      CHECK_OK(attune_session_run(session, NULL, call.inputs, 1, call.outputs, 2));
    CHECK(atomic_load(&allocations) == before);
    fake_call_check(&call);
    /* Integers of 32 bits, which the session converts, need no allocation either: the session's memory has room for the
     * copies of the largest inputs that its limits allow. */
    static int32_t narrow[8 * 16];
    for (int i = 0; i < 8 * 16; ++i)
      narrow[i] = (int32_t)call.ids[i];
    attune_tensor ids = {"input_ids", ATTUNE_I32, 2, call.ids_shape, narrow, sizeof(narrow)};
    for (int i = 0; i < 20; ++i)
      CHECK_OK(attune_session_run(session, NULL, &ids, 1, call.outputs, 2));
    CHECK(atomic_load(&allocations) == before);
    fake_call_check(&call);
    fake_call_free(&call);
    attune_session_destroy(session);
  }
}

/* The caller's memory ends at a page without access. The fake model writes its whole workspace, which comes last in
 * this memory. */
static void test_guard_page(void) {
  long page = sysconf(_SC_PAGESIZE);
  for (int64_t threads = 1; threads <= 3; ++threads) {
    attune_dim_limit limits[] = {{"batch", 5}, {"length", 7}};
    attune_session_options options = options_for(limits, 2, threads);
    size_t bytes;
    CHECK_OK(attune_session_memory_bytes(model, &options, &bytes));
    CHECK(bytes % 64 == 0 && bytes > (size_t)(5 * 7 * threads * 64));
    size_t pages = (bytes + page - 1) / page * page;
    char *memory = mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory + pages, page, PROT_NONE) == 0);
    memset(memory, 0xa5, pages); /* sessions do not rely on zeros */
    options.memory = memory + pages - bytes;
    attune_session *session = NULL;
    options.memory_bytes = bytes - 1;
    CHECK_FAILS(attune_session_create(model, &options, &session), ATTUNE_OUT_OF_MEMORY, "the session's memory has");
    options.memory_bytes = bytes;
    long before = atomic_load(&allocations);
    CHECK_OK(attune_session_create(model, &options, &session));
    CHECK(threads > 1 || atomic_load(&allocations) == before); /* starting threads allocates */
    fake_call call;
    fake_call_init(&call, 5, 7);
    CHECK_OK(attune_session_run(session, NULL, call.inputs, 1, call.outputs, 2));
    fake_call_check(&call);
    fake_call_free(&call);
    attune_session_destroy(session);
    for (size_t i = 0; i < pages - bytes; ++i)
      CHECK(memory[i] == (char)0xa5);
    options.memory = memory + 8;
    CHECK_FAILS(attune_session_create(model, &options, &session), ATTUNE_INVALID_ARGUMENT, "a multiple of 64 expected");
    munmap(memory, pages + page);
  }
}

#define REFUSED(limits, count, threads, status, text)                                                                  \
  do {                                                                                                                 \
    attune_session_options refused = options_for(limits, count, threads);                                              \
    attune_session *none = (attune_session *)8;                                                                        \
    CHECK_FAILS(attune_session_create(model, &refused, &none), status, text);                                          \
    CHECK(none == NULL);                                                                                               \
  } while (0)

static void test_options(void) {
  attune_dim_limit unknown[] = {{"width", 5}}, zero[] = {{"batch", 0}}, over[] = {{"length", 17}},
                   unnamed[] = {{NULL, 1}};
  attune_dim_limit huge[] = {{"batch", INT64_MAX}}, large[] = {{"batch", 1ll << 36}};
  REFUSED(unknown, 1, 1, ATTUNE_INVALID_ARGUMENT, "model 'fake' has no dimension 'width' to limit");
  REFUSED(zero, 1, 1, ATTUNE_INVALID_ARGUMENT, "the limit of batch is 0, at least 1 expected");
  REFUSED(over, 1, 1, ATTUNE_LIMIT_EXCEEDED, "the session's limit of length is 17, the model's is 16");
  REFUSED(unnamed, 1, 1, ATTUNE_INVALID_ARGUMENT, "a limit has no name");
  REFUSED(huge, 1, 1, ATTUNE_LIMIT_EXCEEDED, "multiply to more than 2^40");
  REFUSED(large, 1, 1, ATTUNE_OUT_OF_MEMORY, "cannot get");
  REFUSED(NULL, 1, 1, ATTUNE_INVALID_ARGUMENT, "1 limits given but their array is null");
  REFUSED(NULL, 0, -1, ATTUNE_INVALID_ARGUMENT, "num_threads is -1");
  REFUSED(NULL, 0, 1025, ATTUNE_INVALID_ARGUMENT, "num_threads is 1025, 0 to 1024 expected");
  attune_session *session;
  size_t bytes;
  CHECK_FAILS(attune_session_create(NULL, NULL, &session), ATTUNE_INVALID_ARGUMENT, "the model is null");
  CHECK_FAILS(attune_session_create(model, NULL, NULL), ATTUNE_INVALID_ARGUMENT, "out_session is null");
  CHECK_FAILS(attune_session_memory_bytes(model, NULL, NULL), ATTUNE_INVALID_ARGUMENT, "out_bytes is null");
  CHECK_FAILS(attune_session_memory_bytes(NULL, NULL, &bytes), ATTUNE_INVALID_ARGUMENT, "the model is null");
  attune_session_options uninitialized;
  memset(&uninitialized, 0xff, sizeof(uninitialized));
  CHECK_FAILS(attune_session_create(model, &uninitialized, &session), ATTUNE_INVALID_ARGUMENT,
              "call attune_session_options_init first");
  attune_session_destroy(NULL);
  /* Defaults: as many workers as the affinity mask has CPUs, batch 1 since the model does not limit it, and length 16,
   * the model's limit. */
  CHECK_OK(attune_session_create(model, NULL, &session));
  CHECK(attune_session_num_threads(session) == attune_available_cpus());
  fake_call call;
  fake_call_init(&call, 1, 16);
  CHECK_OK(attune_session_run(session, NULL, call.inputs, 1, call.outputs, 2));
  fake_call_free(&call);
  fake_call_init(&call, 2, 16);
  CHECK_FAILS(attune_session_run(session, NULL, call.inputs, 1, call.outputs, 2), ATTUNE_LIMIT_EXCEEDED,
              "batch is 2, the limit of the session is 1");
  fake_call_free(&call);
  attune_session_destroy(session);
}

/* The parallel_for of a host that runs all iterations as the last of its three workers, and the number of its calls. */
static int64_t host_calls;
static void own_parallel_for(void *pool, int64_t n, int64_t grain, attune_body_fn body, void *ctx) {
  CHECK(pool == &host_calls);
  for (int64_t begin = 0; begin < n; begin += grain)
    body(ctx, 2, begin, begin + grain < n ? begin + grain : n);
  ++host_calls;
}

static void test_own_host(void) {
  attune_host host = {ATTUNE_ABI_VERSION, 0, &host_calls, 3, own_parallel_for, NULL, NULL, 0, NULL, NULL};
  attune_session_options options = options_for(NULL, 0, 0);
  options.host = &host;
  attune_session *session;
  CHECK_OK(attune_session_create(model, &options, &session));
  CHECK(attune_session_num_threads(session) == 3);
  fake_call call;
  fake_call_init(&call, 1, 9);
  CHECK_OK(attune_session_run(session, NULL, call.inputs, 1, call.outputs, 2));
  fake_call_check(&call);
  CHECK(host_calls == 2);
  fake_call_free(&call);
  attune_session_destroy(session);
  options.num_threads = 3;
  CHECK_FAILS(attune_session_create(model, &options, &session), ATTUNE_INVALID_ARGUMENT,
              "num_threads is 3 but a host is given");
  options.num_threads = 0;
  host.num_workers = 0;
  CHECK_FAILS(attune_session_create(model, &options, &session), ATTUNE_INVALID_ARGUMENT, "the host has 0 workers");
  host.num_workers = 1;
  host.abi_version = 0;
  CHECK_FAILS(attune_session_create(model, &options, &session), ATTUNE_INCOMPATIBLE, "the host has ABI version 0");
}

/* A caller whose thread flushes denormal numbers to zero gets the same bits and keeps its mode after the call. */
static void test_fp_environment(void) {
#if defined(__x86_64__)
  attune_session *session = fake_session(folder, 1);
  float offset = 1e-40f, scale[4] = {0, 0, 0, 0};
  int64_t four = 4;
  fake_call call;
  fake_call_init(&call, 1, 1);
  attune_tensor inputs[] = {
      call.inputs[0], {"offset", ATTUNE_F32, 0, NULL, &offset, 4}, {"scale", ATTUNE_F32, 1, &four, scale, 16}};
  unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8040); /* FTZ, DAZ */
  CHECK_OK(attune_session_run(session, NULL, inputs, 3, call.outputs, 2));
  CHECK((_mm_getcsr() & 0x8040) == 0x8040);
  _mm_setcsr(mode);
  CHECK(call.hidden[0] == 1e-40f + fake_weight(0) && call.hidden[0] != 0);
  fake_call_free(&call);
  attune_session_destroy(session);
#endif
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  folder = argv[1];
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = folder; /* where the next line leaves a weights file */
  attune_session_destroy(fake_session(folder, 1));
  CHECK_OK(attune_model_open(&attune_model_fake, &options, &model));
  test_run_allocates_nothing();
  test_guard_page();
  test_options();
  test_own_host();
  test_fp_environment();
  attune_model_close(model);
  puts("ok");
  return 0;
}
