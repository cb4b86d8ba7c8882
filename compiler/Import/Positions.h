//===- Positions.h - Where tokens stand in their sequences ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_POSITIONS_H
#define ATTUNE_IMPORT_POSITIONS_H

#include "compiler/Import/TokenBatch.h"

namespace attune {

/// Returns the positions of |tokens| in their sequences, `[T]`, as rows of the position table of the stack |role|:
/// the values of the entry's input of positions if it has one; else counted as EmbeddingSpec says.
mlir::Value emitPositions(EntryScope &scope, StackRole role, TokenBatch &tokens);

/// Returns the rows of |tokens| in the tables of rotary embeddings of the stack |role|, `[T]`; null if no layer has
/// such a table. |length| is the length of the longest sequence, earlier tokens included.
mlir::Value emitRotaryRows(EntryScope &scope, StackRole role, TokenBatch &tokens, mlir::Value length);

} // namespace attune

#endif // ATTUNE_IMPORT_POSITIONS_H
