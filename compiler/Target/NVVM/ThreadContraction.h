//===- ThreadContraction.h - Projections by the threads of a block -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_THREADCONTRACTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_THREADCONTRACTION_H

#include "compiler/Target/NVVM/ThreadLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Returns true if |op| multiplies rows by weight panels of 64 columns, all in f32:
/// `out[m, n] += x[m, k] panel[n / 64, k, n % 64]`, and is one tile: at most 64 rows, and columns of one panel only.
bool isContraction(mlir::linalg::LinalgOp op);
/// Emits |op| with sums in registers and tiles of the operands in shared memory. For up to 16 rows, operands do not
/// pass through shared memory (see ProjectionForms.h). Expects isContraction(|op|) and blocks of kBlockThreads threads.
/// The operation stays.
void emitContraction(mlir::linalg::LinalgOp op, const ThreadLoops &loops);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_THREADCONTRACTION_H
