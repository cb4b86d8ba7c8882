//===- BarrierPlacement.h - Where threads wait for each other --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H
#define ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Inserts gpu.barrier into |loop| before every operation that conflicts with an earlier operation after the last
/// barrier: it reads a buffer that the earlier one writes, or writes a buffer that the earlier one reads or writes. The
/// operations of an inner loop may conflict with those of its next iteration. Views of one buffer, such as parts of the
/// workspace, are treated as overlapping; different function arguments and allocations do not overlap.
void placeBarriers(mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H
