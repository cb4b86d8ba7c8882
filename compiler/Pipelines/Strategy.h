//===- Strategy.h - Tile sizes per CPU, as data ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_STRATEGY_H
#define ATTUNE_COMPILER_PIPELINES_STRATEGY_H

#include "compiler/Target/CPU/DotUnit.h"
#include "compiler/Target/NVVM/GpuArchitecture.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>

namespace attune {

/// What a strategy depends on.
struct CpuFeatures {
  /// Bits of a register for floats, and how many of them there are.
  int64_t vectorBits = 512, vectorRegisters = 32;
  /// By LLVM's names: instructions for products of lower precision ("avx512bf16", "avx512vnni", "avxvnni", "amx-bf16", "amx-int8"), and
  /// "sse4a", by which CPUs of AMD are known; "x86" for the family.
  llvm::StringSet<> names;
};

/// Layout of the codes of one lower precision in memory.
struct CodeStrategy {
  /// Type of a code: bf16, f32, i8 or i16.
  const char *type;
  /// Columns of codes, and of K in weight panels, are a multiple of this.
  int64_t multiple;
  /// Neighbours in K that lie side by side in panels of bf16.
  int64_t group = 2;
};

/// Tile sizes of the CPU kernels. They change speed and the layout of packed weights, never a result.
struct CpuStrategy {
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
  /// Most rows of a tile of attention over several blocks of keys, at least 64.
  int64_t attentionRows;
  /// Most bytes of the input rows of one block. Rows are read again for every panel, weights again for every block: more than the L2 cache
  /// holds costs less than reading the weights of a deep projection several times.
  int64_t blockBytes;
  /// Most rows of one block; the rows are divided evenly among the blocks.
  int64_t maxBlockRows;
  /// Rows of one task of a row-wise kernel.
  int64_t rowBlock;
  /// Instructions for products of lower precision.
  DotUnit dotUnit = DotUnit::Portable;
  CodeStrategy bf16 = {"f32", 2}, int8 = {"i16", 2};
  /// Rows of a register tile of codes, a power of two; rows of codes come in whole groups of |codeGroup|.
  int64_t codeRows = 8, codeGroup = 1;
  /// Weight panels that a single row reads side by side. With 4 the projections of GPT-2 read 92-95 % of the bandwidth that was there, with
  /// 1 64-68 % (`attune bench --entry=decode --past=128 --profile`, Emerald Rapids VM, 2026-11-21).
  int64_t streamPanels = 1;
  /// How weights are prefetched: with 4 streams a block of one or two row tiles asks for four parts of the next panel side by side. With 1
  /// a single tile asks for what comes |prefetchAhead| bytes after the weights in use; panels side by side always do. Reading 2 to 12 rows'
  /// matrices from DRAM, an Emerald Rapids VM gives a core 16 GB/s for four streams and 10 for one, however far ahead (2026-11-22); a Zen 5
  /// VM gives 28 to 30 GB/s for four and 37 to 38 of 42 for one (`bench/linear --threads 1`, 2026-11-23).
  int64_t prefetchStreams = 4, prefetchAhead = 16384;
  /// Up to |fewRows| rows blocks have |fewColumns| columns, so that there are enough of them; 0 for none.
  int64_t fewRows = 0, fewColumns = 0;
  /// Blocks of codes have |wideRows| rows and |wideColumns| columns where there are at least |wideBlocks| of them; 0 for none.
  int64_t wideRows = 0, wideColumns = 0, wideBlocks = 0;
  /// Whether an instruction rounds f32 to bf16.
  bool roundsBF16 = false;
  /// Most features of a projection of f32; those with more are sums of several. 128 rows, a panel and the next one on its way are 1.5 MiB
  /// then. The same for all CPUs, as bits depend on it; 0 for any number.
  int64_t maxFeatures = 2048;
};

/// Tile sizes of the GPU kernels. A tile is the work of a block of threads.
struct GpuStrategy {
  /// Rows and columns of the tiles, and the layout of weights, in the terms of a CPU.
  CpuStrategy tiles;
  /// Query rows of an attention tile that tensor cores multiply.
  int64_t codeQueryRows;
  /// Components of the largest head whose operands registers of tensor cores hold.
  int64_t largestCodeHead;
  /// Threads of a block.
  int64_t threads;
  /// Most bytes of shared memory of a block; scratch that needs more stays in the workspace.
  int64_t sharedBytes;
  /// What sm_90a has of its own, if code is made for it: the compute capability times 10 by which its image is known (0: no such code), the
  /// columns and the stages of a tile of 128 rows, the bytes of shared memory of a block, and those of keys and values that attention reads
  /// at a time.
  int64_t specificArch = 0, specificColumns = 0, specificStages = 0, specificBytes = 0, specificCacheBytes = 0;
};

/// The strategy for all GPUs of a list. An emulated one is small: it has few tiles of a kind before it goes on to larger ones.
GpuStrategy getGpuStrategy(llvm::ArrayRef<GpuArchitecture> gpus);

/// The features of a CPU with registers of |vectorBits| bits; |names| are separated by commas.
CpuFeatures parseCpuFeatures(int64_t vectorBits, llvm::StringRef names);

/// The strategy for CPUs with |features|.
CpuStrategy getCpuStrategy(const CpuFeatures &features);

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_STRATEGY_H
