/*===- entry.c - Runs the entry of entry.mlir ---------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The host has a minimal parallel_for, which starts threads for each loop. The workspace has exactly the size that the
 * entry asks for and ends at a page without access.
 *===-----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "attune/abi.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int32_t attune_entry_forward(const attune_host *, const attune_call *);
uint64_t attune_workspace_forward(const int64_t *, int64_t);
uint64_t attune_flops_forward(const int64_t *, int64_t);
void attune_work_forward(const int64_t *, attune_kernel_work *);

enum { WORKERS = 3, FEATURES = 24 };

typedef struct {
  attune_body_fn body;
  void *ctx;
  int64_t worker, n, grain;
} job;

/* Runs the ranges w, w + WORKERS, w + 2 WORKERS, … of a loop as worker w; a range has |grain| iterations. */
static void *work(void *arg) {
  job *j = arg;
  for (int64_t begin = j->worker * j->grain; begin < j->n; begin += WORKERS * j->grain)
    j->body(j->ctx, j->worker, begin, begin + j->grain < j->n ? begin + j->grain : j->n);
  return NULL;
}

static void parallel_for(void *pool, int64_t n, int64_t grain, attune_body_fn body, void *ctx) {
  pthread_t threads[WORKERS];
  job jobs[WORKERS];
  ++*(int *)pool;
  for (int w = 0; w < WORKERS; ++w) {
    jobs[w] = (job){body, ctx, w, n, grain};
    pthread_create(&threads[w], NULL, work, &jobs[w]);
  }
  for (int w = 0; w < WORKERS; ++w)
    pthread_join(threads[w], NULL);
}

static char *guarded(size_t bytes) {
  size_t pages = (bytes + 4095) / 4096 * 4096;
  char *base = mmap(NULL, pages + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(base + pages, 4096, PROT_NONE);
  return base + pages - bytes;
}

static int run(int64_t batch, int64_t length) {
  int64_t dims[2] = {batch, length}, n = batch * length;
  int calls = 0;
  attune_host host = {ATTUNE_ABI_VERSION, 0, &calls, WORKERS, parallel_for, NULL};
  float *x = malloc(sizeof(float) * n * FEATURES), *y = (float *)guarded(sizeof(float) * n * FEATURES),
        *sum = malloc(sizeof(float) * batch);
  char *weights = guarded(128 + sizeof(float) * FEATURES);
  for (int i = 0; i < n * FEATURES; ++i)
    x[i] = (float)(i % 97);
  for (int i = 0; i < FEATURES; ++i)
    ((float *)(weights + 128))[i] = (float)i;
  uint64_t bytes = attune_workspace_forward(dims, WORKERS);
  /* In bytes: the result of the first call of @layer and the buffer %t in a call, n rows of 96 each; 4 rows for each
   * worker; and the sums. All but the rows of workers are rounded up to 64. */
  uint64_t expected = 2 * ((n * 96 + 63) / 64 * 64) + WORKERS * 384 + (4 * batch + 63) / 64 * 64;
  const void *inputs[1] = {x};
  void *outputs[2] = {y, sum};
  attune_call call = {weights, guarded(bytes), NULL, NULL, dims, inputs, outputs};
  int status = attune_entry_forward(&host, &call), bad = 0;
  for (int i = 0; i < n * FEATURES; ++i)
    bad += y[i] != x[i] + 2.0f * (float)(i % FEATURES);
  for (int b = 0; b < batch; ++b) {
    float s = 0;
    for (int i = 0; i < length; ++i)
      s += y[(b * length + i) * FEATURES + 23];
    bad += s != sum[b];
  }
  attune_kernel_work work[2], works[2] = {{2, 48 * n, 96, 192 * n}, {1, 0, 0, 4 * batch}};
  attune_work_forward(dims, work);
  bad += memcmp(work, works, sizeof(work)) != 0;
  int ok = status == 0 && bad == 0 && calls == 5 && bytes == expected && attune_flops_forward(dims, 1) == (uint64_t)(48 * n);
  if (!ok)
    printf("%ld x %ld: status %d, %d bad, %d calls, workspace %lu (expected %lu)\n", (long)batch, (long)length, status, bad, calls,
           (unsigned long)bytes, (unsigned long)expected);
  return !ok;
}

int main(void) { return run(1, 1) + run(2, 5) + run(3, 7) + run(5, 64); }
