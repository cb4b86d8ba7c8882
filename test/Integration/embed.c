/*===- embed.c - A compiled model inside a C program, watched ---------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs sessions that are made for exactly the shape of their calls. The memory of a session and each tensor end at a
 * page that must not be touched. The calls must not allocate memory.
 *===-----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "attune/runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern const attune_model_desc attune_model_bert;

/* Replaces the allocator by one that counts its calls. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
static volatile long allocations;
void *malloc(size_t bytes) {
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_realloc(old, bytes);
}

static void must(attune_status status) {
  if (status == ATTUNE_OK)
    return;
  printf("error: %s\n", attune_last_error());
  exit(1);
}

/* Returns memory of |bytes| bytes, rounded up to ATTUNE_ALIGNMENT, that ends at an inaccessible page. */
static void *guarded(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page;
  char *block = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED || mprotect(block + pages * page, page, PROT_NONE) != 0)
    exit(1);
  size_t rounded = (bytes + ATTUNE_ALIGNMENT - 1) / ATTUNE_ALIGNMENT * ATTUNE_ALIGNMENT;
  return block + pages * page - rounded;
}

/* Runs a batch three times on |threads| threads. Returns 1 if a run allocates or a value is not finite, else 0. */
static int run(attune_model *model, int64_t batch, int64_t length, int64_t threads) {
  attune_dim_limit limits[] = {{"batch", batch}, {"length", length}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 2;
  options.num_threads = threads;
  must(attune_session_memory_bytes(model, &options, &options.memory_bytes));
  options.memory = guarded(options.memory_bytes);
  attune_session *session;
  must(attune_session_create(model, &options, &session));

  const attune_entry_desc *entry = attune_model_entry(model, NULL);
  int64_t shape[] = {batch, length}, dims[8], shapes[8][ATTUNE_MAX_RANK];
  size_t bytes = (size_t)(batch * length) * sizeof(int64_t);
  int64_t *ids = guarded(bytes), *mask = guarded(bytes);
  for (int64_t i = 0; i < batch * length; ++i) {
    ids[i] = (i * 7919 + 13) % entry->inputs[0].max_value;
    mask[i] = i % length == 0 || i % 5 != 2;
  }
  attune_tensor inputs[] = {{"input_ids", ATTUNE_I64, 2, shape, ids, bytes}, {"attention_mask", ATTUNE_I64, 2, shape, mask, bytes}},
                outputs[8];
  must(attune_infer_dims(model, NULL, inputs, 2, dims));
  for (uint32_t i = 0; i < entry->num_outputs; ++i) {
    const attune_tensor_desc *desc = &entry->outputs[i];
    outputs[i] = (attune_tensor){desc->name, (attune_dtype)desc->dtype, desc->rank, shapes[i], NULL, 0};
    must(attune_output_shape(model, NULL, i, dims, shapes[i], &outputs[i].bytes));
    outputs[i].data = guarded(outputs[i].bytes);
  }

  long before = allocations;
  for (int i = 0; i < 3; ++i)
    must(attune_session_run(session, NULL, inputs, 2, outputs, entry->num_outputs));
  if (allocations != before) {
    printf("%ld allocations in runs of %lld x %lld\n", allocations - before, (long long)batch, (long long)length);
    return 1;
  }
  for (uint32_t i = 0; i < entry->num_outputs; ++i)
    for (size_t j = 0; j < outputs[i].bytes / sizeof(float); ++j)
      if (!isfinite(((const float *)outputs[i].data)[j])) {
        printf("%s[%zu] of %lld x %lld is not finite\n", outputs[i].name, j, (long long)batch, (long long)length);
        return 1;
      }
  attune_session_destroy(session);
  return 0;
}

int main(void) {
  static const int64_t lengths[] = {1, 2, 5, 16, 31, 33, 40};
  attune_model *model;
  must(attune_model_open(&attune_model_bert, NULL, &model));
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
    for (int64_t threads = 1; threads <= 3; ++threads)
      if (run(model, 1 + (int64_t)i % 4, lengths[i], threads))
        return 1;
  attune_model_close(model);
  printf("done\n");
  return 0;
}
