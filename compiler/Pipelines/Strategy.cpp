//===- Strategy.cpp - Tile sizes per CPU, as data ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Strategy.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace attune;

// A register tile of R rows x W columns needs R * W / 16 accumulators of 16 lanes, W / 16 registers for the weights and one or two for the
// input, if no instruction takes that from a lane or a scalar. The constants of an exponential and two rows of it do not fit into 8.
// Strategies are by how many vectors of 16 lanes the registers hold: x86's were measured, those for other machines follow from this
// arithmetic.
struct RegisterFile {
  int64_t vectors;
  CpuStrategy strategy;
};
static constexpr RegisterFile kRegisterFiles[] = {
    // AVX-512, RISC-V vectors of 512 bits: tiles of 12 x 32.
    {32, {12, 8, 32, 32, 3, 8, 64, 1536 << 10, 128, 8}},
    // RISC-V vectors of 256 bits: 6 x 32.
    {16, {6, 4, 32, 32, 2, 4, 64, 768 << 10, 128, 8}},
    // AVX2 (16 registers of 256 bits), NEON and RISC-V vectors of 128 bits (32 of them): 6 x 16.
    {8, {6, 4, 16, 16, 1, 1, 64, 1536 << 10, 128, 8}},
    // Scalar registers, two times 16: a single row.
    {0, {1, 1, 16, 16, 1, 1, 64, 768 << 10, 128, 8}},
};

/// The strategy for registers that hold |vectors| vectors of 16 floats.
static CpuStrategy getRegisterStrategy(int64_t vectors) {
  for (const RegisterFile &file : kRegisterFiles)
    if (vectors >= file.vectors)
      return file.strategy;
  llvm_unreachable("the last one holds nothing");
}

CpuFeatures attune::parseCpuFeatures(int64_t vectorBits, llvm::StringRef names) {
  CpuFeatures cpu;
  cpu.vectorBits = vectorBits;
  llvm::SmallVector<llvm::StringRef> words;
  names.split(words, ',');
  cpu.names.insert_range(words);
  if (cpu.names.contains("x86") && vectorBits < 512)
    cpu.vectorRegisters = 16;
  return cpu;
}

CpuStrategy attune::getCpuStrategy(const CpuFeatures &features) {
  auto has = [&](llvm::StringRef name) { return features.names.contains(name); };
  int64_t vectors = features.vectorBits * features.vectorRegisters / 512;
  CpuStrategy strategy = getRegisterStrategy(vectors);
  bool wide = features.vectorBits >= 512;
  strategy.codeRows = wide ? 8 : vectors >= 8 ? 4 : 1;
  strategy.streamPanels = vectors >= 8 ? 4 : 1;
  strategy.roundsBF16 = wide && has("avx512bf16");
  if (!has("x86"))
    return strategy;
  if (wide && has("amx-bf16") && has("amx-int8")) {
    // A tile has 16 rows of 64 bytes; two by two of them leave registers for two of each operand.
    strategy.dotUnit = DotUnit::Amx;
    strategy.bf16 = {"bf16", 32};
    strategy.int8 = {"i8", 64};
    strategy.codeRows = strategy.codeGroup = 32;
    return strategy;
  }
  if (has("sse4a")) {
    strategy.prefetchStreams = 1;
    strategy.prefetchAhead = 8192;
  }
  strategy.dotUnit = wide ? DotUnit::Avx512 : DotUnit::Avx2;
  if (wide && has("avx512bf16"))
    strategy.bf16 = {"bf16", 2};
  if (has(wide ? "avx512vnni" : "avxvnni"))
    strategy.int8 = {"i8", 4};
  return strategy;
}

GpuStrategy attune::getGpuStrategy(llvm::ArrayRef<GpuArchitecture> gpus) {
  bool emulated = llvm::any_of(gpus, [](const GpuArchitecture &gpu) { return gpu.isEmulator; });
  GpuStrategy strategy;
  // A block of rows is one tile; attention has keys in panels of the width that caches have.
  strategy.tiles = {/*registerRows=*/64, /*queryRows=*/8,  /*panelWidth=*/64,    /*keyPanelWidth=*/64,
                    /*valueVectors=*/1,  /*weightRows=*/1, /*attentionRows=*/64, /*blockBytes=*/int64_t(1) << 30,
                    /*maxBlockRows=*/64, /*rowBlock=*/8};
  strategy.tiles.maxFeatures = 0;
  strategy.tiles.fewRows = strategy.tiles.fewColumns = 16;
  // Tensor cores take 16 components at once, and instructions read 8 neighbours.
  strategy.tiles.bf16 = {"bf16", 16, 8};
  strategy.tiles.codeRows = 128;
  // Large tiles read less, but must be enough for all multiprocessors: an A100 has 108, an H100 132.
  strategy.tiles.wideRows = strategy.tiles.wideColumns = 128;
  strategy.tiles.wideBlocks = emulated ? 2 : 128;
  // A warp has 16 of them.
  strategy.codeQueryRows = 64;
  strategy.largestCodeHead = 128;
  strategy.threads = 128;
  // What a block of any GPU from sm_80 on can have: two such blocks fit into an A100's multiprocessor, three into an H100's.
  strategy.sharedBytes = 72 << 10;
  // sm_90a: a block has a multiprocessor for itself. Tiles of 128 x 256 read 48 bytes of operands for 2048 products; four stages of 48 KiB
  // leave room for sums on their way out.
  for (const GpuArchitecture &gpu : gpus)
    if (gpu.hasWarpgroups()) {
      strategy.specificArch = gpu.number;
      strategy.specificColumns = 256;
      strategy.specificStages = 4;
      strategy.specificBytes = 227 << 10;
      // Of an L2 cache of 50 MiB, so that queries, results and other blocks have the rest.
      strategy.specificCacheBytes = emulated ? 96 << 10 : 32 << 20;
    }
  return strategy;
}
