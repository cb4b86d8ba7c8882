//===- expand-math-accuracy.c - Sweeps of functions against double --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "buffers.h"
#include <math.h>
#include <stdio.h>

typedef void (*kernel)(memref1 *, memref1 *);
#define DECLARE(name) void _mlir_ciface_kernel_##name(memref1 *, memref1 *);
DECLARE(exp2) DECLARE(exp) DECLARE(erf) DECLARE(tanh) DECLARE(log) DECLARE(rsqrt)

static double rsqrt(double x) { return 1 / sqrt(x); }

static float from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

/// Returns the distance between neighboring f32 numbers at |x|.
static double ulp(double x) {
  int e;
  frexp(x, &e);
  return ldexp(1, (e < -125 ? -125 : e) - 24);
}

enum { N = 4096 + 15 }; // a multiple of a vector, and 15 for the scalar loop after it

static int failed = 0;
static uint64_t hash = 14695981039346656037u;

static void sweep(const char *name, kernel run, double (*exact)(double), int zero_below_normal, double limit) {
  static float x[N], y[N];
  double worst = 0, worst_at = 0;
  memref1 mx = vector_of(x, N), my = vector_of(y, N);
  uint32_t stride = 397; // between the bits of floats: about 10.8 million floats, both signs, all exponents
  for (uint64_t bits = 0; bits < 0x100000000u; bits += (uint64_t)stride * 4096) {
    for (int i = 0; i < 4096; ++i)
      x[i] = from_bits((uint32_t)(bits + (uint64_t)stride * i));
    for (int i = 4096; i < N; ++i)
      x[i] = x[(i * 271) % 4096];
    run(&mx, &my);
    hash = checksum(hash, y, N);
    for (int i = 0; i < N; ++i) {
      double want = exact(x[i]), got = y[i];
      if (i >= 4096 && memcmp(y + i, y + (i * 271) % 4096, 4))
        printf("%s(%a): scalar and vector differ\n", name, x[i]), failed = 1;
      if (zero_below_normal && want < 0x1p-126)
        want = 0;
      if (fabs(want) >= 0x1.ffffffp127) // rounds to infinity
        want = copysign(INFINITY, want);
      if (isnan(want) || isinf(want) || want == 0) {
        if (isnan(want) ? !isnan(got) : got != want)
          printf("%s(%a) is %a instead of %a\n", name, x[i], got, want), failed = 1;
        continue;
      }
      double error = fabs(got - want) / ulp(want);
      if (!(error <= worst))
        worst = error, worst_at = x[i];
    }
  }
  printf("%s %.3f ulp at %a\n", name, worst, worst_at);
  if (!(worst <= limit))
    printf("%s: expected at most %.3f ulp\n", name, limit), failed = 1;
}

static void expect(const char *name, kernel run, float at, float want) {
  float x[16], y[16];
  for (int i = 0; i < 16; ++i)
    x[i] = at;
  memref1 mx = vector_of(x, 16), my = vector_of(y, 16);
  run(&mx, &my);
  if (y[0] != want && !(isnan(y[0]) && isnan(want)))
    printf("%s(%a) is %a instead of %a\n", name, at, y[0], want), failed = 1;
}

int main(void) {
#define SWEEP(name, zero, limit) sweep(#name, _mlir_ciface_kernel_##name, name, zero, limit)
  SWEEP(exp2, 1, 0.8);
  SWEEP(exp, 1, 0.9);
  SWEEP(erf, 0, 1.2);
  SWEEP(tanh, 0, 1.7);
  SWEEP(log, 0, 0.9);
  SWEEP(rsqrt, 0, 1.5);
#define EXPECT(name, at, want) expect(#name, _mlir_ciface_kernel_##name, at, want)
  EXPECT(exp2, 0.0f, 1.0f);
  EXPECT(exp2, -0.0f, 1.0f);
  EXPECT(exp2, -126.0f, 0x1p-126f);
  EXPECT(exp2, -126.00001f, 0.0f);
  EXPECT(exp2, -INFINITY, 0.0f);
  EXPECT(exp2, 128.0f, INFINITY);
  EXPECT(exp2, INFINITY, INFINITY);
  EXPECT(exp2, NAN, NAN);
  EXPECT(exp, 0.0f, 1.0f);
  EXPECT(exp, -INFINITY, 0.0f);
  EXPECT(exp, INFINITY, INFINITY);
  EXPECT(exp, NAN, NAN);
  EXPECT(erf, INFINITY, 1.0f);
  EXPECT(erf, -INFINITY, -1.0f);
  EXPECT(tanh, INFINITY, 1.0f);
  EXPECT(tanh, -INFINITY, -1.0f);
  EXPECT(log, 1.0f, 0.0f);
  EXPECT(log, 0.0f, -INFINITY);
  EXPECT(log, -1.0f, NAN);
  EXPECT(rsqrt, 4.0f, 0.5f);
  printf("checksum %016llx\n", (unsigned long long)hash);
  return failed;
}
