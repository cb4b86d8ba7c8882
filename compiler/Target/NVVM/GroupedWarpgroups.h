//===- GroupedWarpgroups.h - Quantized weights by warpgroups ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_GROUPEDWARPGROUPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_GROUPEDWARPGROUPS_H

#include "compiler/Target/NVVM/ProjectionLoop.h"

namespace attune {

/// Returns true if emitGroupedWarpgroups can compute |op|: isGroupedGemm(|op|), rows of at least 64 components, and a
/// format without minima whose groups are of 32 components, of a multiple of 64, or whole rows of a multiple of 32.
bool isGroupedWarpgroups(mlir::tiles::GroupedProductOp op);
/// Replaces the loop of |whole| by a loop over persistent blocks that compute tiles of 128 x 128 by wgmma. Only the
/// architecture |arch| (ten times the compute capability) runs the new loop. Returns the new loop. Expects
/// isGroupedWarpgroups(|whole|.projection.product).
mlir::scf::ForallOp emitGroupedWarpgroups(GroupedLoop whole, int64_t arch);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_GROUPEDWARPGROUPS_H
