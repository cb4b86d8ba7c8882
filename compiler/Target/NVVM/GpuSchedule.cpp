//===- GpuSchedule.cpp - Tile sizes of GPUs, as data -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/GpuSchedule.h"
#include "compiler/Target/NVVM/GpuArchitecture.h"
#include "compiler/Target/NVVM/ImageEmitter.h"

using namespace mlir;
using namespace attune;

/// Returns the tile sizes and layouts that all GPUs share, for projections of |precision|.
static rt::Schedule getSharedSchedule(xfmr::Precision precision) {
  rt::Schedule schedule;
  // A block of rows is one tile of 64 rows. Key panels, also those of caches, have 64 keys, the keys of a step of
  // attention.
  schedule.registerRows = schedule.panelWidth = schedule.keyPanelWidth = schedule.attentionRows = schedule.maxBlockRows = 64;
  schedule.blockBytes = int64_t(1) << 30;
  // Four warps reduce a row each. Kernels that only round rows wait for memory less in many small blocks than in few
  // large ones.
  schedule.rowBlock = 4;
  schedule.quantizedRowBlock = 1;
  // Four warps have 16 query rows each.
  schedule.queryRows = 64;
  schedule.attentionPrecision = precision;
  schedule.hostReadsBuffers = false;
  schedule.outputsInPlace = true;
  schedule.maxFeatures = 0;
  schedule.streamPanels = 1;
  schedule.fewRows = schedule.fewColumns = 16;
  // Tensor cores multiply 16 components at once, and load instructions read 8 neighbors.
  schedule.bf16 = {rt::StorageType::BF16, 16, 8};
  schedule.lowPrecisionRows = 128;
  schedule.evenLowPrecisionTiles = false;
  // Large tiles read fewer bytes of operands, but there must be enough of them for all multiprocessors: an A100 has
  // 108, an H100 132.
  schedule.wideRows = schedule.wideColumns = schedule.wideBlocks = 128;
  return schedule;
}

GpuSchedules attune::getGpuSchedules(const std::vector<GpuArchitecture> &gpus, xfmr::Precision precision) {
  GpuSchedules schedules = {getSharedSchedule(precision), {}};
  for (const GpuArchitecture &gpu : gpus)
    if (gpu.hasWarpgroups())
      schedules.own.specificArch = gpu.number;
  for (const GpuArchitecture &gpu : gpus)
    if (gpu.emitter)
      gpu.emitter->adjust(schedules.shared, schedules.own);
  return schedules;
}
