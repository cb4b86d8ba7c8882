//===- StridedCopy.cpp - Loops over strided memory ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/StridedCopy.h"

#include <algorithm>

using namespace llvm;
using namespace attune;

/// The largest number of rows of a block, as many as a cache line of the destination has f32, and of columns, few
/// enough that a block (32 KiB) stays in the L1 cache.
static constexpr int64_t kBlockRows = 16, kBlockColumns = 512;

/// Calls |visit| with the position, in elements, of the first element of every innermost row of a strided tensor whose
/// first element is at |base|.
template <typename Visit>
static void forEachRow(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, Visit visit, int64_t base = 0) {
  if (sizes.size() <= 1)
    return visit(base);
  for (int64_t i = 0; i < sizes[0]; ++i)
    forEachRow(sizes.drop_front(), strides.drop_front(), visit, base + i * strides[0]);
}

void attune::fillStrided(float value, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, float *out) {
  int64_t count = sizes.empty() ? 1 : sizes.back(), stride = strides.empty() ? 1 : strides.back();
  forEachRow(sizes, strides, [&](int64_t base) {
    for (int64_t i = 0; i < count; ++i)
      out[base + i * stride] = value;
  });
}

void attune::copyStrided(const float *from, ArrayRef<int64_t> fromStrides, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, float *out) {
  if (sizes.empty()) {
    *out = *from;
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copyStrided(from + i * fromStrides[0], fromStrides.drop_front(), sizes.drop_front(), strides.drop_front(), out + i * strides[0]);
}

void attune::scaleStrided(double factor, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, float *out) {
  int64_t count = sizes.empty() ? 1 : sizes.back(), stride = strides.empty() ? 1 : strides.back();
  forEachRow(sizes, strides, [&](int64_t base) {
    for (int64_t i = 0; i < count; ++i)
      out[base + i * stride] = static_cast<float>(out[base + i * stride] * factor);
  });
}

void attune::transformStrided(llvm::function_ref<float(float)> function, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, float *out) {
  int64_t count = sizes.empty() ? 1 : sizes.back(), stride = strides.empty() ? 1 : strides.back();
  forEachRow(sizes, strides, [&](int64_t base) {
    for (int64_t i = 0; i < count; ++i)
      out[base + i * stride] = function(out[base + i * stride]);
  });
}

StridedRuns::StridedRuns(ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  int64_t from = 1;
  SmallVector<Loop, 4> reversed;
  for (size_t dim = shape.size(); dim-- > 0; from *= shape[dim]) {
    origin += offsets[dim] * from;
    // Dimensions that are contiguous both in the tensor and in the destination are merged.
    Loop *inner = reversed.empty() ? nullptr : &reversed.back();
    if (inner && inner->size == 1 && inner->from == from)
      *inner = {sizes[dim], from, strides[dim], 1, 0};
    else if (inner && inner->size * inner->from == from && inner->size * inner->to == strides[dim])
      inner->size *= sizes[dim];
    else if (sizes[dim] != 1 || reversed.empty())
      reversed.push_back({sizes[dim], from, strides[dim], 1, 0});
  }
  if (reversed.empty())
    reversed.push_back({1, 1, 1, 1, 0});
  loops.assign(reversed.rbegin(), reversed.rend());
  Loop &run = loops.back();
  done = llvm::is_contained(sizes, 0);
  run.step = run.size;
  buffered = run.to != 1 && run.size != 1;
  if (!buffered)
    return;
  run.step = std::min(run.size, kBlockColumns);
  // The distance of rows in the buffer must not be a multiple of a page: otherwise the cache lines of one column would
  // evict each other.
  rowElements = run.step + kBlockRows;
  for (rowLoop = 0; rowLoop + 1 < loops.size() && loops[rowLoop].to != 1;)
    ++rowLoop;
  if (rowLoop + 1 < loops.size())
    loops[rowLoop].step = rows = std::min(loops[rowLoop].size, kBlockRows);
}

bool StridedRuns::next(Block &block) {
  if (done)
    return false;
  const Loop &run = loops.back();
  block = {origin, std::min(run.step, run.size - run.index), 1, 0, 0};
  for (const Loop &loop : loops) {
    block.begin += loop.index * loop.from;
    block.out += loop.index * loop.to;
  }
  if (buffered && rowLoop + 1 < loops.size()) {
    const Loop &row = loops[rowLoop];
    block.rows = std::min(row.step, row.size - row.index);
    block.rowStride = row.from;
  }
  size_t level = loops.size();
  while (level > 0 && (loops[level - 1].index += loops[level - 1].step) >= loops[level - 1].size)
    loops[--level].index = 0;
  done = level == 0;
  return true;
}

void StridedRuns::scatter(const Block &block, const float *buffer, float *out) const {
  int64_t stride = loops.back().to;
  float *to = out + block.out;
  if (block.rows == kBlockRows) {
    for (int64_t column = 0; column < block.count; ++column, to += stride)
      for (int64_t row = 0; row < kBlockRows; ++row)
        to[row] = buffer[row * rowElements + column];
    return;
  }
  for (int64_t column = 0; column < block.count; ++column, to += stride)
    for (int64_t row = 0; row < block.rows; ++row)
      to[row] = buffer[row * rowElements + column];
}
