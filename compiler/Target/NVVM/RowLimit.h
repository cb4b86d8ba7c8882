//===- RowLimit.h - Guards for blocks past the last token -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_NVVM_ROWLIMIT_H
#define ATTUNE_TARGET_NVVM_ROWLIMIT_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Emits the load of the number of packed tokens in an iteration of |loop|, if its rows are such (`attune-limit-rows`);
/// returns null otherwise.
mlir::Value readTokenCount(mlir::scf::ForallOp loop, ThreadBuilder &e);

/// Guards the body of |loop|, the code of a thread, by the condition that its first row is before the last token.
void skipRowsBehindTokens(mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_TARGET_NVVM_ROWLIMIT_H
