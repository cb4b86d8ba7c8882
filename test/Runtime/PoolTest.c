/*===- PoolTest.c - Pools of workers: ranges, waiting, sharing of CPUs --------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reaches the pool of a session through a model whose entries only run loops or wait, and a pool without a session
 * through attune_pool_create. Built a second time with -fsanitize=thread.
 * Usage: attune-test-pool FOLDER (writable)
 *===-----------------------------------------------------------------------===*/

#include "Check.h"
#include "FakeModel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { MAX_N = 1000, MAX_WORKERS = 16 };

/* The context of a loop's body. */
typedef struct loop {
  const attune_host *host;
  int64_t n, grain;
  char seen[MAX_N];               /* not atomic: two workers on one index are a race, which -fsanitize=thread reports */
  atomic_int active[MAX_WORKERS]; /* the number of bodies that run as each worker */
  int nested;
} loop;

static void nested_body(void *ctx, int64_t worker, int64_t begin, int64_t end) {
  CHECK(*(int64_t *)ctx == worker && begin == 0 && end == 10);
  *(int64_t *)ctx = -1;
}

static void loop_body(void *ctx, int64_t worker, int64_t begin, int64_t end) {
  loop *l = ctx;
  CHECK(0 <= worker && worker < l->host->num_workers && 0 <= begin && begin < end && end <= l->n);
  CHECK(begin % l->grain == 0 && ((end - begin) % l->grain == 0 || end == l->n));
  CHECK(atomic_fetch_add(&l->active[worker], 1) == 0);
  for (int64_t i = begin; i < end; ++i)
    ++l->seen[i];
  if (l->nested) {
    int64_t mine = worker;
    l->host->parallel_for(l->host->pool, 10, 3, nested_body, &mine);
    CHECK(mine == -1);
  }
  atomic_fetch_sub(&l->active[worker], 1);
}

static void run_loop(const attune_host *host, int64_t n, int64_t grain, int nested) {
  loop l = {.host = host, .n = n, .grain = grain, .nested = nested};
  host->parallel_for(host->pool, n, grain, loop_body, &l);
  for (int64_t i = 0; i < MAX_N; ++i)
    CHECK(l.seen[i] == (i < n));
}

/* The entry "wait" sets |started| and returns when a test sets |finish|. */
static atomic_int started, finish;

static int32_t loops(const attune_host *host, const attune_call *call) {
  (void)call;
  static const int64_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 13, 64, 100, 127, 1000}, grains[] = {1, 2, 3, 8, 64, 2000};
  for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); ++s)
    for (size_t g = 0; g < sizeof(grains) / sizeof(*grains); ++g)
      for (int nested = 0; nested < 2; ++nested)
        run_loop(host, sizes[s], grains[g], nested);
  host->parallel_for(host->pool, -5, 1, loop_body, NULL);
  return 0;
}

static int32_t many(const attune_host *host, const attune_call *call) {
  (void)call;
  for (int i = 0; i < 2000; ++i)
    run_loop(host, 1 + i % 100, 1 + i % 5, 0);
  return 0;
}

static int32_t wait_for_finish(const attune_host *host, const attune_call *call) {
  (void)host, (void)call;
  atomic_store(&started, 1);
  while (!atomic_load(&finish))
    usleep(1000);
  return 0;
}

static int32_t note_workers(const attune_host *host, const attune_call *call);
static uint64_t no_workspace(const int64_t *dims, int64_t workers) { return (void)dims, (void)workers, 0; }
static const attune_entry_desc entries[] = {{.name = "loops", .run = loops, .workspace_bytes = no_workspace},
                                            {.name = "many", .run = many, .workspace_bytes = no_workspace},
                                            {.name = "note", .run = note_workers, .workspace_bytes = no_workspace},
                                            {.name = "wait", .run = wait_for_finish, .workspace_bytes = no_workspace}};
static attune_model *model;

static attune_session *session_with(int64_t threads) {
  attune_session_options options;
  attune_session_options_init(&options);
  options.num_threads = threads;
  attune_session *session;
  CHECK_OK(attune_session_create(model, &options, &session));
  return session;
}

static attune_status run(attune_session *session, const char *entry) {
  return attune_session_run(session, entry, NULL, 0, NULL, 0);
}

/* Runs loops in a session of |argument| workers, on a thread of test_many_sessions; the sessions share one model. */
static void *run_many(void *argument) {
  attune_session *session = session_with((int64_t)(intptr_t)argument);
  for (int i = 0; i < 3; ++i)
    CHECK_OK(run(session, i % 2 ? "loops" : "many"));
  attune_session_destroy(session);
  return NULL;
}

static void test_many_sessions(void) {
  pthread_t threads[6];
  for (intptr_t i = 0; i < 6; ++i)
    CHECK(pthread_create(&threads[i], NULL, run_many, (void *)(1 + i % 3)) == 0);
  for (int i = 0; i < 6; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
}

static void *run_wait(void *session) {
  CHECK_OK(run(session, "wait"));
  return NULL;
}

static void test_busy(void) {
  attune_session *session = session_with(2);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run_wait, session) == 0);
  while (!atomic_load(&started))
    usleep(1000);
  CHECK_FAILS(run(session, "loops"), ATTUNE_BUSY, "running another call");
  atomic_store(&finish, 1);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_OK(run(session, "loops")); /* any thread may make the next call */
  attune_session_destroy(session);
}

