//===- RowLimit.h - Blocks behind the last token ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_NVVM_ROWLIMIT_H
#define ATTUNE_TARGET_NVVM_ROWLIMIT_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// How many packed tokens there are, read in an iteration of |loop| if its rows are such (`attune-limit-rows`); null elsewhere.
mlir::Value readTokenCount(mlir::scf::ForallOp loop, ThreadBuilder &e);

/// Puts all that an iteration of |loop|, the code of a thread, does under the condition that its first row is a token.
void skipRowsBehindTokens(mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_TARGET_NVVM_ROWLIMIT_H
