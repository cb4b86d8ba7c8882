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

/// Numbers that only the passes of GPUs read. A tile is the work of a block of threads.
struct GpuSchedule {
  /// Threads of a block, a multiple of 32.
  int64_t threads = 128;
  /// Most bytes of shared memory of a block; scratch that needs more stays in the workspace. What a block of any GPU from sm_80 on can
  /// have: two such blocks fit into an A100's multiprocessor, three into an H100's.
  int64_t sharedBytes = 72 << 10;
  /// Architecture-specific code (`sm_90a`): the compute capability times 10 by which its image is known (0: no such code), the columns and
  /// the pipeline stages of a tile of 128 rows, the bytes of shared memory of a block, and those of keys and values that attention reads at
  /// a time.
  ///
  /// A block of an H100 has a multiprocessor for itself. Tiles of 128 x 256 read 48 bytes of operands for 2048 products; four stages of
  /// 48 KiB leave room for sums on their way out. Keys and values take a part of an L2 cache of 50 MiB, so that queries, results and other
  /// blocks have the rest.
  int64_t specificArch = 0, specificColumns = 256, specificStages = 4, specificBytes = 227 << 10, specificCacheBytes = 32 << 20;
};

/// The schedule of all GPUs of a list.
struct GpuSchedules {
  /// The part that passes of all targets read.
  mlir::rt::Schedule shared;
  GpuSchedule own;
};

/// Returns the schedule of |gpus| for inputs of |precision|.
GpuSchedules getGpuSchedules(const std::vector<GpuArchitecture> &gpus, mlir::xfmr::Precision precision);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_GPUSCHEDULE_H
