//===- buffers.h - Arguments of kernels called from C ---------------*- C -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_TARGET_CPU_BUFFERS_H
#define ATTUNE_TEST_TARGET_CPU_BUFFERS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// The descriptors of f32 memrefs of one to three dimensions, whose addresses MLIR's C interface passes. Sizes and
/// strides are in elements.
typedef struct { float *allocated, *aligned; int64_t offset, dims[2]; } memref1; // size, stride
typedef struct { float *allocated, *aligned; int64_t offset, sizes[2], strides[2]; } memref2;
typedef struct { float *allocated, *aligned; int64_t offset, sizes[3], strides[3]; } memref3;

static inline memref1 vector_of(float *data, int64_t n) { return (memref1){data, data, 0, {n, 1}}; }
static inline memref2 matrix_of(float *data, int64_t rows, int64_t columns, int64_t stride) {
  return (memref2){data, data, 0, {rows, columns}, {stride, 1}};
}
static inline memref3 cube_of(float *data, int64_t a, int64_t b, int64_t c) {
  return (memref3){data, data, 0, {a, b, c}, {b * c, c, 1}};
}

/// Returns |n| floats, all 0, that end at a page without access. Aborts if there is no memory.
static inline float *guarded(int64_t n) {
  int64_t page = sysconf(_SC_PAGESIZE), bytes = (n * 4 + page - 1) / page * page;
  char *base = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || mprotect(base + bytes, page, PROT_NONE))
    abort();
  return (float *)(base + bytes) - n;
}
static inline void release(float *data, int64_t n) {
  int64_t page = sysconf(_SC_PAGESIZE), bytes = (n * 4 + page - 1) / page * page;
  munmap((char *)(data + n) - bytes, bytes + page);
}

/// Returns a random number in [-1, 1) and advances |state|. The sequence is the same on every machine.
static inline float uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)((int32_t)(*state >> 40) - (1 << 23)) / (1 << 23);
}

/// Returns |hash| continued by the bits of |n| floats: FNV-1a, but by words of 32 bits instead of bytes.
static inline uint64_t checksum(uint64_t hash, const float *data, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    memcpy(&bits, data + i, 4);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

#endif // ATTUNE_TEST_TARGET_CPU_BUFFERS_H
