/*===- soak.c - Runs concurrent sessions for a long time -----------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *  soak SECONDS SESSIONS THREADS: runs SESSIONS threads for SECONDS. Each of them calls a session of THREADS workers
 *  with random shapes, and replaces the session by a new one after CALLS calls. Every output must have the same bytes
 *  as that of a session of one worker that is alone in the process. Once each thread has destroyed two sessions, the
 *  resident memory may grow by at most 1 MiB plus the memory of SESSIONS sessions, since sessions come and go. Prints
 *  the numbers of calls, sessions and wrong outputs, and the highest memory before and after that moment. The exit
 *  status is 1 if an output is wrong or memory grows by more.
 *===-----------------------------------------------------------------------===*/
#include "attune/runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const attune_model_desc attune_model_soak;

enum { SHAPES = 24, MOST_BATCH = 5, MOST_LENGTH = 40, MOST_OUTPUTS = 4, MOST_SESSIONS = 64, CALLS = 100 };

/* One call: its batch and length, its ids and mask, and its expected outputs. */
typedef struct shape_case {
  int64_t dims[2], *ids, *mask;
  void *expected[MOST_OUTPUTS];
} shape_case;

static attune_model *model;
static const attune_entry_desc *entry;
static shape_case cases[SHAPES];
static int64_t threads;
static double deadline;
static atomic_long calls, wrong, made[MOST_SESSIONS];

static void must(attune_status status) {
  if (status == ATTUNE_OK)
    return;
  fprintf(stderr, "soak: error: %s\n", attune_last_error());
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* Returns the resident memory of the process in KiB; 0 if the system does not tell it. */
static long resident(void) {
  long total = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2)
    pages = 0;
  if (file)
    fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Returns a session for all shapes on |workers| threads and sets |bytes| to the bytes of its memory. */
static attune_session *make_session(int64_t workers, size_t *bytes) {
  attune_dim_limit limits[] = {{"batch", MOST_BATCH}, {"length", MOST_LENGTH}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 2;
  options.num_threads = workers;
  attune_session *session;
  must(attune_session_memory_bytes(model, &options, bytes));
  must(attune_session_create(model, &options, &session));
  return session;
}

/* Runs |c| into |outputs| and sets |bytes| to the sizes of the outputs. */
static void run(attune_session *session, const shape_case *c, void *const *outputs, size_t *bytes) {
  size_t size = (size_t)(c->dims[0] * c->dims[1]) * sizeof(int64_t);
  attune_tensor in[] = {{"input_ids", ATTUNE_I64, 2, c->dims, c->ids, size}, {"attention_mask", ATTUNE_I64, 2, c->dims, c->mask, size}},
                out[MOST_OUTPUTS];
  int64_t shapes[MOST_OUTPUTS][ATTUNE_MAX_RANK];
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    const attune_tensor_desc *desc = &entry->outputs[i];
    must(attune_output_shape(model, NULL, i, c->dims, shapes[i], &bytes[i]));
    out[i] = (attune_tensor){desc->name, (attune_dtype)desc->dtype, desc->rank, shapes[i], outputs[i], bytes[i]};
  }
  must(attune_session_run(session, NULL, in, 2, out, entry->num_outputs));
}

/* Returns memory for output |i| of a call with the largest batch and length. */
static void *make_output(uint32_t i) {
  int64_t dims[] = {MOST_BATCH, MOST_LENGTH}, shape[ATTUNE_MAX_RANK];
  size_t bytes;
  must(attune_output_shape(model, NULL, i, dims, shape, &bytes));
  return malloc(bytes);
}

static void make_cases(void) {
  size_t bytes[MOST_OUTPUTS];
  attune_session *alone = make_session(1, bytes);
  uint64_t state = 1;
  for (int s = 0; s < SHAPES; ++s) {
    shape_case *c = &cases[s];
    c->dims[0] = 1 + (int64_t)(next(&state) % MOST_BATCH);
    c->dims[1] = 1 + (int64_t)(next(&state) % MOST_LENGTH);
    int64_t tokens = c->dims[0] * c->dims[1];
    c->ids = malloc((size_t)tokens * sizeof(int64_t));
    c->mask = malloc((size_t)tokens * sizeof(int64_t));
    for (int64_t i = 0; i < tokens; ++i) {
      c->ids[i] = (int64_t)(next(&state) % (uint64_t)entry->inputs[0].max_value);
      c->mask[i] = i % c->dims[1] == 0 || next(&state) % 4 != 0;
    }
    for (uint32_t i = 0; i < entry->num_outputs; ++i)
      c->expected[i] = make_output(i);
    run(alone, c, c->expected, bytes);
  }
  attune_session_destroy(alone);
}

static void *work(void *number) {
  long own = (long)(intptr_t)number;
  uint64_t state = (uint64_t)own * 7919 + 3;
  size_t bytes[MOST_OUTPUTS];
  void *outputs[MOST_OUTPUTS];
  for (uint32_t i = 0; i < entry->num_outputs; ++i)
    outputs[i] = make_output(i);
  /* Makes at least four sessions, even if that takes longer than SECONDS. */
  while (now() < deadline || made[own] < 4) {
    attune_session *session = make_session(threads, bytes);
    for (int n = 0; n < CALLS; ++n) {
      const shape_case *c = &cases[next(&state) % SHAPES];
      run(session, c, outputs, bytes);
      ++calls;
      for (uint32_t i = 0; i < entry->num_outputs; ++i)
        if (memcmp(outputs[i], c->expected[i], bytes[i]) != 0 && wrong++ == 0)
          fprintf(stderr, "soak: error: '%s' of %lld x %lld differs from the session alone\n", entry->outputs[i].name,
                  (long long)c->dims[0], (long long)c->dims[1]);
    }
    attune_session_destroy(session);
    ++made[own];
  }
  for (uint32_t i = 0; i < entry->num_outputs; ++i)
    free(outputs[i]);
  return NULL;
}

/* Returns the smallest number of sessions that a thread has made and destroyed. */
static long least_made(long sessions) {
  long least = made[0];
  for (long i = 1; i < sessions; ++i)
    least = made[i] < least ? made[i] : least;
  return least;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  long sessions = atol(argv[2]);
  threads = atol(argv[3]);
  must(attune_model_open(&attune_model_soak, NULL, &model));
  entry = attune_model_entry(model, NULL);
  if (entry->num_outputs > MOST_OUTPUTS || sessions < 1 || sessions > MOST_SESSIONS)
    return 2;
  make_cases();
  size_t bytes;
  attune_session_destroy(make_session(threads, &bytes));
  deadline = now() + atof(argv[1]);
  pthread_t workers[MOST_SESSIONS];
  for (long i = 0; i < sessions; ++i)
    if (pthread_create(&workers[i], NULL, work, (void *)(intptr_t)i))
      return 2;
  long early = 0, highest = 0, most = 1024 + sessions * (long)(bytes / 1024);
  while (now() < deadline || least_made(sessions) < 4) {
    usleep(20000);
    long size = resident(), *mark = least_made(sessions) < 2 ? &early : &highest;
    *mark = size > *mark ? size : *mark;
  }
  long total = 0;
  for (long i = 0; i < sessions; ++i) {
    pthread_join(workers[i], NULL);
    total += made[i];
  }
  attune_model_close(model);
  printf("%ld calls, %ld sessions made, %ld wrong, memory at most %ld KiB at first, %ld later\n", (long)calls, total, (long)wrong, early,
         highest);
  if (highest > early + most)
    fprintf(stderr, "soak: error: memory grew by %ld KiB, expected at most %ld\n", highest - early, most);
  return wrong || highest > early + most;
}
