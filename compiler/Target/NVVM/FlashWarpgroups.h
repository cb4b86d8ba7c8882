//===- FlashWarpgroups.h - Attention by warpgroups --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_FLASHWARPGROUPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_FLASHWARPGROUPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Returns true if emitFlashWarpgroups can compute |loop|: attention as a loop over (sequence, group of heads, query
/// tile), with heads of 64 or 128 components.
bool isWarpgroupAttention(mlir::scf::ForallOp loop);
/// Replaces |loop| by a loop over persistent blocks, each of which computes pairs of query tiles by warpgroups. Only
/// the architecture |arch| (ten times the compute capability) runs the new loop. The order of the pairs keeps the keys
/// and values that concurrent blocks read to about |cacheBytes| bytes. Returns the new loop. Expects
/// isWarpgroupAttention(|loop|).
mlir::scf::ForallOp emitFlashWarpgroups(mlir::scf::ForallOp loop, int64_t arch, int64_t cacheBytes);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_FLASHWARPGROUPS_H
