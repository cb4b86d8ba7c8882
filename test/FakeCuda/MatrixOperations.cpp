//===- MatrixOperations.cpp - ldmatrix, stmatrix, mma ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include <cstdlib>

using namespace attune;
using namespace attune::fake;

static constexpr uint32_t everyLane = 0xffffffff;

/// Returns the number of 8 x 8 matrices that ldmatrix or stmatrix moves: 4 for ".x4", 2 for ".x2", else 1.
static uint32_t countMatrices(const emulated::Operation &operation) { return has(operation, ".x4") ? 4 : has(operation, ".x2") ? 2 : 1; }

/// Returns the address of row |row| of matrix |matrix|, which is the input of lane 8 * |matrix| + |row|. Fails if it is
/// no multiple of 16.
static char *matrixRow(Meeting &meeting, uint32_t matrix, uint32_t row) {
  auto address = reinterpret_cast<char *>(meeting.inputs[8 * matrix + row][0]);
  if (reinterpret_cast<uintptr_t>(address) % 16)
    Block::current().fail(std::string("gives '") + meeting.operation->name + "' a row that is no multiple of 16");
  return address;
}

/// Executes ldmatrix. The input of a lane is the address of a matrix row of 8 elements of 16 bits. From each matrix,
/// lane l gets the elements 2 (l mod 4) and 2 (l mod 4) + 1 of row l / 4 or, with `.trans`, of column l / 4.
static void loadMatrix(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  uint32_t count = countMatrices(operation);
  Block &block = Block::current();
  if (block.thread().registers.laneid < 8 * count)
    block.checkShared(reinterpret_cast<void *>(inputs[0]), 16, /*isWrite=*/false);
  block.meetWarp(operation, everyLane, inputs, outputs, [&operation, count](Meeting &meeting) {
    bool isTransposed = has(operation, ".trans");
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t m = 0; m < count; ++m) {
        uint32_t value = 0;
        if (!isTransposed)
          std::memcpy(&value, matrixRow(meeting, m, lane / 4) + 4 * (lane % 4), 4);
        for (uint32_t half = 0; half < 2 && isTransposed; ++half)
          std::memcpy(reinterpret_cast<char *>(&value) + 2 * half, matrixRow(meeting, m, 2 * (lane % 4) + half) + 2 * (lane / 4), 2);
        meeting.outputs[lane][m] = value;
      }
  });
}

/// Executes stmatrix, which stores the elements that ldmatrix would load. The inputs of a lane are the address of a
/// matrix row and, for each matrix, a word with two elements.
static void storeMatrix(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  uint32_t count = countMatrices(operation);
  Block &block = Block::current();
  if (block.thread().registers.laneid < 8 * count)
    block.checkShared(reinterpret_cast<void *>(inputs[0]), 16, /*isWrite=*/true);
  block.meetWarp(operation, everyLane, inputs, outputs, [&operation, count](Meeting &meeting) {
    bool isTransposed = has(operation, ".trans");
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t m = 0; m < count; ++m) {
        auto value = static_cast<uint32_t>(meeting.inputs[lane][1 + m]);
        if (!isTransposed)
          std::memcpy(matrixRow(meeting, m, lane / 4) + 4 * (lane % 4), &value, 4);
        for (uint32_t half = 0; half < 2 && isTransposed; ++half)
          std::memcpy(matrixRow(meeting, m, 2 * (lane % 4) + half) + 2 * (lane / 4), reinterpret_cast<char *>(&value) + 2 * half, 2);
      }
  });
}

namespace {
/// An mma operation, which adds the product of A [16, depth] and B [depth, 8] to C [16, 8].
struct MatrixProduct {
  explicit MatrixProduct(const emulated::Operation &operation) {
    depth = static_cast<uint32_t>(std::atoi(std::strstr(operation.name, "m16n8k") + 6));
    isWide = has(operation, "tf32");
    isBf16 = has(operation, "bf16");
    aRegisters = isWide ? depth / 2 : depth / 4;
    bRegisters = aRegisters / 2;
    // Products of f16 may have sums of f16, two in each register.
    isHalfSum = !isWide && !isBf16 && !has(operation, ".f32.f32") && !has(operation, "f32.f16.f16.f32");
  }
  float element(uint64_t word, uint32_t half) const {
    if (isWide)
      return toFloat(word & ~uint64_t(0x1fff));
    uint64_t bits = word >> (16 * half) & 0xffff;
    return isBf16 ? fromBf16(bits) : fromF16(bits);
  }
  void perform(Meeting &meeting) const;

  uint32_t depth, aRegisters, bRegisters;
  bool isWide, isBf16, isHalfSum;
};
} // namespace

void MatrixProduct::perform(Meeting &meeting) const {
  float a[16][16], b[16][8];
  // A register has |halves| elements. From a register of a lane to the next one with other values of k, k grows by
  // |step|.
  uint32_t halves = isWide ? 1 : 2, step = isWide ? 4 : 8;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint64_t *in = meeting.inputs[lane];
    for (uint32_t half = 0; half < halves; ++half) {
      for (uint32_t r = 0; r < aRegisters; ++r)
        a[lane / 4 + 8 * (r & 1)][halves * (lane % 4) + half + step * (r >> 1)] = element(in[r], half);
      for (uint32_t r = 0; r < bRegisters; ++r)
        b[halves * (lane % 4) + half + step * r][lane / 4] = element(in[aRegisters + r], half);
    }
  }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint64_t *c = meeting.inputs[lane] + aRegisters + bRegisters;
    uint64_t packed[2] = {};
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      float sum = isHalfSum ? fromF16(c[i / 2] >> (16 * (i % 2))) : toFloat(c[i]);
      for (uint32_t k = 0; k < depth; ++k)
        sum += a[row][k] * b[k][column];
      if (isHalfSum)
        packed[i / 2] |= uint64_t(toF16(sum)) << (16 * (i % 2));
      else
        meeting.outputs[lane][i] = fromFloat(sum);
    }
    for (uint32_t i = 0; i < 2 && isHalfSum; ++i)
      meeting.outputs[lane][i] = packed[i];
  }
}

static void multiply(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  Block::current().meetWarp(operation, everyLane, inputs, outputs,
                            [&operation](Meeting &meeting) { MatrixProduct(operation).perform(meeting); });
}

const HandlerEntry fake::matrixHandlers[] = {{"ldmatrix", loadMatrix},
                                             {"stmatrix", storeMatrix},
                                             {"mma.m16n8k", multiply},
                                             {"mma.sync.aligned.m16n8k", multiply},
                                             {nullptr, nullptr}};
