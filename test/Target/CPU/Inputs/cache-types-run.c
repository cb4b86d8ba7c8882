//===- cache-types-run.c - Caches of bf16, f16 and int8 -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores keys and values in caches and compares the bytes with those of plain C. Then compares attention over the
// caches with attention over the same numbers in f32. Letters: S is the number of keys, D the head size of keys and
// values, W = 64 the number of keys of a panel, one in each column. Prints the sizes whose kernels it has run; a size
// without kernels is left out.
//
//===----------------------------------------------------------------------===//

#include "buffers.h"
#include <math.h>
#include <stdio.h>

enum { W = 64, MAX_S = 700, PANELS = (MAX_S + W - 1) / W, MAX_D = 64, ROWS = 5 };
enum type { BF16, F16, I8, F32 };
static const char *const names[] = {"bf16", "f16", "i8"};
static int failed = 0;

typedef void (*store_keys)(memref2 *keys, int64_t column, memref2 *panel);
typedef void (*store_rows)(memref2 *values, memref2 *rows);
typedef void (*attend)(memref3 *q, memref3 *k, memref2 *v, int64_t at, memref3 *out);
#define WEAK __attribute__((weak)) void
#define DECLARE(T, D)                                                                                                    \
  WEAK _mlir_ciface_keys_##T##_##D(memref2 *, int64_t, memref2 *);                                                      \
  WEAK _mlir_ciface_rows_##T##_##D(memref2 *, memref2 *);                                                               \
  WEAK _mlir_ciface_attend_##T##_##D(memref3 *, memref3 *, memref2 *, int64_t, memref3 *);
DECLARE(bf16, 20) DECLARE(f16, 20) DECLARE(i8, 20) DECLARE(f32, 20) DECLARE(bf16, 64) DECLARE(f16, 64) DECLARE(i8, 64) DECLARE(f32, 64)
#define ALL(NAME, D) {_mlir_ciface_##NAME##_bf16_##D, _mlir_ciface_##NAME##_f16_##D, _mlir_ciface_##NAME##_i8_##D
static const store_keys keys_of[2][3] = {ALL(keys, 20)}, ALL(keys, 64)}};
static const store_rows rows_of[2][3] = {ALL(rows, 20)}, ALL(rows, 64)}};
static const attend attend_of[2][4] = {ALL(attend, 20), _mlir_ciface_attend_f32_20}, ALL(attend, 64), _mlir_ciface_attend_f32_64}};

/// A component of a cache: its bits, and the number that they represent.
typedef struct {
  uint16_t stored;
  float value;
} element;

static element round_to(enum type type, float x) {
  element result;
  if (type == F16) {
    _Float16 half = (_Float16)x;
    memcpy(&result.stored, &half, 2);
    result.value = (float)half;
    return result;
  }
  uint32_t bits;
  memcpy(&bits, &x, 4);
  bits = isnan(x) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
  result.stored = bits >> 16;
  bits &= 0xffff0000;
  memcpy(&result.value, &bits, 4);
  return result;
}

/// Quantizes the |D| components of a token to |integers| and returns their scale. The scale is NaN if a component is
/// not finite, and 0 if all magnitudes are below 2^-119; the integers are 0 then.
static float quantize(const float *x, int D, int8_t *integers) {
  float most = 0;
  int finite = 1;
  for (int d = 0; d < D; ++d) {
    finite &= isfinite(x[d]) != 0;
    most = fmaxf(most, fabsf(x[d]));
  }
  for (int d = 0; d < D; ++d)
    integers[d] = finite && most >= 0x1p-119f ? (int8_t)nearbyintf(x[d] * (127 / most)) : 0;
  return !finite ? NAN : most >= 0x1p-119f ? most / 127 : 0;
}

/// Compares |count| keys (if |isKey|) or values, |D| components each, with their |bytes| in a cache. Component d of key
/// j is element d * W + j % W of panel j / W; component d of value j is element d of row j. In a cache of I8, the f32
/// scales of the W keys follow the integers of a panel, and the f32 scale of a value follows the integers of its row.
/// Writes the numbers that the cache should represent to |wide|, in the same layout in f32, without scales.
static void compare(enum type type, const float *x, int count, int D, int isKey, const uint8_t *bytes, float *wide) {
  for (int j = 0; j < count; ++j) {
    int8_t integers[MAX_D];
    float scale = quantize(x + j * D, D, integers), kept;
    int extent = type == I8 ? D + 4 : D;
    const uint8_t *panel = bytes + (isKey ? j / W * W : j) * extent * (type == I8 ? 1 : 2);
    if (type == I8) {
      memcpy(&kept, isKey ? panel + D * W + j % W * 4 : panel + D, 4);
      if (isnan(scale) ? !isnan(kept) : kept != scale)
        printf("%s: the scale of token %d of %d is %g instead of %g\n", names[type], j, count, kept, scale), failed++;
    }
    for (int d = 0; d < D; ++d) {
      int at = isKey ? d * W + j % W : d;
      element want = type == I8 ? (element){(uint8_t)integers[d], integers[d] * scale} : round_to(type, x[j * D + d]);
      uint16_t got = panel[at];
      if (type != I8)
        memcpy(&got, panel + 2 * at, 2);
      // A NaN has many encodings.
      int bothNan = type != I8 && isnan(want.value) && (got & 0x7fff) > (type == F16 ? 0x7c00 : 0x7f80);
      if (got != want.stored && !bothNan && failed++ < 20)
        printf("%s: component %d of token %d of %d (%a) is %x instead of %x\n", names[type], d, j, count, x[j * D + d], got, want.stored);
      wide[isKey ? (j / W * D + d) * W + j % W : j * D + d] = want.value;
    }
  }
}

