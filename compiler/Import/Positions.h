//===- Positions.h - Where tokens stand in their sequences ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_POSITIONS_H
#define ATTUNE_IMPORT_POSITIONS_H

#include "compiler/Import/TokenBatch.h"

namespace attune {

/// The positions of |tokens| in their sequences, `[T]`: those of the input, or as the stack |role| counts them.
mlir::Value emitPositions(EntryScope &scope, StackRole role, TokenBatch &tokens);

/// The rows of |tokens| in the rotary tables of the stack |role|, `[T]`; null if no layer has one. |length| is that of the longest
/// sequence, earlier tokens included.
mlir::Value emitRotaryRows(EntryScope &scope, StackRole role, TokenBatch &tokens, mlir::Value length);

} // namespace attune

#endif // ATTUNE_IMPORT_POSITIONS_H
