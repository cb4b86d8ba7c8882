//===- vectorize-low-precision-run.c - Low-precision sums against plain ones -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies M rows of K operands by N columns of packed weights, first integers, then floats. Operands are 16-bit
// integers and f32; with -DBYTES, unsigned bytes and bf16; with -DBYTES and -DWIDE_FLOATS, unsigned bytes and f32.
// Weights are i8 and bf16. Operands have memory for a multiple of 32 rows, because the code for AMX reads 16 or 32 rows
// at a time.
//
//===----------------------------------------------------------------------===//

#include "buffers.h"
#include <math.h>
#include <stdio.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

enum { K = 128, WIDTH = 32, MAX_ROWS = 70 };
#ifdef BYTES
typedef uint8_t integer_operand;
enum { INTEGER_GROUP = 4 };
#else
typedef int16_t integer_operand;
enum { INTEGER_GROUP = 2 };
#endif
#if defined(BYTES) && !defined(WIDE_FLOATS)
typedef uint16_t float_operand;
#else
typedef float float_operand;
#endif

/// The descriptor of a memref of four dimensions, with elements of any type.
typedef struct { void *allocated, *aligned; int64_t offset, sizes[4], strides[4]; } memref4;

void _mlir_ciface_int_dots(memref2 *operands, memref4 *panels, memref2 *out);
void _mlir_ciface_float_dots(memref2 *operands, memref4 *panels, memref2 *out);

static int failures = 0;
static uint64_t hash = 14695981039346656037u, state = 7;

/// Returns memory of |bytes| bytes, rounded up to a multiple of 4, that ends at an inaccessible page.
static void *buffer(int64_t bytes) { return guarded((bytes + 3) / 4); }

static float from_bf16(uint16_t bits16) {
  uint32_t bits = (uint32_t)bits16 << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static uint16_t random_bf16(void) {
  float value = uniform(&state);
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits >> 16;
}

static memref4 panels_of(void *data, int panels, int columns, int group) {
  return (memref4){data, data, 0, {panels, K / group, columns < WIDTH ? columns : WIDTH, group}, {K * WIDTH, WIDTH * group, group, 1}};
}
/// Returns the index of the weight of column |n| and row |k|, from 0 to K - 1, in packed panels [panels, K / group,
/// WIDTH, group].
static int64_t place(int n, int k, int group) { return ((n / WIDTH * (K / group) + k / group) * WIDTH + n % WIDTH) * group + k % group; }

static void test_integers(int M, int N) {
  int panels = (N + WIDTH - 1) / WIDTH, rows = (M + 31) / 32 * 32;
  integer_operand *operands = buffer(rows * K * sizeof(integer_operand));
  int8_t *weights = buffer(panels * WIDTH * K);
  int32_t *out = buffer(M * N * 4);
  for (int i = 0; i < M * K; ++i)
    operands[i] = (integer_operand)(sizeof(integer_operand) == 1 ? 255 - (int)((uniform(&state) + 1) * 127) : (int)(uniform(&state) * 127));
  for (int i = 0; i < panels * WIDTH * K; ++i)
    weights[i] = (int8_t)(uniform(&state) * 127.9f);
  for (int i = 0; i < K; ++i) // the largest magnitudes, whose products and sums must not saturate
    operands[i] = sizeof(integer_operand) == 1 ? 255 : -127, weights[place(0, i, INTEGER_GROUP)] = -127;
  memref2 operands_ref = matrix_of((float *)operands, M, K, K), out_ref = matrix_of((float *)out, M, N, N);
  memref4 weights_ref = panels_of(weights, panels, N, INTEGER_GROUP);
  _mlir_ciface_int_dots(&operands_ref, &weights_ref, &out_ref);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      int32_t want = 0;
      for (int k = 0; k < K; ++k)
        want += operands[m * K + k] * weights[place(n, k, INTEGER_GROUP)];
      if (out[m * N + n] != want && failures++ < 10)
        printf("integers %d x %d: got %d, expected %d\n", M, N, out[m * N + n], want);
    }
  hash = checksum(hash, (float *)out, M * N);
  release((float *)operands, (rows * K * sizeof(integer_operand) + 3) / 4), release((float *)weights, panels * WIDTH * K / 4);
  release((float *)out, M * N);
}

static void test_floats(int M, int N) {
  int panels = (N + WIDTH - 1) / WIDTH, rows = (M + 31) / 32 * 32;
  float_operand *operands = buffer(rows * K * sizeof(float_operand));
  uint16_t *weights = buffer(panels * WIDTH * K * 2);
  float *out = buffer(M * N * 4), *values = malloc(M * K * 4);
  for (int i = 0; i < M * K; ++i) {
    uint16_t bits16 = random_bf16();
    values[i] = from_bf16(bits16);
    operands[i] = sizeof(float_operand) == 2 ? (float_operand)bits16 : (float_operand)values[i];
  }
  for (int i = 0; i < panels * WIDTH * K; ++i)
    weights[i] = random_bf16();
  memref2 operands_ref = matrix_of((float *)operands, M, K, K), out_ref = matrix_of(out, M, N, N);
  memref4 weights_ref = panels_of(weights, panels, N, 2);
  _mlir_ciface_float_dots(&operands_ref, &weights_ref, &out_ref);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double want = 0;
      for (int k = 0; k < K; ++k)
        want += (double)values[m * K + k] * from_bf16(weights[place(n, k, 2)]);
      // Each of the K partial sums has a magnitude of at most 11 with these operands and is rounded once, by at most
      // 2^-24 (about 6e-8) of its magnitude.
      if (!(fabs(out[m * N + n] - want) <= 6e-8 * 11 * K) && failures++ < 10)
        printf("floats %d x %d: got %g, expected %g\n", M, N, out[m * N + n], want);
    }
  free(values);
  release((float *)operands, (rows * K * sizeof(float_operand) + 3) / 4), release((float *)weights, panels * WIDTH * K / 2);
  release(out, M * N);
}

int main(void) {
#if defined(__linux__) && defined(BYTES)
  syscall(SYS_arch_prctl, 0x1023, 18); // ARCH_REQ_XCOMP_PERM: permission to use AMX tiles; fails without AMX
#endif
  static const int columns[] = {1, 15, 16, 17, 31, 32, 33, 64, 100};
  static const int rows[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 65};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
    for (unsigned j = 0; j < sizeof(columns) / sizeof(*columns); ++j)
      test_integers(rows[i], columns[j]), test_floats(rows[i], columns[j]);
  printf("%d failures, integers %016llx\n", failures, (unsigned long long)hash);
  return failures != 0;
}
