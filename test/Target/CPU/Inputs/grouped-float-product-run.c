//===- grouped-float-product-run.c - Grouped products of float rows -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies rows of f32, or of bf16 with -DBF16, by panels of random scales and integers in several formats. Results
// of f32 rows have the bits of a scalar reference that follows the page of `tile.grouped_product`. Results of f32 and
// bf16 rows are near the product by the weights `scale * q + minimum` in double. All buffers end at inaccessible pages.
//
//===----------------------------------------------------------------------===//

#include "grouped-panels.h"

#ifdef BF16
#define KERNEL(name) _mlir_ciface_##name##_bf16
enum { MULTIPLE = 2, IS_BF16 = 1 };
#else
#define KERNEL(name) _mlir_ciface_##name
enum { MULTIPLE = 1, IS_BF16 = 0 };
#endif

typedef void kernel(memref2 *x, memref3 *panels, memref2 *out);
kernel KERNEL(int4_32), KERNEL(int8_32_asym), KERNEL(int4_128), KERNEL(int8_0_f32), KERNEL(int4_16_asym_f32), KERNEL(int8_64);
static const struct { weight_format format; kernel *run; } kernels[] = {
    {{"int4:32", 4, 32, 0, 2, 418}, KERNEL(int4_32)},
    {{"int8:32:asym", 8, 32, 1, 2, 64}, KERNEL(int8_32_asym)},
    {{"int4:128", 4, 128, 0, 2, 300}, KERNEL(int4_128)},
    {{"int8:0:f32", 8, 480, 0, 4, 460}, KERNEL(int8_0_f32)},
    {{"int4:16:asym:f32", 4, 16, 1, 4, 57 + IS_BF16}, KERNEL(int4_16_asym_f32)},
    {{"int8:64", 8, 64, 0, 2, 10}, KERNEL(int8_64)},
};

/// Returns the sum of the |count| elements of a block, at most 32, in the order of note N2 of `tile.grouped_product`.
static float sum_of(const float *x, int count) {
  float lanes[16];
  for (int i = 0; i < 16; ++i) {
    lanes[i] = i < count ? x[i] : 0;
    if (count > 16)
      lanes[i] += i + 16 < count ? x[i + 16] : 0;
  }
  for (int half = 8; half; half /= 2)
    for (int i = 0; i < half; ++i)
      lanes[i] += lanes[i + half];
  return lanes[0];
}

static float reference(const grouped_panels *p, const float *x, int n) {
  int group = p->format.group, block = group < 32 ? group : 32;
  float acc = 0;
  for (int begin = 0; begin < p->format.K; begin += block) {
    int g = begin / group, count = p->format.K - begin < block ? p->format.K - begin : block, index = index_of(p, n, g);
    float sum = 0;
    for (int k = begin; k < begin + count; ++k)
      sum = fmaf((float)integer_of(p, n, g, k - g * group), x[k], sum);
    acc = fmaf(p->scales[index], sum, acc);
    if (p->format.minima)
      acc = fmaf(p->minima[index], sum_of(x + begin, count), acc);
  }
  return acc + 1; // the epilogue of the kernels adds 1
}

/// Compares |got| with the product in double. The rounding error of an f32 sum of K terms is less than K * 2^-24 times
/// the sum of the terms' magnitudes, in any order; half of that is enough here.
static void check(const grouped_panels *p, const float *x, int row, int n, float got) {
  double sum = 1, magnitude = 1;
  for (int k = 0; k < p->format.K; ++k) {
    int g = k / p->format.group, index = index_of(p, n, g);
    double q = integer_of(p, n, g, k - g * p->format.group), scale = p->scales[index], minimum = p->minima[index];
    sum += (scale * q + minimum) * x[k];
    magnitude += (fabs(scale * q) + fabs(minimum)) * fabs((double)x[k]);
  }
  if (!(fabs(got - sum) <= magnitude * (p->format.K + 8) * 0x1p-25))
    fail(&p->format, "distance", row, n, got, sum);
}

static void test(const weight_format *f, kernel *run, int M, int N) {
  grouped_panels panels = random_panels(f, N, &state);
  int K = f->K;
  float *x = guarded(M * K), *out = guarded(M * N), *rounded = guarded((M * K + 1) / 2);
  for (int i = 0; i < M * K; ++i) {
    x[i] = uniform(&state) * (i % 7 ? 1 : 50);
    if (IS_BF16) {
      uint32_t bits;
      memcpy(&bits, x + i, 4);
      bits &= 0xffff0000;
      memcpy(x + i, &bits, 4);
    }
  }
  if (M > 2 && !IS_BF16)
    x[2 * K] = INFINITY, x[2 * K + K - 1] = NAN, x[K + 1] = 1e-40f;
  uint16_t *halves = (uint16_t *)(rounded + (M * K + 1) / 2) - M * K;
  for (int i = 0; i < M * K; ++i)
    memcpy(halves + i, (uint16_t *)(x + i) + 1, 2);
  memref2 x_ref = matrix_of(IS_BF16 ? (float *)halves : x, M, K, K), out_ref = matrix_of(out, M, N, N);
  memref3 panels_ref = memref_of(&panels);
  run(&x_ref, &panels_ref, &out_ref);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float want = reference(&panels, x + m * K, n);
      if (!IS_BF16 && !same(out[m * N + n], want))
        fail(f, "result", m, n, out[m * N + n], want);
      if (want == want)
        check(&panels, x + m * K, m, n, out[m * N + n]);
      else
        out[m * N + n] = 0; // a NaN has many encodings
    }
  hash = checksum(hash, out, M * N);
  release_panels(&panels);
  release(x, M * K), release(out, M * N), release(rounded, (M * K + 1) / 2);
}

int main(void) {
  static const int columns[] = {1, 16, 31, 32, 33, 80}, rows[] = {1, 2, 3, 4, 5, 7, 12, 13, 25};
  for (unsigned f = 0; f < sizeof(kernels) / sizeof(*kernels); ++f)
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
      for (unsigned j = 0; j < sizeof(columns) / sizeof(*columns); ++j)
        test(&kernels[f].format, kernels[f].run, rows[i], columns[j]);
  printf("%d failures, results %016llx\n", failures, (unsigned long long)hash);
  return failures != 0;
}
