//===- lower-quantize-rows-run.c - Quantized rows against plain ones ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call quantizes two rows. The second row is zeros, or random, or random but for a NaN or an infinity in one
// column; each column has one in turn.
//
//===----------------------------------------------------------------------===//

#include "buffers.h"
#include <math.h>
#include <stdio.h>

typedef void quantize(memref2 *input, memref2 *quantized, memref1 *scales);
quantize _mlir_ciface_bytes_131, _mlir_ciface_bytes_64, _mlir_ciface_bytes_5;

static int failures = 0;
static uint64_t hash = 14695981039346656037u, state = 7;

/// Checks the |padded| quantized values of row |x|, which has |columns| numbers, and its |scale|. 128 is added to each
/// quantized value, so the values of the padding are 128.
static void check_row(const float *x, int columns, const uint8_t *quantized, int padded, float scale) {
  float largest = 0;
  for (int k = 0; k < columns; ++k)
    largest = fmaxf(largest, fabsf(x[k]));
  int wrong = scale != largest / 127;
  float inverse = 127 / (largest == 0 ? 1 : largest);
  for (int k = 0; k < padded; ++k)
    wrong += quantized[k] != (k < columns ? 128 + (int)nearbyintf(x[k] * inverse) : 128);
  if (wrong && ++failures)
    printf("%d columns: %d of %d values are wrong, scale %g, largest %g\n", columns, wrong, padded, scale, largest);
}

static void check(quantize *run, int columns, int padded) {
  float *x = guarded(2 * columns), *scales = guarded(2), *words = guarded(2 * padded / 4);
  uint8_t *quantized = (uint8_t *)words;
  memref2 input = matrix_of(x, 2, columns, columns), output = matrix_of(words, 2, padded, padded);
  memref1 output_scales = vector_of(scales, 2);
  for (int special = -2; special < columns; ++special)
    for (int kind = 0; kind < 3; ++kind) {
      for (int k = 0; k < 2 * columns; ++k)
        x[k] = special == -2 && k >= columns ? 0 : 8 * uniform(&state);
      if (special >= 0)
        x[columns + special] = kind == 0 ? NAN : kind == 1 ? INFINITY : -INFINITY;
      run(&input, &output, &output_scales);
      check_row(x, columns, quantized, padded, scales[0]);
      if (special < 0) {
        check_row(x + columns, columns, quantized + padded, padded, scales[1]);
      } else if (kind == 0 ? !isnan(scales[1]) : !isinf(scales[1])) {
        ++failures;
        printf("%d columns: %g in column %d has the scale %g\n", columns, x[columns + special], special, scales[1]);
      }
      hash = checksum(hash, scales, 1);
    }
  release(x, 2 * columns), release(scales, 2), release(words, 2 * padded / 4);
}

int main(void) {
  check(_mlir_ciface_bytes_131, 131, 132);
  check(_mlir_ciface_bytes_64, 64, 64);
  check(_mlir_ciface_bytes_5, 5, 8);
  printf("%016llx\n", (unsigned long long)hash);
  return failures != 0;
}
