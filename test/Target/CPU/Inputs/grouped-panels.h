//===- grouped-panels.h - Panels of quantized weights ---------------*- C -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_TARGET_CPU_GROUPED_PANELS_H
#define ATTUNE_TEST_TARGET_CPU_GROUPED_PANELS_H

#include "buffers.h"
#include <math.h>
#include <stdio.h>

enum { WIDTH = 32 };

/// A format of quantized weights, and the number |K| of columns of the matrix. |bits| is the size of an integer,
/// |group| the number of columns of a group; |minima| is 1 if groups have minima, else 0; |scale_bytes| is the size of
/// a scale or minimum: 2 for f16, 4 for f32.
typedef struct {
  const char *name;
  int bits, group, minima, scale_bytes, K;
} weight_format;

/// Random weights: the |stream| of their panels of WIDTH rows, and copies in f32 of the scales and minima in the
/// stream. |groups| is the number of groups of a row, |panels| that of the panels of the matrix. A panel has |bytes|
/// bytes for each group: |head| bytes of scales and minima, then the integers.
typedef struct {
  weight_format format;
  int groups, panels, head, bytes;
  uint8_t *stream;
  float *scales, *minima; // [panels][groups][WIDTH]
} grouped_panels;

static inline float from_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float value = exponent ? ldexpf((float)(1024 + mantissa), exponent - 25) : ldexpf((float)mantissa, -24);
  return bits & 0x8000 ? -value : value;
}

/// Writes a random scale or minimum to |out|, in the type of the format |f|, and returns it as f32. Numbers of f16 are
/// sometimes negative or subnormal.
static inline float random_number(const weight_format *f, uint64_t *state, uint8_t *out) {
  if (f->scale_bytes == 4) {
    float value = uniform(state) * 0.01f;
    memcpy(out, &value, 4);
    return value;
  }
  uint16_t bits = (uint16_t)((uniform(state) + 1) * 0x1400) | (uniform(state) < -0.5f ? 0x8000 : 0);
  memcpy(out, &bits, 2);
  return from_half(bits);
}

static inline grouped_panels random_panels(const weight_format *f, int rows, uint64_t *state) {
  int groups = (f->K + f->group - 1) / f->group, panels = (rows + WIDTH - 1) / WIDTH, head = WIDTH * f->scale_bytes * (1 + f->minima);
  int bytes = head + WIDTH * f->group * f->bits / 8;
  grouped_panels p = {*f,
                      groups,
                      panels,
                      head,
                      bytes,
                      (uint8_t *)guarded(panels * groups * bytes / 4),
                      malloc(panels * groups * WIDTH * 4),
                      calloc(panels * groups * WIDTH, 4)};
  for (int group = 0; group < panels * groups; ++group) {
    uint8_t *at = p.stream + group * bytes;
    for (int n = 0; n < WIDTH; ++n) {
      p.scales[group * WIDTH + n] = random_number(f, state, at + n * f->scale_bytes);
      if (f->minima)
        p.minima[group * WIDTH + n] = random_number(f, state, at + (WIDTH + n) * f->scale_bytes);
    }
    for (int i = head; i < bytes; ++i)
      at[i] = i % 5 ? (uint8_t)((uniform(state) + 1) * 127.9f) : (i % 2 ? 255 : 0);
  }
  return p;
}

/// Returns the index of row |n| of the matrix and group |g| in |p|->scales and |p|->minima.
static inline int index_of(const grouped_panels *p, int n, int g) { return (n / WIDTH * p->groups + g) * WIDTH + n % WIDTH; }

/// Returns the integer q of row |n| of the matrix and column |k|, from 0, of group |g|.
static inline int integer_of(const grouped_panels *p, int n, int g, int k) {
  const uint8_t *codes = p->stream + (n / WIDTH * p->groups + g) * p->bytes + p->head;
  int code = p->format.bits == 8 ? codes[(k / 4 * WIDTH + n % WIDTH) * 4 + k % 4]
                                 : codes[(k / 8 * WIDTH + n % WIDTH) * 4 + k % 4] >> (k / 4 % 2 * 4) & 15;
  return code - (p->format.minima ? 0 : 1 << (p->format.bits - 1));
}

static int failures = 0;
static uint64_t hash = 14695981039346656037u, state = 7;

static void fail(const weight_format *f, const char *what, int row, int column, double got, double want) {
  if (failures++ < 10)
    printf("%s, %s of %d, %d: got %.9g, expected %.9g\n", f->name, what, row, column, got, want);
}

static int same(float a, float b) { return !memcmp(&a, &b, 4) || (a != a && b != b); }

static inline memref3 memref_of(const grouped_panels *p) { return cube_of((float *)p->stream, p->panels, p->groups, p->bytes); }

static inline void release_panels(grouped_panels *p) {
  release((float *)p->stream, p->panels * p->groups * p->bytes / 4);
  free(p->scales), free(p->minima);
}

#endif // ATTUNE_TEST_TARGET_CPU_GROUPED_PANELS_H
