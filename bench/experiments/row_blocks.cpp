//===- row_blocks.cpp - Row blocking of a feed-forward part ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the gain of row blocking for the feed-forward parts of a BERT-base, 12 layers with distinct weights. One
// version runs projection by projection, each in blocks of 128 rows, as the compiler generates them; the other runs
// each block of rows from the first projection to the norm. Register tiles and prefetches are those of the compiler; an
// activation with the same number of FMAs stands for GELU. On one core of a CPU with AVX-512:
//
//   clang++-22 -O3 -march=native -mllvm -enable-misched=0 bench/experiments/row_blocks.cpp -o row_blocks && taskset -c 0 ./row_blocks
//
// (Clang's scheduler would spill accumulators.) Prints milliseconds, minimum and median, and GFLOP/s of the minimum.
//===----------------------------------------------------------------------===//

#include <immintrin.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static constexpr int kHidden = 768, kInner = 3072, kLayers = 12, kTileRows = 12, kPanel = 32, kBlock = 128;
/// The most input features of one GEMM. The second projection has twice as many and is the sum of two GEMMs.
static constexpr int kDepth = 1536;

/// Computes |Rows| rows of one panel, `c = a * panel` or `c += a * panel`. For every 4 terms of a sum it
/// prefetches |Lines| cache lines of the next panel, which begins at |next|.
template <int Rows, int Lines>
static void tile(const float *a, int stride, const float *panel, int depth, float *c, int columns, bool add, bool activate,
                 const char *next) {
  __m512 sums[Rows][2];
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < 2; ++j)
      sums[r][j] = add ? _mm512_loadu_ps(c + r * columns + j * 16) : _mm512_setzero_ps();
  for (int k = 0; k < depth; k += 4) {
    for (int line = 0; line < Lines; ++line)
      _mm_prefetch(next + (k / 4 * Lines + line) * 64, _MM_HINT_T1);
#pragma clang loop unroll(full)
    for (int step = k; step < k + 4; ++step) {
      __m512 b0 = _mm512_loadu_ps(panel + step * kPanel), b1 = _mm512_loadu_ps(panel + step * kPanel + 16);
      for (int r = 0; r < Rows; ++r) {
        __m512 x = _mm512_set1_ps(a[r * stride + step]);
        sums[r][0] = _mm512_fmadd_ps(x, b0, sums[r][0]);
        sums[r][1] = _mm512_fmadd_ps(x, b1, sums[r][1]);
      }
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < 2; ++j)
      _mm512_storeu_ps(c + r * columns + j * 16, sums[r][j]);
  for (int r = 0; activate && r < Rows; ++r)
    for (int j = 0; j < 2; ++j) {
      __m512 x = _mm512_loadu_ps(c + r * columns + j * 16), y = _mm512_set1_ps(0.1f);
      for (int i = 0; i < 14; ++i)
        y = _mm512_fmadd_ps(y, x, _mm512_set1_ps(0.01f * i));
      _mm512_storeu_ps(c + r * columns + j * 16, _mm512_min_ps(_mm512_max_ps(y, _mm512_set1_ps(-1)), _mm512_set1_ps(1)));
    }
}

/// Computes a projection of |rows| rows, a multiple of 4, to |columns| columns. With at least eight tiles of rows, each
/// of eight tiles in turn prefetches an eighth of the next panel; with fewer, each of four in turn a quarter.
static void project(const float *a, int stride, const float *weights, int depth, int columns, int rows, float *c, bool add, bool activate) {
  bool many = (rows + kTileRows - 1) / kTileRows >= 8;
  for (int n = 0; n < columns / kPanel; ++n) {
    const float *panel = weights + static_cast<size_t>(n) * depth * kPanel;
    const char *next = reinterpret_cast<const char *>(panel + static_cast<size_t>(depth) * kPanel);
    for (int row = 0, index = 0; row < rows; row += kTileRows, ++index) {
      const char *share = next + (many ? index % 8 * (depth / 4) : index % 4 * (depth / 2)) * 64;
      auto run = [&](auto one, auto two) {
        (many ? one : two)(a + static_cast<size_t>(row) * stride, stride, panel, depth,
                           c + static_cast<size_t>(row) * columns + n * kPanel, columns, add, activate, share);
      };
      int count = std::min(kTileRows, rows - row);
      count == 12 ? run(tile<12, 1>, tile<12, 2>) : count == 8 ? run(tile<8, 1>, tile<8, 2>) : run(tile<4, 1>, tile<4, 2>);
    }
  }
}

