//===- grouped-product-run.c - Grouped products against their definition ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantizes rows of f32 and multiplies them by panels of random scales and integers in several formats. The integers,
// scales and sums of the rows, and the results, have the bits of a scalar reference that follows the pages of
// `tile.quantize_rows` and `tile.grouped_product`. All buffers end at inaccessible pages.
//
//===----------------------------------------------------------------------===//

#include "grouped-panels.h"

typedef void kernel(memref2 *x, memref2 *q, memref2 *scales, memref2 *sums, memref3 *panels, memref2 *out);
kernel _mlir_ciface_int4_32, _mlir_ciface_int8_32_asym, _mlir_ciface_int4_128, _mlir_ciface_int8_0_f32, _mlir_ciface_int4_16_asym_f32;

static const struct { weight_format format; kernel *run; } kernels[] = {
    {{"int4:32", 4, 32, 0, 2, 100}, _mlir_ciface_int4_32},
    {{"int8:32:asym", 8, 32, 1, 2, 64}, _mlir_ciface_int8_32_asym},
    {{"int4:128", 4, 128, 0, 2, 300}, _mlir_ciface_int4_128},
    {{"int8:0:f32", 8, 480, 0, 4, 460}, _mlir_ciface_int8_0_f32},
    {{"int4:16:asym:f32", 4, 16, 1, 4, 48}, _mlir_ciface_int4_16_asym_f32},
};

static void test(const weight_format *f, kernel *run, int M, int N) {
  grouped_panels panels = random_panels(f, N, &state);
  int groups = panels.groups, padded = groups * f->group, K = f->K;
  float *x = guarded(M * K), *scales = guarded(M * groups), *out = guarded(M * N);
  int8_t *q = (int8_t *)guarded(M * padded / 4);
  int32_t *sums = (int32_t *)guarded(M * groups);
  for (int i = 0; i < M * K; ++i)
    x[i] = uniform(&state) * (i % 7 ? 1 : 50);
  // Row 0 begins with a group of zeros, row 1 with a group of numbers so small that 127 / m overflows for their largest
  // magnitude m. Row 2 has an infinity in the first group and a NaN in the last. All integers of the last row are 127
  // or -127.
  if (M > 2) {
    for (int k = 0; k < f->group && k < K; ++k)
      x[k] = 0, x[K + k] = 1e-37f * uniform(&state);
    x[2 * K] = INFINITY;
    x[2 * K + K - 1] = -NAN;
  }
  for (int k = 0; k < K; ++k)
    x[(M - 1) * K + k] = k % 3 ? 1 : -1;
  memref2 x_ref = matrix_of(x, M, K, K), q_ref = matrix_of((float *)q, M, padded, padded);
  memref2 scales_ref = matrix_of(scales, M, groups, groups);
  memref2 sums_ref = matrix_of((float *)sums, M, groups, groups), out_ref = matrix_of(out, M, N, N);
  memref3 panels_ref = memref_of(&panels);
  run(&x_ref, &q_ref, &scales_ref, &sums_ref, &panels_ref, &out_ref);

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
        int index = index_of(&panels, n, g), sum = 0;
        for (int k = 0; k < f->group; ++k)
          sum += integer_of(&panels, n, g, k) * q[m * padded + g * f->group + k];
        want = fmaf((float)sum, scales[m * groups + g] * panels.scales[index], want);
        if (f->minima)
          want = fmaf(panels.minima[index], scales[m * groups + g] * (float)sums[m * groups + g], want);
      }
      want += 1; // the epilogue of the kernels adds 1
      if (!same(out[m * N + n], want))
        fail(f, "result", m, n, out[m * N + n], want);
      if (out[m * N + n] != out[m * N + n])
        out[m * N + n] = 0; // a NaN has many encodings
    }
  hash = checksum(hash, out, M * N);
  release_panels(&panels);
  release(x, M * K), release(scales, M * groups), release(out, M * N), release((float *)q, M * padded / 4);
  release((float *)sums, M * groups);
}

int main(void) {
  static const int columns[] = {1, 16, 31, 32, 33, 80}, rows[] = {1, 2, 3, 4, 5, 9};
  for (unsigned f = 0; f < sizeof(kernels) / sizeof(*kernels); ++f)
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
      for (unsigned j = 0; j < sizeof(columns) / sizeof(*columns); ++j)
        test(&kernels[f].format, kernels[f].run, rows[i], columns[j]);
  printf("%d failures, results %016llx\n", failures, (unsigned long long)hash);
  return failures != 0;
}
