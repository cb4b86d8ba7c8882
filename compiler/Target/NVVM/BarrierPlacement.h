//===- BarrierPlacement.h - Where threads wait for each other --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H
#define ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Inserts a gpu.barrier into |loop| before every operation that conflicts with an earlier one, unless a barrier is
/// between both already. Two operations conflict if both access the same buffer and at least one of them writes it. An
/// operation of an inner loop may also conflict with operations of the iteration before. A view, such as a part of the
/// workspace, counts as the whole buffer that it was made of. Different function arguments and allocations are assumed
/// not to overlap.
void placeBarriers(mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H
