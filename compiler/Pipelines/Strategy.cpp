//===- Strategy.cpp - Tile sizes per CPU, as data ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Strategy.h"

using namespace attune;

// A register tile of R rows x W columns needs R * W / 16 accumulators of 16 lanes, W / 16 registers for the weights and one or two for the input:
// 32 registers of 512 bits take 12 x 32, 16 registers of 256 bits (two per 16 lanes) take 6 x 16. The constants of
// an exponential and two rows of it no longer fit into the latter.
static constexpr CpuStrategy kWide = {512, 12, 8, 32, 32, 3, 8, 64, 1536 << 10, 128, 8};
static constexpr CpuStrategy kNarrow = {256, 6, 4, 16, 16, 1, 1, 64, 1536 << 10, 128, 8};

CpuStrategy attune::getCpuStrategy(const CpuFeatures &features) {
  auto has = [&](llvm::StringRef name) { return features.dots.contains(name); };
  CpuStrategy strategy = features.vectorBits >= 512 ? kWide : kNarrow;
  bool wide = features.vectorBits >= 512;
  strategy.codeRows = wide ? 8 : 4;
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
  strategy.dotUnit = wide ? DotUnit::Avx512 : DotUnit::Avx2;
  if (wide && has("avx512bf16"))
    strategy.bf16 = {"bf16", 2};
  if (has(wide ? "avx512vnni" : "avxvnni"))
    strategy.int8 = {"i8", 4};
  return strategy;
}
