//===- grouped-product-run.c - Grouped products against their definition ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of f32 are quantized and multiplied by panels of random scales and integers in several formats. Integers, scales,
// sums and results have the bits of a scalar reference that follows the pages of `tile.quantize_rows` and
// `tile.grouped_product`. All buffers end at inaccessible pages.
//
//===----------------------------------------------------------------------===//

#include "buffers.h"
#include <math.h>
#include <stdio.h>

enum { WIDTH = 32 };

typedef void kernel(memref2 *x, memref2 *q, memref2 *scales, memref2 *sums, memref3 *panels, memref2 *out);
kernel _mlir_ciface_int4_32, _mlir_ciface_int8_32_asym, _mlir_ciface_int4_128, _mlir_ciface_int8_0_f32, _mlir_ciface_int4_16_asym_f32;

/// A format: the bits of a code, the columns of a group, minima, bytes of a scale; and K of its kernel.
typedef struct { const char *name; kernel *run; int bits, group, minima, scale_bytes, K; } format;
static const format formats[] = {
    {"int4:32", _mlir_ciface_int4_32, 4, 32, 0, 2, 100},
    {"int8:32:asym", _mlir_ciface_int8_32_asym, 8, 32, 1, 2, 64},
    {"int4:128", _mlir_ciface_int4_128, 4, 128, 0, 2, 300},
    {"int8:0:f32", _mlir_ciface_int8_0_f32, 8, 480, 0, 4, 460},
    {"int4:16:asym:f32", _mlir_ciface_int4_16_asym_f32, 4, 16, 1, 4, 48},
};

static int failures = 0;
static uint64_t hash = 14695981039346656037u, state = 7;

static void fail(const format *f, const char *what, int row, int column, double got, double want) {
  if (failures++ < 10)
    printf("%s, %s of %d, %d: got %.9g, expected %.9g\n", f->name, what, row, column, got, want);
}

static int same(float a, float b) { return !memcmp(&a, &b, 4) || (a != a && b != b); }

static float from_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float value = exponent ? ldexpf((float)(1024 + mantissa), exponent - 25) : ldexpf((float)mantissa, -24);
  return bits & 0x8000 ? -value : value;
}

/// Writes a random number of a group, often subnormal or negative, and returns it.
static float random_number(const format *f, uint8_t *out) {
  if (f->scale_bytes == 4) {
    float value = uniform(&state) * 0.01f;
    memcpy(out, &value, 4);
    return value;
  }
  uint16_t bits = (uint16_t)((uniform(&state) + 1) * 0x1400) | (uniform(&state) < -0.5f ? 0x8000 : 0);
  memcpy(out, &bits, 2);
  return from_half(bits);
}

