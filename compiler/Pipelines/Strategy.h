//===- Strategy.h - Tile sizes per CPU, as data ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_STRATEGY_H
#define ATTUNE_COMPILER_PIPELINES_STRATEGY_H

#include <cstdint>

namespace attune {

/// Tile sizes of the CPU kernels. They change speed and the layout of packed weights, never a result.
struct CpuStrategy {
  /// Bits of a vector register.
  int64_t vectorBits;
  /// Most rows of a register tile.
  int64_t registerRows;
  /// Query rows of an attention tile, a power of two.
  int64_t queryRows;
  /// Columns of a register tile and of a weight panel, a multiple of 16.
  int64_t panelWidth;
  /// Keys of a score tile and of a key panel, a multiple of 16.
  int64_t keyPanelWidth;
  /// Vectors of 16 columns of the value product that are accumulated at once.
  int64_t valueVectors;
  /// Rows of scores whose exponentials are computed at once.
  int64_t weightRows;
  /// Most bytes of the input rows of one block. Rows are read again for every panel, weights again for every block: more than the L2 cache holds
  /// costs less than reading the weights of a deep projection several times.
  int64_t blockBytes;
  /// Most rows of one block; the rows are divided evenly among the blocks.
  int64_t maxBlockRows;
  /// Rows of one task of a row-wise kernel.
  int64_t rowBlock;
};

/// The strategy for CPUs with vector registers of |vectorBits| bits.
CpuStrategy getCpuStrategy(int64_t vectorBits);

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_STRATEGY_H
