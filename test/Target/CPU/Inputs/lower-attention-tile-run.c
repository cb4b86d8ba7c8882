//===- lower-attention-tile-run.c - Attention tiles against double --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares attention tiles and their softmax probabilities with a reference in double. Letters: R is the number of
// query rows, S the number of keys, D the head size of queries and keys, E the head size of values. Prints a line with
// the checksum of the results for each pair of sizes; those without kernels are left out.
//
//===----------------------------------------------------------------------===//

#include "buffers.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

typedef void (*tile)(memref2 *q, memref3 *k, memref2 *v, float scale, memref2 *mask, memref2 *out, memref2 *p);
typedef void (*panel)(memref2 *keys, memref2 *panel);

enum kind { PLAIN, SHARED, ROWS };

static const int sizes[][2] = {{5, 12}, {12, 5}, {64, 64}, {80, 50}};
#define WEAK __attribute__((weak)) void
#define DECLARE(D, E)                                                                                                    \
  WEAK _mlir_ciface_plain_##D##_##E(memref2 *, memref3 *, memref2 *, float, memref2 *, memref2 *, memref2 *);           \
  WEAK _mlir_ciface_shared_##D##_##E(memref2 *, memref3 *, memref2 *, float, memref2 *, memref2 *, memref2 *);          \
  WEAK _mlir_ciface_rows_##D##_##E(memref2 *, memref3 *, memref2 *, float, memref2 *, memref2 *, memref2 *);            \
  WEAK _mlir_ciface_panel_##D(memref2 *, memref2 *);
#define KERNELS(D, E) {_mlir_ciface_plain_##D##_##E, _mlir_ciface_shared_##D##_##E, _mlir_ciface_rows_##D##_##E}
DECLARE(5, 12) DECLARE(12, 5) DECLARE(64, 64) DECLARE(80, 50)
static const tile kernels[][3] = {KERNELS(5, 12), KERNELS(12, 5), KERNELS(64, 64), KERNELS(80, 50)};
static const panel panels[] = {_mlir_ciface_panel_5, _mlir_ciface_panel_12, _mlir_ciface_panel_64, _mlir_ciface_panel_80};

enum { MAX_S = 1100, PANELS = (MAX_S + 31) / 32 };
static int failed = 0;
static double worst = 0;
static uint64_t hash;

/// Checks element |at| of a result or of probabilities, and keeps the largest error in |worst|. Errors are absolute,
/// since no magnitude exceeds 1.
static void check(double got, double want, const char *what, int config, int kind, int R, int S, int at) {
  double error = fabs(got - want);
  if (!(error <= worst))
    worst = error;
  if (!(error <= 3e-6) && failed++ < 20)
    printf("%s of kind %d, D %d, E %d, R %d, S %d: element %d is %.9g instead of %.9g\n", what, kind, sizes[config][0],
           sizes[config][1], R, S, at, got, want);
}

static void reference(int R, int S, int D, int E, const float *q, int qs, const float *k, int ks, const float *v, int vs,
                      const float *mask, int ms, double head, int zero, double *out, double *p) {
  for (int i = 0; i < R; ++i) {
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < S; ++j) {
      double score = 0;
      for (int d = 0; d < D; ++d)
        score += (double)q[i * qs + d] * k[j * ks + d];
      double bias = mask ? mask[i * ms + j] : 0;
      // In f32 a mask this low absorbs the score, so all keys of a row with only such masks have the same probability.
      p[i * S + j] = bias <= -FLT_MAX ? -FLT_MAX : score * 0.5 + bias;
      largest = fmax(largest, p[i * S + j]);
    }
    for (int j = 0; j < S; ++j)
      sum += p[i * S + j] = exp(p[i * S + j] - largest);
    double factor = zero && largest <= -FLT_MAX ? 0 : head / sum;
    for (int j = 0; j < S; ++j)
      p[i * S + j] *= factor;
    for (int e = 0; e < E; ++e) {
      out[i * E + e] = 0;
      for (int j = 0; j < S; ++j)
        out[i * E + e] += p[i * S + j] * v[j * vs + e];
    }
  }
}

