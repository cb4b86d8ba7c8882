//===- RowProducts.cpp - Products of the rows of two matrices -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A register tile of 4 x 2 elements of a product is summed in vectors along k; the lanes of each vector are added at
// the end. The code of a register tile is compiled for several instruction sets. All versions must round alike, so FMA
// is disabled.
//
//===----------------------------------------------------------------------===//

#include "compiler/Calibrate/RowProducts.h"
#include "compiler/Support/InstructionSets.h"
#include "llvm/Support/Parallel.h"

#include <algorithm>
#include <cstring>

using namespace attune;

namespace {

constexpr int64_t kTileRows = 4, kTileColumns = 2;
typedef float Floats __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(32)));

template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = Floats;
};
template <>
struct VectorOf<double> {
  using Type = Doubles;
};

/// Sets `out[i, j]` to the sum of `a[i][k] * b[j][k]` over |depth| columns, for kTileRows x kTileColumns elements.
template <typename T>
inline __attribute__((always_inline)) void sumTile(const T *const *a, const T *const *b, int64_t depth, T *out) {
  using Vector = typename VectorOf<T>::Type;
  constexpr auto kLanes = static_cast<int64_t>(sizeof(Vector) / sizeof(T));
  Vector sums[kTileRows][kTileColumns] = {};
  int64_t whole = depth / kLanes * kLanes;
  for (int64_t k = 0; k < whole; k += kLanes) {
    Vector right[kTileColumns];
    for (int64_t j = 0; j < kTileColumns; ++j)
      std::memcpy(&right[j], b[j] + k, sizeof(Vector));
    for (int64_t i = 0; i < kTileRows; ++i) {
      Vector left;
      std::memcpy(&left, a[i] + k, sizeof(Vector));
      for (int64_t j = 0; j < kTileColumns; ++j)
        sums[i][j] += left * right[j];
    }
  }
  for (int64_t i = 0; i < kTileRows; ++i)
    for (int64_t j = 0; j < kTileColumns; ++j) {
      T sum = 0;
      for (int64_t lane = 0; lane < kLanes; ++lane)
        sum += sums[i][j][lane];
      for (int64_t k = whole; k < depth; ++k)
        sum += a[i][k] * b[j][k];
      out[i * kTileColumns + j] = sum;
    }
}

/// The functions that are compiled for several instruction sets.
struct TileFunctions {
  void (*floats)(const float *const *a, const float *const *b, int64_t depth, float *out);
  void (*doubles)(const double *const *a, const double *const *b, int64_t depth, double *out);
};

#define ATTUNE_TILE_FUNCTIONS(NAME, ATTRIBUTE)                                                                                             \
  ATTRIBUTE void sumFloats##NAME(const float *const *a, const float *const *b, int64_t depth, float *out) { sumTile(a, b, depth, out); }   \
  ATTRIBUTE void sumDoubles##NAME(const double *const *a, const double *const *b, int64_t depth, double *out) {                            \
    sumTile(a, b, depth, out);                                                                                                             \
  }                                                                                                                                        \
  constexpr TileFunctions k##NAME = {sumFloats##NAME, sumDoubles##NAME};
ATTUNE_FOR_INSTRUCTION_SETS(ATTUNE_TILE_FUNCTIONS)

const TileFunctions &tileFunctions() {
  static const TileFunctions chosen = ATTUNE_CHOOSE_VERSION(k);
  return chosen;
}

void sum(const float *const *a, const float *const *b, int64_t depth, float *out) { tileFunctions().floats(a, b, depth, out); }
void sum(const double *const *a, const double *const *b, int64_t depth, double *out) { tileFunctions().doubles(a, b, depth, out); }

/// Calls |use|(i, j, sum) for each element (i, j) of the product a b^T with i from |begin| to |end| - 1 and j below
/// |limit|(i). |limit|(i) must not decrease as i grows.
template <typename T, typename Limit, typename Use>
void multiplyBlock(Rows<const T> a, Rows<const T> b, int64_t depth, int64_t begin, int64_t end, Limit limit, Use use) {
  // The number of rows of |b| that stay in the cache while all rows of |a| are multiplied by them.
  const int64_t block = std::max<int64_t>(kTileColumns, (int64_t(1) << 18) / int64_t(sizeof(T)) / std::max<int64_t>(depth, 1));
  for (int64_t firstColumn = 0; firstColumn < b.count; firstColumn += block)
    for (int64_t i = begin; i < end; i += kTileRows) {
      int64_t rows = std::min(kTileRows, end - i), columnEnd = std::min({b.count, firstColumn + block, limit(i + rows - 1)});
      // Missing rows of a register tile are copies of its last row.
      const T *left[kTileRows];
      for (int64_t r = 0; r < kTileRows; ++r)
        left[r] = a.row(i + std::min(r, rows - 1));
      for (int64_t j = firstColumn; j < columnEnd; j += kTileColumns) {
        int64_t columns = std::min(kTileColumns, columnEnd - j);
        const T *right[kTileColumns];
        for (int64_t c = 0; c < kTileColumns; ++c)
          right[c] = b.row(j + std::min(c, columns - 1));
        T sums[kTileRows * kTileColumns];
        sum(left, right, depth, sums);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns; ++c)
            if (j + c < limit(i + r))
              use(i + r, j + c, sums[r * kTileColumns + c]);
      }
    }
}

/// Divides |count| rows into blocks and calls |use|(begin, end) for each, on several threads.
template <typename Use>
void forBlocks(int64_t count, Use use) {
  constexpr int64_t kBlock = 32;
  llvm::parallelFor(0, static_cast<size_t>((count + kBlock - 1) / kBlock), [&](size_t block) {
    auto begin = static_cast<int64_t>(block) * kBlock;
    use(begin, std::min(count, begin + kBlock));
  });
}

} // namespace

void attune::multiplyRows(Rows<const float> a, Rows<const float> b, int64_t depth, Rows<float> out) {
  // The rows of |b|, the weights of a projection, are divided among threads.
  forBlocks(b.count, [&](int64_t begin, int64_t end) {
    Rows<const float> part = {b.row(begin), end - begin, b.pitch};
    auto some = [&](int64_t) { return part.count; };
    multiplyBlock(a, part, depth, 0, a.count, some, [&](int64_t i, int64_t j, float value) { out.row(i)[begin + j] = value; });
  });
}

void attune::addLowerProducts(Rows<const double> a, Rows<const double> b, int64_t depth, double sign, int64_t offset, Rows<double> out) {
  auto limit = [&](int64_t i) { return std::min(b.count, i + offset + 1); };
  forBlocks(a.count, [&](int64_t begin, int64_t end) {
    multiplyBlock(a, b, depth, begin, end, limit, [&](int64_t i, int64_t j, double value) { out.row(i)[j] += sign * value; });
  });
}