static void normalize(float *x, int rows) {
  for (float *row = x; row < x + static_cast<size_t>(rows) * kHidden; row += kHidden) {
    __m512 sum = _mm512_setzero_ps(), squares = sum;
    for (int i = 0; i < kHidden; i += 16) {
      __m512 v = _mm512_loadu_ps(row + i);
      sum = _mm512_add_ps(sum, v);
      squares = _mm512_fmadd_ps(v, v, squares);
    }
    float mean = _mm512_reduce_add_ps(sum) / kHidden, by = 1 / std::sqrt(_mm512_reduce_add_ps(squares) / kHidden - mean * mean + 1e-5f);
    for (int i = 0; i < kHidden; i += 16)
      _mm512_storeu_ps(row + i, _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(row + i), _mm512_set1_ps(mean)), _mm512_set1_ps(by)));
  }
}

/// The number of weights of one layer: those of the first projection, then both halves of the second.
static constexpr size_t kLayerWeights = 2 * static_cast<size_t>(kHidden) * kInner;

/// Computes |rows| rows of a layer from |in| to |out|, |block| rows at a time; if |block| is 0, one projection after the
/// other.
static void layer(const float *in, float *out, float *inner, const float *weights, int rows, int block) {
  const float *down[] = {weights + kLayerWeights / 2, weights + kLayerWeights / 4 * 3};
  auto inBlocks = [&](auto body) {
    for (int row = 0; row < rows; row += kBlock)
      body(static_cast<size_t>(row), std::min(kBlock, rows - row));
  };
  auto half = [&](size_t row, int count, float *from, int which) {
    project(from + which * kDepth, kInner, down[which], kDepth, kHidden, count, out + row * kHidden, true, false);
  };
  std::memcpy(out, in, static_cast<size_t>(rows) * kHidden * sizeof(float)); // the residual
  if (block == 0) {
    inBlocks([&](size_t row, int count) {
      project(in + row * kHidden, kHidden, weights, kHidden, kInner, count, inner + row * kInner, false, true);
    });
    for (int which : {0, 1})
      inBlocks([&](size_t row, int count) { half(row, count, inner + row * kInner, which); });
    return normalize(out, rows);
  }
  for (int row = 0; row < rows; row += block) {
    int count = std::min(block, rows - row);
    project(in + static_cast<size_t>(row) * kHidden, kHidden, weights, kHidden, kInner, count, inner, false, true);
    for (int which : {0, 1})
      half(row, count, inner, which);
    normalize(out + static_cast<size_t>(row) * kHidden, count);
  }
}

int main() {
  // One more panel, because the prefetches of the last one go beyond its end.
  std::vector<float> weights(kLayers * kLayerWeights + kDepth * kPanel);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>((i * 2654435761u >> 8) % 1000) * 1e-5f - 0.005f;
  const int blocks[] = {0, 64, 96, 128};
  for (int tokens : {128, 512, 1024}) {
    std::vector<float> x(static_cast<size_t>(tokens) * kHidden, 0.1f), y(x.size()), inner(static_cast<size_t>(tokens) * kInner);
    std::vector<double> times[4];
    for (int round = 0; round < 15; ++round)
      for (int which = 0; which < 4; ++which) {
        auto begin = std::chrono::steady_clock::now();
        for (int l = 0; l < kLayers; ++l, x.swap(y))
          layer(x.data(), y.data(), inner.data(), weights.data() + l * kLayerWeights, tokens, blocks[which]);
        times[which].push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
      }
    for (int which = 0; which < 4; ++which) {
      std::sort(times[which].begin(), times[which].end());
      std::string how = blocks[which] == 0 ? "by projection" : "row blocks of " + std::to_string(blocks[which]);
      std::printf("%4d tokens, %-17s %7.2f (%7.2f) ms, %5.1f GFLOP/s\n", tokens, how.c_str(), times[which][0], times[which][7],
                  2.0 * tokens * kLayerWeights * kLayers / times[which][0] / 1e6);
    }
  }
}