static void test(const format *f, int M, int N) {
  int groups = (f->K + f->group - 1) / f->group, padded = groups * f->group, panels = (N + WIDTH - 1) / WIDTH, K = f->K;
  int head = WIDTH * f->scale_bytes * (1 + f->minima), bytes = head + WIDTH * f->group * f->bits / 8;
  int zero = f->minima ? 0 : 1 << (f->bits - 1);
  float *x = guarded(M * K), *scales = guarded(M * groups), *out = guarded(M * N);
  int8_t *q = (int8_t *)guarded(M * padded / 4);
  int32_t *sums = (int32_t *)guarded(M * groups);
  uint8_t *stream = (uint8_t *)guarded(panels * groups * bytes / 4);
  float *weight_scales = malloc(panels * groups * WIDTH * 4), *minima = calloc(panels * groups * WIDTH, 4);
  for (int i = 0; i < M * K; ++i)
    x[i] = uniform(&state) * (i % 7 ? 1 : 50);
  // Groups of zeros, of numbers whose inverse overflows, of an infinity and of a NaN; the largest magnitudes.
  if (M > 2) {
    for (int k = 0; k < f->group && k < K; ++k)
      x[k] = 0, x[K + k] = 1e-37f * uniform(&state);
    x[2 * K] = INFINITY;
    x[2 * K + K - 1] = -NAN;
  }
  for (int k = 0; k < K; ++k)
    x[(M - 1) * K + k] = k % 3 ? 1 : -1;
  for (int p = 0; p < panels; ++p)
    for (int g = 0; g < groups; ++g) {
      uint8_t *at = stream + (p * groups + g) * bytes;
      for (int n = 0; n < WIDTH; ++n) {
        int index = (p * groups + g) * WIDTH + n;
        weight_scales[index] = random_number(f, at + n * f->scale_bytes);
        if (f->minima)
          minima[index] = random_number(f, at + (WIDTH + n) * f->scale_bytes);
      }
      for (int i = head; i < bytes; ++i)
        at[i] = i % 5 ? (uint8_t)((uniform(&state) + 1) * 127.9f) : (i % 2 ? 255 : 0);
    }
  memref2 x_ref = matrix_of(x, M, K, K), q_ref = matrix_of((float *)q, M, padded, padded);
  memref2 scales_ref = matrix_of(scales, M, groups, groups);
  memref2 sums_ref = matrix_of((float *)sums, M, groups, groups), out_ref = matrix_of(out, M, N, N);
  memref3 panels_ref = cube_of((float *)stream, panels, groups, bytes);
  f->run(&x_ref, &q_ref, &scales_ref, &sums_ref, &panels_ref, &out_ref);

  for (int m = 0; m < M; ++m)
    for (int g = 0; g < groups; ++g) {
      float largest = 0;
      int finite = 1, sum = 0;
      for (int k = g * f->group; k < (g + 1) * f->group && k < K; ++k)
        finite &= isfinite(x[m * K + k]) != 0, largest = fmaxf(largest, fabsf(x[m * K + k]));
      int none = !finite || largest < 0x1p-119f;
      float scale = !finite ? NAN : none ? 0 : largest / 127, inverse = none ? 0 : 127 / largest;
      for (int k = g * f->group; k < (g + 1) * f->group; ++k) {
        int want = none || k >= K ? 0 : (int)nearbyintf(x[m * K + k] * inverse);
        if (q[m * padded + k] != want)
          fail(f, "integer", m, k, q[m * padded + k], want);
        sum += want;
      }
      if (!same(scales[m * groups + g], scale))
        fail(f, "scale", m, g, scales[m * groups + g], scale);
      if (sums[m * groups + g] != sum)
        fail(f, "sum", m, g, sums[m * groups + g], sum);
    }
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float want = 0;
      for (int g = 0; g < groups; ++g) {
        const uint8_t *codes = stream + (n / WIDTH * groups + g) * bytes + head;
        int index = (n / WIDTH * groups + g) * WIDTH + n % WIDTH, sum = 0;
        for (int k = 0; k < f->group; ++k) {
          int code = f->bits == 8 ? codes[(k / 4 * WIDTH + n % WIDTH) * 4 + k % 4]
                                  : codes[(k / 8 * WIDTH + n % WIDTH) * 4 + k % 4] >> (k / 4 % 2 * 4) & 15;
          sum += (code - zero) * q[m * padded + g * f->group + k];
        }
        want = fmaf((float)sum, scales[m * groups + g] * weight_scales[index], want);
        if (f->minima)
          want = fmaf(minima[index], scales[m * groups + g] * (float)sums[m * groups + g], want);
      }
      want += 1; // the epilogue
      if (!same(out[m * N + n], want))
        fail(f, "result", m, n, out[m * N + n], want);
      if (out[m * N + n] != out[m * N + n])
        out[m * N + n] = 0; // NaNs have many bits
    }
  hash = checksum(hash, out, M * N);
  free(weight_scales), free(minima);
  release(x, M * K), release(scales, M * groups), release(out, M * N), release((float *)q, M * padded / 4);
  release((float *)sums, M * groups), release((float *)stream, panels * groups * bytes / 4);
}

int main(void) {
  static const int columns[] = {1, 16, 31, 32, 33, 80}, rows[] = {1, 2, 3, 4, 5, 9};
  for (unsigned f = 0; f < sizeof(formats) / sizeof(*formats); ++f)
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
      for (unsigned j = 0; j < sizeof(columns) / sizeof(*columns); ++j)
        test(&formats[f], rows[i], columns[j]);
  printf("%d failures, results %016llx\n", failures, (unsigned long long)hash);
  return failures != 0;
}
