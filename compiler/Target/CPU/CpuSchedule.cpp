//===- CpuSchedule.cpp - Tile sizes per CPU, as data -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register tile of R rows x W columns needs R * W / 16 accumulators of 16 lanes, W / 16 vectors for the weights and
// one or two for the input, unless an instruction reads the input from a lane or a scalar. An exponential needs vectors
// for its constants; registers that hold only 8 vectors of 16 lanes have no room for exponentials of two rows at once.
// So schedules depend on the number of vectors of 16 lanes that the registers hold. The schedules for x86 were
// measured, those for other machines follow from this arithmetic.
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CpuSchedule.h"

using namespace mlir;
using namespace attune;

namespace {
/// The tile sizes for registers that hold at least |vectors| vectors of 16 floats; see rt::Schedule and CpuSchedule.
struct RegisterFile {
  int64_t vectors;
  int64_t registerRows, queryRows, panelWidth, blockBytes;
  int64_t valueVectors, softmaxRows;
};
} // namespace

static constexpr RegisterFile kRegisterFiles[] = {
    // AVX-512, RISC-V vectors of 512 bits: tiles of 12 x 32.
    {32, 12, 8, 32, 1536 << 10, 3, 8},
    // RISC-V vectors of 256 bits: 6 x 32.
    {16, 6, 4, 32, 768 << 10, 2, 4},
    // AVX2 (16 registers of 256 bits), NEON and RISC-V vectors of 128 bits (32 of them): 6 x 16.
    {8, 6, 4, 16, 1536 << 10, 1, 1},
    // RISC-V without vectors, whose 32 scalar registers hold two vectors of 16 floats: 1 x 16.
    {0, 1, 1, 16, 768 << 10, 1, 1},
};

/// Returns how many vectors of 16 floats the registers hold.
static int64_t countVectors(const CpuFeatures &features) { return features.vectorBits * features.vectorRegisters / 512; }

static const RegisterFile &getRegisterFile(const CpuFeatures &features) {
  for (const RegisterFile &file : kRegisterFiles)
    if (countVectors(features) >= file.vectors)
      return file;
  llvm_unreachable("the last one holds nothing");
}

static bool has(const CpuFeatures &features, llvm::StringRef name) { return features.names.contains(name); }

/// Returns the instruction set for low-precision products of a CPU with |features|.
static DotUnit getDotUnit(const CpuFeatures &features) {
  if (!has(features, "x86"))
    return DotUnit::Portable;
  if (features.vectorBits < 512)
    return DotUnit::Avx2;
  // Kernels for AMX also use the bf16 instructions of AVX-512, which every CPU with AMX has.
  bool hasTiles = has(features, "amx-bf16") && has(features, "amx-int8") && has(features, "avx512bf16");
  return hasTiles ? DotUnit::Amx : DotUnit::Avx512;
}

rt::Schedule attune::getSchedule(const CpuFeatures &features) {
  const RegisterFile &file = getRegisterFile(features);
  DotUnit unit = getDotUnit(features);
  rt::Schedule schedule;
  schedule.registerRows = file.registerRows;
  schedule.queryRows = file.queryRows;
  schedule.panelWidth = schedule.keyPanelWidth = file.panelWidth;
  schedule.blockBytes = file.blockBytes;
  bool wide = features.vectorBits >= 512, hasTiles = countVectors(features) >= 8;
  schedule.lowPrecisionRows = wide ? 8 : hasTiles ? 4 : 1;
  schedule.groupedRows = hasTiles ? 4 : 1;
  schedule.streamPanels = hasTiles ? 4 : 1;
  if (unit == DotUnit::Amx) {
    // An AMX tile has 16 rows of 64 bytes. Two by two tiles of sums leave tile registers for two tiles of each operand.
    schedule.bf16 = {rt::StorageType::BF16, 32};
    schedule.int8 = {rt::StorageType::I8, 64};
    schedule.lowPrecisionRows = schedule.lowPrecisionGroup = 32;
    schedule.evenLowPrecisionTiles = false;
  } else if (unit != DotUnit::Portable) {
    if (wide && has(features, "avx512bf16"))
      schedule.bf16 = {rt::StorageType::BF16, 2};
    if (has(features, wide ? "avx512vnni" : "avxvnni"))
      schedule.int8 = {rt::StorageType::I8, 4};
  }
  return schedule;
}

CpuSchedule attune::getCpuSchedule(const CpuFeatures &features) {
  const RegisterFile &file = getRegisterFile(features);
  CpuSchedule schedule;
  schedule.valueVectors = file.valueVectors;
  schedule.softmaxRows = file.softmaxRows;
  schedule.dotUnit = getDotUnit(features);
  schedule.vnni = has(features, features.vectorBits >= 512 ? "avx512vnni" : "avxvnni");
  schedule.roundsBF16 = features.vectorBits >= 512 && has(features, "avx512bf16");
  // CPUs of AMD, which have sse4a, read memory fastest in one stream. This setting is not for AMX tiles, which read
  // weights in another order.
  if (has(features, "sse4a") && schedule.dotUnit != DotUnit::Amx && schedule.dotUnit != DotUnit::Portable) {
    schedule.prefetchStreams = 1;
    schedule.prefetchAhead = 8192;
  }
  return schedule;
}
