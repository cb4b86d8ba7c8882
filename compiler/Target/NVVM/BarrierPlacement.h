//===- BarrierPlacement.h - Where threads wait for each other --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H
#define ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Inserts gpu.barrier into |loop| before every operation that conflicts with one since the last barrier: it reads a
/// buffer that was written, or writes one that was read or written. An operation in a loop conflicts with itself in the
/// next iteration. Arguments of a function are different buffers and do not overlap the workspace; parts of the
/// workspace may overlap each other.
void placeBarriers(mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_BARRIERPLACEMENT_H
