/*===- run.c - Kernels by Halide against plain loops ----------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls the kernels of the .hk files in this folder with numbers of rows, columns and keys that take different paths
 * through the code. Checks each result, and that the elements of the outputs that do not belong to it are unchanged.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layout of halide_buffer_t; the kernels read only |host|. */
typedef struct {
  uint64_t unused[2];
  float *host;
  uint64_t rest[4];
} buffer;
int linear(buffer *, buffer *, buffer *, int32_t, int32_t, buffer *);
int values(buffer *, buffer *, int32_t, int32_t, int32_t, buffer *);
int norm(buffer *, buffer *, buffer *, int32_t, buffer *);
int attention(buffer *, buffer *, buffer *, buffer *, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, buffer *, buffer *,
              buffer *);

static uint32_t state = 1;
static float uniform(void) { return (float)((state = state * 1664525u + 1013904223u) >> 8) / (1 << 23) - 1; }
/* Returns |count| random numbers. The memory has room for one number more, which is not set. */
static buffer fill(size_t count) {
  buffer b = {{0}, malloc((count + 1) * sizeof(float)), {0}};
  for (size_t i = 0; i < count; ++i)
    b.host[i] = uniform();
  return b;
}
static buffer mark(size_t count) {
  buffer b = fill(count);
  for (size_t i = 0; i < count; ++i)
    b.host[i] = 77;
  return b;
}
static int failures;
static void check(const char *what, int a, int b, double got, double want) {
  if (!(fabs(got - want) <= 2e-5 * (1 + fabs(want))) && failures++ < 10)
    printf("%s %d %d: got %g, expected %g\n", what, a, b, got, want);
}

static void run_linear(int rows, int columns) {
  buffer x = fill(rows * 48), w = fill(48 * 32), bias = fill(columns), y = mark(rows * 144);
  linear(&x, &w, &bias, rows, columns, &y);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 144; ++j) {
      double sum = j < columns ? bias.host[j] : 0;
      for (int k = 0; k < 48 && j < columns; ++k)
        sum += (double)x.host[i * 48 + k] * w.host[k * 32 + j];
      check("linear", rows, columns, y.host[i * 144 + j], j < columns ? tanh(sum) : 77);
    }
  free(x.host), free(w.host), free(bias.host), free(y.host);
}

static void run_values(int rows, int keys) {
  buffer w = fill(rows * keys), v = fill((keys - 1) * 100 + 36), y = mark(rows * 100);
  values(&w, &v, rows, keys, keys, &y);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 100; ++j) {
      double sum = 0;
      for (int k = 0; k < keys && j < 36; ++k)
        sum += (double)w.host[i * keys + k] * v.host[k * 100 + j];
      check("values", rows, j, y.host[i * 100 + j], j < 36 ? 2 * sum : 77);
    }
  free(w.host), free(v.host), free(y.host);
}

static void run_norm(int rows) {
  buffer x = fill(rows * 77), scale = fill(77), shift = fill(77), y = mark((rows + 1) * 77);
  norm(&x, &scale, &shift, rows, &y);
  for (int i = 0; i < rows; ++i) {
    double sum = 0, squares = 0;
    for (int j = 0; j < 77; ++j)
      sum += x.host[i * 77 + j];
    for (int j = 0; j < 77; ++j)
      squares += pow(x.host[i * 77 + j] - sum / 77, 2);
    for (int j = 0; j < 77; ++j)
      check("norm", rows, j, y.host[i * 77 + j],
            (x.host[i * 77 + j] - sum / 77) / sqrt(squares / 77 + 1e-5) * scale.host[j] + shift.host[j]);
  }
  check("norm wrote beyond", rows, 0, y.host[rows * 77], 77);
  free(x.host), free(scale.host), free(shift.host), free(y.host);
}

static void run_attention(int queries, int keys) {
  int panels = (keys + 31) / 32, columns = panels * 32;
  buffer q = fill(queries * 192), k = fill(panels * 2048), v = fill((keys - 1) * 192 + 64), mask = fill(keys), o = mark(queries * 192);
  buffer x = mark(queries * columns), w = mark(queries * columns);
  for (int j = 0; j < keys; ++j) /* hides a quarter of the keys; a single key has the probability 1 anyway */
    mask.host[j] = mask.host[j] < -0.5f ? -3.4e38f : mask.host[j];
  attention(&q, &k, &v, &mask, queries, keys, panels, queries * columns, columns, queries * columns, columns, &o, &x, &w);
  for (int i = 0; i < queries; ++i) {
    double scores[256], largest = -INFINITY, sum = 0;
    for (int j = 0; j < keys; ++j) {
      double s = 0;
      for (int d = 0; d < 64; ++d)
        s += (double)q.host[i * 192 + d] * k.host[j / 32 * 2048 + d * 32 + j % 32];
      scores[j] = fmax(s * 0.125 + mask.host[j], -3.4e38);
      largest = fmax(largest, scores[j]);
    }
    for (int j = 0; j < keys; ++j)
      sum += scores[j] = exp(scores[j] - largest);
    for (int e = 0; e < 192; ++e) {
      double mixed = 0;
      for (int j = 0; j < keys && e < 64; ++j)
        mixed += scores[j] / sum * v.host[j * 192 + e];
      check("attention", queries, keys, o.host[i * 192 + e], e < 64 ? mixed : 77);
    }
  }
  free(q.host), free(k.host), free(v.host), free(mask.host), free(o.host), free(x.host), free(w.host);
}

int main(void) {
  static const int rows[] = {1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 23, 24, 25, 40, 64}, keys[] = {1, 5, 16, 31, 32, 33, 64, 100};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    for (int columns = 1; columns <= 32; columns += columns < 15 ? 7 : 1)
      run_linear(rows[i], columns);
    run_norm(1 + (int)i % 8);
    for (size_t j = 0; j < sizeof keys / sizeof *keys; ++j)
      run_attention(rows[i], keys[j]), run_values(rows[i], keys[j]);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
