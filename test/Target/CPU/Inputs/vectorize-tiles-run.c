//===- vectorize-tiles-run.c - Tiles and row operations against double ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares three kinds of kernels with plain loops in double: projections of M rows to N columns by sums of K products,
// reductions of M rows of N elements, and gathers of M rows of N elements.
//
//===----------------------------------------------------------------------===//

#include "buffers.h"
#include <math.h>
#include <stdio.h>

enum { K = 9, WIDTH = 32, MAX_ROWS = 8, MAX_COLUMNS = 50, PANELS = 3, MANY_ROWS = 21 };

void _mlir_ciface_project(memref2 *x, memref3 *w, memref1 *bias, memref2 *sum, memref2 *out);
void _mlir_ciface_row_sum(memref2 *x, memref1 *out);
void _mlir_ciface_row_squares(memref2 *x, memref1 *out);
void _mlir_ciface_row_max(memref2 *x, memref1 *out);
void _mlir_ciface_gather(memref1 *ids, memref2 *table, memref2 *out);

static int failures = 0;
static uint64_t hash = 14695981039346656037u, state = 7;

static float *random_buffer(int64_t n) {
  float *data = guarded(n);
  for (int64_t i = 0; i < n; ++i)
    data[i] = uniform(&state);
  return data;
}

/// Compares |got|, a sum of at most |terms| + 1 numbers of magnitudes up to 1, with |want|. Each partial sum has a
/// magnitude of at most |terms| + 1 and is rounded once, by less than 1e-7 of its magnitude.
static void check(const char *what, float got, double want, int terms, int M, int N) {
  if (fabs(got - want) <= 1e-7 * (terms + 1) * (terms + 1))
    return;
  if (failures++ < 10)
    printf("%s %d x %d: got %g, expected %g\n", what, M, N, got, want);
}

static void test_project(int M, int N) {
  int panels = (N + WIDTH - 1) / WIDTH;
  float *x = random_buffer(M * K), *w = guarded(panels * K * WIDTH), *bias = random_buffer(N), *out = random_buffer(M * N);
#define W(k, n) w[((n) / WIDTH * K + (k)) * WIDTH + (n) % WIDTH]
  for (int k = 0; k < K; ++k) // columns beyond N are 0, as packing leaves them
    for (int n = 0; n < panels * WIDTH; ++n)
      W(k, n) = n < N ? uniform(&state) : 0;
  memref2 x_ref = matrix_of(x, M, K, K), out_ref = matrix_of(out, M, N, N);
  float *sums = random_buffer(M * N); // for the sums without the bias
  memref2 sum_ref = matrix_of(sums, M, N, N);
  memref3 w_ref = {w, w, 0, {panels, K, N < WIDTH ? N : WIDTH}, {K * WIDTH, WIDTH, 1}};
  memref1 bias_ref = vector_of(bias, N);
  _mlir_ciface_project(&x_ref, &w_ref, &bias_ref, &sum_ref, &out_ref);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double want = bias[n];
      for (int k = 0; k < K; ++k)
        want += (double)x[m * K + k] * W(k, n);
      check("project", out[m * N + n], want, K + 1, M, N);
    }
  hash = checksum(hash, out, M * N);
  release(x, M * K), release(w, panels * K * WIDTH), release(bias, N), release(out, M * N), release(sums, M * N);
}

static void test_rows(int M, int N) {
  float *x = random_buffer(M * N), *sum = random_buffer(M), *squares = random_buffer(M), *largest = random_buffer(M);
  memref2 x_ref = matrix_of(x, M, N, N);
  memref1 sum_ref = vector_of(sum, M), squares_ref = vector_of(squares, M), largest_ref = vector_of(largest, M);
  double want[MAX_ROWS][3];
  for (int m = 0; m < M; ++m) {
    want[m][0] = sum[m], want[m][1] = squares[m], want[m][2] = largest[m];
    for (int n = 0; n < N; ++n) {
      double v = x[m * N + n];
      want[m][0] += v, want[m][1] += v * v, want[m][2] = fmax(want[m][2], v);
    }
  }
  _mlir_ciface_row_sum(&x_ref, &sum_ref);
  _mlir_ciface_row_squares(&x_ref, &squares_ref);
  _mlir_ciface_row_max(&x_ref, &largest_ref);
  for (int m = 0; m < M; ++m) {
    check("row_sum", sum[m], want[m][0], N, M, N);
    check("row_squares", squares[m], want[m][1], N, M, N);
    check("row_max", largest[m], want[m][2], 0, M, N);
  }
  hash = checksum(checksum(checksum(hash, sum, M), squares, M), largest, M);
  release(x, M * N), release(sum, M), release(squares, M), release(largest, M);
}

static void test_gather(int M, int N) {
  enum { TABLE = 5 };
  int64_t ids[MAX_ROWS];
  float *table = random_buffer(TABLE * N), *out = random_buffer(M * N);
  for (int m = 0; m < M; ++m)
    ids[m] = (3 * m + 4) % TABLE;
  memref1 ids_ref = vector_of((float *)ids, M);
  memref2 table_ref = matrix_of(table, TABLE, N, N), out_ref = matrix_of(out, M, N, N);
  _mlir_ciface_gather(&ids_ref, &table_ref, &out_ref);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n)
      check("gather", out[m * N + n], table[ids[m] * N + n], 0, M, N);
  release(table, TABLE * N), release(out, M * N);
}

int main(void) {
  for (int M = 0; M <= MAX_ROWS; ++M) {
    for (int N = 1; N <= WIDTH; ++N)
      test_project(M, N);
    for (int N = 0; N <= MAX_COLUMNS; ++N)
      test_rows(M, N), test_gather(M, N);
  }
  // Sizes larger than a register tile: several panels and several groups of rows.
  for (int M = MAX_ROWS + 1; M <= MANY_ROWS; M += 3)
    for (int N = WIDTH - 1; N <= PANELS * WIDTH; N += 11)
      test_project(M, N);
  printf("%d failures, checksum %016llx\n", failures, (unsigned long long)hash);
  return failures != 0;
}