static void run(enum type type, int config, int S, int chunk, int odd) {
  int D = config ? 64 : 20, extent = type == I8 ? D + 4 : D, size = type == I8 ? 1 : 2;
  uint64_t state = type * 1000003 + config * 10007 + S * 101 + chunk;
  static float k[MAX_S * MAX_D], v[MAX_S * MAX_D], q[ROWS * MAX_D], out[ROWS * MAX_D], want[ROWS * MAX_D];
  static float wide_k[PANELS * MAX_D * W], wide_v[MAX_S * MAX_D];
  static const float odd_ones[] = {0,         -0.0f, 1.00390625f, 1.01171875f, 0x1p-14f, 0x1.8p-24f, 0x1p-25f,   0x1p-130f,
                                   65519, 65520, 65504,       -3e38f,      INFINITY, NAN,        0x1.004p0f, 0x1.00cp0f};
  for (int i = 0; i < S * D; ++i) {
    k[i] = uniform(&state), v[i] = uniform(&state);
    // If |odd|, every third token has only zeros, magnitudes below 2^-119, or numbers of |odd_ones|.
    if (odd && i / D % 3 == 0)
      k[i] = v[i] = i / D % 4 == 0 ? 0 : i / D % 4 == 1 ? 0x1p-125f * k[i] : odd_ones[(i + S) % 16];
  }
  for (int i = 0; i < ROWS * D; ++i)
    q[i] = uniform(&state);
  float *panels = guarded((int64_t)PANELS * extent * W * size / 4), *rows = guarded(((int64_t)S * extent * size + 3) / 4);
  memset(panels, 0x7f, (size_t)PANELS * extent * W * size);
  for (int first = 0; first < S; first += chunk) { // a chunk may end one panel and begin others
    int end = first + chunk < S ? first + chunk : S;
    for (int j = first; j < end;) {
      int last = (j / W + 1) * W < end ? (j / W + 1) * W : end;
      memref2 keys = matrix_of(k + j * D, last - j, D, D);
      memref2 panel = matrix_of((float *)((char *)panels + (int64_t)(j / W) * extent * W * size), extent, W, W);
      keys_of[config][type](&keys, j % W, &panel);
      j = last;
    }
    memref2 values = matrix_of(v + first * D, end - first, D, D);
    memref2 to = matrix_of((float *)((char *)rows + (int64_t)first * extent * size), end - first, extent, extent);
    rows_of[config][type](&values, &to);
  }
  memset(wide_k, 0, sizeof(wide_k));
  compare(type, k, S, D, 1, (uint8_t *)panels, wide_k);
  compare(type, v, S, D, 0, (uint8_t *)rows, wide_v);
  if (!odd) {
    int R = S < ROWS ? S : ROWS;
    memref3 mq = cube_of(q, R, 1, D), mo = cube_of(out, R, 1, D), mw = cube_of(want, R, 1, D);
    memref3 mk = cube_of(panels, (S + W - 1) / W, extent, W), mwk = cube_of(wide_k, (S + W - 1) / W, D, W);
    memref2 mv = matrix_of(rows, S, extent, extent), mwv = matrix_of(wide_v, S, D, D);
    attend_of[config][type](&mq, &mk, &mv, S - R, &mo);
    attend_of[config][F32](&mq, &mwk, &mwv, S - R, &mw);
    for (int i = 0; i < R * D; ++i)
      if (!(fabsf(out[i] - want[i]) <= (type == I8 ? 1e-6f : 0)) && failed++ < 20)
        printf("%s: result %d is %.9g instead of %.9g, S %d, D %d\n", names[type], i, out[i], want[i], S, D);
  }
  release(panels, (int64_t)PANELS * extent * W * size / 4), release(rows, ((int64_t)S * extent * size + 3) / 4);
}

int main(void) {
  static const int sizes[] = {1, 2, 15, 16, 17, 63, 64, 65, 100, 513, 700}, chunks[] = {1, 3, 16, 37, 64, 700};
  for (int config = 0; config < 2; ++config) {
    if (!attend_of[config][F32])
      continue;
    for (int type = BF16; type <= I8; ++type)
      for (int s = 0; s < 11; ++s)
        for (int c = 0; c < 6; ++c)
          for (int odd = 0; odd < 2; ++odd)
            run(type, config, sizes[s], chunks[c], odd);
    printf("D %d\n", config ? 64 : 20);
  }
  printf("%d failures\n", failed);
  return failed != 0;
}
