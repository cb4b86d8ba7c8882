//===- GpuSchedule.h - Tile sizes of GPUs, as data -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_GPUSCHEDULE_H
#define ATTUNE_COMPILER_TARGET_NVVM_GPUSCHEDULE_H

#include "dialect/Rt/IR/Schedule.h"

#include <cstdint>
#include <vector>

namespace attune {

struct GpuArchitecture;

/// Parameters that only the passes of GPUs read. A tile here is a thread-block tile.
struct GpuSchedule {
  /// Threads of a block, a multiple of 32.
  int64_t threads = 128;
  /// Largest shared memory of a block, in bytes; larger scratch stays in the workspace. Every GPU from sm_80 on allows
  /// 72 KiB: two such blocks fit into a multiprocessor of an A100, three into one of an H100.
  int64_t sharedBytes = 72 << 10;
  /// The parameters of architecture-specific code (`sm_90a`): the compute capability times 10 of its image (0: no such
  /// code), the columns of a projection tile, which has 128 rows, the number of its pipeline stages, the most bytes of
  /// shared memory of a block, and the most bytes of keys and values that concurrent blocks of attention read.
  ///
  /// A block of an H100 has a multiprocessor for itself. Tiles of 128 x 256 read 48 bytes of operands for 2048
  /// multiply-adds, which the tensor cores of a multiprocessor do in a cycle. Four stages of 48 KiB leave room for sums
  /// that are being stored. Keys and values may take 32 of the 50 MiB of L2 cache; the rest is for all other data.
  int64_t specificArch = 0, specificColumns = 256, specificStages = 4, specificBytes = 227 << 10, specificCacheBytes = 32 << 20;
};

/// The schedules for all GPUs of a list.
struct GpuSchedules {
  /// The part that passes of all targets read.
  mlir::rt::Schedule shared;
  GpuSchedule own;
};

/// Returns the schedules for |gpus| and projections of |precision|.
GpuSchedules getGpuSchedules(const std::vector<GpuArchitecture> &gpus, mlir::xfmr::Precision precision);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_GPUSCHEDULE_H
