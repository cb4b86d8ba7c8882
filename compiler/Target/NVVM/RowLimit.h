//===- RowLimit.h - Guards for blocks past the last token -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_ROWLIMIT_H
#define ATTUNE_COMPILER_TARGET_NVVM_ROWLIMIT_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Emits by |e| the load of the number of tokens in the rows of |loop| and returns the number as an index, if the
/// `rt.launch` of |loop| has a `limit` (see `attune-limit-rows`). Otherwise emits nothing and returns null.
mlir::Value readTokenCount(mlir::scf::ForallOp loop, ThreadBuilder &e);

/// Moves the body of |loop|, the code of one thread, into a branch that is taken if the iteration's first row is less
/// than the number that readTokenCount loads. Does nothing if readTokenCount returns null.
void skipRowsBehindTokens(mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_ROWLIMIT_H
