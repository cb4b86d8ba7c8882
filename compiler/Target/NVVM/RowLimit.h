//===- RowLimit.h - Guards for blocks past the last token -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_NVVM_ROWLIMIT_H
#define ATTUNE_TARGET_NVVM_ROWLIMIT_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Emits by |e| the load of the number of packed tokens and returns this number as an index, if the rows of |loop| are
/// packed tokens (see `attune-limit-rows`); emits nothing and returns null otherwise.
mlir::Value readTokenCount(mlir::scf::ForallOp loop, ThreadBuilder &e);

/// Moves the body of |loop|, the code of one thread, into a branch that is taken if the iteration's first row is a
/// token. Does nothing if the rows of |loop| are not packed tokens.
void skipRowsBehindTokens(mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_TARGET_NVVM_ROWLIMIT_H
