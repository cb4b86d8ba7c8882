//===- FlashWarpgroups.h - Attention by warpgroups --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_FLASHWARPGROUPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_FLASHWARPGROUPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Whether |loop| is attention over (sequence, heads, tile of queries) that warpgroups can make: heads of 64 or 128 components.
bool isWarpgroupAttention(mlir::scf::ForallOp loop);
/// The loop of blocks that make pairs of tiles, in the place of |loop|, which is erased. |arch| is the GPU's that has it, and |cacheBytes|
/// are the keys and values that blocks should read at a time.
mlir::scf::ForallOp emitFlashWarpgroups(mlir::scf::ForallOp loop, int64_t arch, int64_t cacheBytes);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_FLASHWARPGROUPS_H
