//===- Strategy.cpp - Tile sizes per CPU, as data ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Strategy.h"

using namespace attune;

// A register tile of R rows x W columns needs R * W / 16 accumulators of 16 lanes, W / 16 registers for the weights and one or two for the input:
// 32 registers of 512 bits take 12 x 32, 16 registers of 256 bits (two per 16 lanes) take 6 x 16. The constants of
// an exponential and two rows of it no longer fit into the latter.
static constexpr CpuStrategy kWide = {512, 12, 8, 32, 32, 3, 8, 1536 << 10, 128, 8};
static constexpr CpuStrategy kNarrow = {256, 6, 4, 16, 16, 1, 1, 1536 << 10, 128, 8};

CpuStrategy attune::getCpuStrategy(int64_t vectorBits) { return vectorBits >= 512 ? kWide : kNarrow; }