/* took_part[w] is 1 if worker w has run a part of the loop of note_workers. */
static atomic_int took_part[MAX_WORKERS];

static void note_worker(void *ctx, int64_t worker, int64_t begin, int64_t end) {
  (void)ctx, (void)begin, (void)end;
  atomic_store(&took_part[worker], 1);
  usleep(100); /* long enough for other workers to take a part */
}

static int32_t note_workers(const attune_host *host, const attune_call *call) {
  (void)call;
  host->parallel_for(host->pool, 100, 1, note_worker, NULL);
  return 0;
}

/* While another session runs a call, a loop runs on at most half of the CPUs; afterwards it runs on all again. */
static void test_sharing_cpus(void) {
  int64_t cpus = attune_available_cpus(), workers = cpus < MAX_WORKERS ? cpus : MAX_WORKERS, half = cpus > 1 ? cpus / 2 : 1;
  attune_session *other = session_with(2), *session = session_with(workers);
  pthread_t thread;
  usleep(10000); /* until the new workers sleep: those that spin would steal parts of the loop */
  atomic_store(&started, 0);
  atomic_store(&finish, 0);
  CHECK(pthread_create(&thread, NULL, run_wait, other) == 0);
  while (!atomic_load(&started))
    usleep(1000);
  CHECK_OK(run(session, "note"));
  for (int64_t w = 0; w < workers; ++w)
    CHECK(w < half || !atomic_load(&took_part[w]));
  atomic_store(&finish, 1);
  CHECK(pthread_join(thread, NULL) == 0);
  for (int tries = 0; tries < 100 && !atomic_load(&took_part[workers - 1]); ++tries)
    CHECK_OK(run(session, "note"));
  CHECK(atomic_load(&took_part[workers - 1]));
  attune_session_destroy(session);
  attune_session_destroy(other);
}

/* Tests a pool that belongs to no session: called directly, and as the host of a session. */
static void test_public_pool(void) {
  attune_pool *pool;
  for (int64_t threads = 1; threads <= 5; ++threads) {
    CHECK_OK(attune_pool_create(threads, &pool));
    CHECK(attune_pool_num_threads(pool) == threads);
    attune_host host = {ATTUNE_ABI_VERSION, 0, pool, threads, attune_pool_parallel_for, NULL, NULL, 0, NULL, NULL};
    CHECK(loops(&host, NULL) == 0);
    attune_session_options options;
    attune_session_options_init(&options);
    options.host = &host;
    attune_session *session;
    CHECK_OK(attune_session_create(model, &options, &session));
    CHECK(attune_session_num_threads(session) == threads);
    CHECK_OK(run(session, "many"));
    attune_session_destroy(session);
    attune_pool_destroy(pool);
  }
  CHECK_OK(attune_pool_create(0, &pool));
  CHECK(attune_pool_num_threads(pool) == attune_available_cpus());
  attune_pool_destroy(pool);
  CHECK_FAILS(attune_pool_create(-1, &pool), ATTUNE_INVALID_ARGUMENT, "num_threads is -1, 0 to 1024 expected");
  CHECK(!pool);
  CHECK_FAILS(attune_pool_create(ATTUNE_MAX_THREADS + 1, &pool), ATTUNE_INVALID_ARGUMENT, "num_threads is 1025, 0 to 1024 expected");
  CHECK_FAILS(attune_pool_create(1, NULL), ATTUNE_INVALID_ARGUMENT, "out_pool is null");
  attune_pool_destroy(NULL);
  CHECK(attune_pool_num_threads(NULL) == 0);
}

static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Checks that workers that wait use no CPU: at most 2 % of one CPU, which leaves room for sanitizers. */
static void test_idle(void) {
  attune_session *session = session_with(attune_available_cpus());
  CHECK_OK(run(session, "many"));
  usleep(10000);
  double before = cpu_seconds();
  usleep(500000);
  CHECK(cpu_seconds() - before < 0.01);
  attune_session_destroy(session);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  char path[4096];
  snprintf(path, sizeof(path), "%s/fake.weights", argv[1]);
  fake_write_weights(path, NULL);
  attune_model_desc desc = attune_model_fake;
  desc.entries = entries;
  desc.num_entries = sizeof(entries) / sizeof(*entries);
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = path;
  CHECK_OK(attune_model_open(&desc, &options, &model));
  for (int64_t threads = 1; threads <= 7; ++threads) {
    attune_session *session = session_with(threads);
    CHECK_OK(run(session, "loops"));
    CHECK_OK(run(session, "many"));
    attune_session_destroy(session);
  }
  for (int i = 0; i < 100; ++i) /* each is destroyed before, while or after its workers start */
    attune_session_destroy(session_with(1 + i % 4));
  test_many_sessions();
  test_busy();
  test_sharing_cpus();
  test_public_pool();
  test_idle();
  attune_model_close(model);
  puts("ok");
  return 0;
}