static void run(int config, int kind, int R, int S) {
  int D = sizes[config][0], E = sizes[config][1], qs = D + 3, ks = D + 7, vs = E + 5, mask_rows = kind == ROWS ? R : 1;
  uint64_t state = config * 1000003 + kind * 10007 + R * 101 + S;
  int64_t qn = (R - 1) * qs + D, kn = (S - 1) * (int64_t)ks + D, vn = (S - 1) * (int64_t)vs + E, on = (R - 1) * vs + E, mn = mask_rows * S;
  float *q = guarded(qn), *k = guarded(kn), *v = guarded(vn), *mask = guarded(mn), *out = guarded(on), *p = guarded(R * S);
  static float packed[PANELS * 80 * 32], alone[80], alone_p[MAX_S];
  static double want[8 * 80], want_p[8 * MAX_S];
  for (int i = 0; i < qn; ++i)
    q[i] = 2 * uniform(&state);
  for (int i = 0; i < kn; ++i)
    k[i] = uniform(&state);
  for (int i = 0; i < vn; ++i)
    v[i] = uniform(&state);
  // A mask hides about a third of the keys at random. A mask that all rows share hides all keys if R is even; masks of
  // single rows hide all keys of the last row.
  for (int i = 0; i < mn; ++i) {
    float low = state >> 60 & 1 ? -FLT_MAX : -INFINITY;
    mask[i] = uniform(&state) < -0.33f ? low : uniform(&state);
    if (kind == SHARED ? R % 2 == 0 : i / S == R - 1)
      mask[i] = low;
  }
  for (int b = 0; b * 32 < S; ++b) {
    memset(packed + b * D * 32, 0xff, D * 32 * 4); // NaN wherever the panel is not written
    memref2 keys = matrix_of(k + b * 32 * ks, S - b * 32 < 32 ? S - b * 32 : 32, D, ks), to = matrix_of(packed + b * D * 32, D, 32, 32);
    panels[config](&keys, &to);
    // The last group of 16 columns that has a key is filled up with zeros; the columns after it are not written.
    int written = (S - b * 32 + 15) / 16 * 16;
    for (int i = 0; i < D * 32; ++i)
      if (i % 32 < written ? packed[b * D * 32 + i] != (b * 32 + i % 32 < S ? k[(b * 32 + i % 32) * ks + i / 32] : 0)
                           : !isnan(packed[b * D * 32 + i]))
        printf("panel of D %d, S %d: wrong at %d of block %d\n", D, S, i, b), failed++;
  }
  float head = 0.75f;
  reference(R, S, D, E, q, qs, k, ks, v, vs, kind == PLAIN ? NULL : mask, kind == ROWS ? S : 0, kind == ROWS ? head : 1, kind == ROWS, want,
            want_p);
  memref3 mk = cube_of(packed, (S + 31) / 32, D, 32);
  memref2 mq = matrix_of(q, R, D, qs), mv = matrix_of(v, S, E, vs), mm = matrix_of(mask, mask_rows, S, S);
  memref2 mo = matrix_of(out, R, E, vs), mp = matrix_of(p, R, S, S);
  for (int i = 0; i < on; ++i)
    out[i] = NAN;
  kernels[config][kind](&mq, &mk, &mv, head, &mm, &mo, &mp);
  for (int i = 0; i < R; ++i)
    for (int e = 0; e < vs && i * vs + e < on; ++e)
      if (e < E)
        check(out[i * vs + e], want[i * E + e], "result", config, kind, R, S, i * E + e);
      else if (!isnan(out[i * vs + e]))
        printf("wrote beyond a row of the result, D %d, E %d\n", D, E), failed++;
  for (int i = 0; kind != PLAIN && i < R * S; ++i)
    check(p[i], want_p[i], "probability", config, kind, R, S, i);
  // Each row computed alone has the same bits.
  for (int i = 0; i < R; ++i) {
    memref2 one = matrix_of(q + i * qs, 1, D, qs), row = matrix_of(mask + (kind == ROWS ? i * S : 0), 1, S, S);
    memref2 to = matrix_of(alone, 1, E, E), to_p = matrix_of(alone_p, 1, S, S);
    kernels[config][kind](&one, &mk, &mv, head, &row, &to, &to_p);
    if (memcmp(alone, out + i * vs, E * 4) || (kind != PLAIN && memcmp(alone_p, p + i * S, S * 4)))
      printf("row %d of %d alone differs, kind %d, D %d, E %d, S %d\n", i, R, kind, D, E, S), failed++;
    hash = checksum(hash, alone, E);
  }
  release(q, qn), release(k, kn), release(v, vn), release(mask, mn), release(out, on), release(p, R * S);
}

/// Checks that attention without any key gives zeros, not NaN.
static void run_empty(void) {
  float q[12] = {1}, out[5], nothing[1];
  memref2 mq = matrix_of(q, 1, 12, 12), mv = matrix_of(nothing, 0, 5, 5), mo = matrix_of(out, 1, 5, 5), mm = matrix_of(nothing, 1, 0, 0);
  memref3 mk = cube_of(nothing, 0, 12, 32);
  kernels[1][ROWS](&mq, &mk, &mv, 1, &mm, &mo, &mm);
  for (int i = 0; i < 5; ++i)
    if (out[i] != 0)
      printf("without keys element %d is %g\n", i, out[i]), failed++;
}

int main(void) {
  static const int keys[] = {1, 2, 15, 16, 17, 31, 32, 33, 511, 512, 513, 1100};
  for (int config = 0; config < 4; ++config) {
    if (!kernels[config][PLAIN])
      continue;
    worst = 0, hash = 14695981039346656037u;
    for (int kind = PLAIN; kind <= ROWS; ++kind)
      for (int s = 0; s < 12; ++s)
        for (int R = 1; R <= 8; ++R)
          run(config, kind, R, keys[s]);
    printf("D %d, E %d: worst error %.3g, checksum %016llx\n", sizes[config][0], sizes[config][1], worst, (unsigned long long)hash);
  }
  run_empty();
  return failed != 0;
}
