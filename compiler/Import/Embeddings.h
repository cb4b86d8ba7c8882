//===- Embeddings.h - What the first layer of a stack gets ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_EMBEDDINGS_H
#define ATTUNE_IMPORT_EMBEDDINGS_H

#include "compiler/Import/TokenBatch.h"

namespace attune {

/// Emits the embeddings of the stack |role| for |tokens|, `[T, H]`.
mlir::Value emitEmbeddings(EntryScope &scope, StackRole role, TokenBatch &tokens);

/// The patches of |image| `[B, C, height, width]` as rows `[B * patches, C * patchHeight * patchWidth]`, patches from left to right and
/// then down, the elements of each channel by channel.
mlir::Value emitPatches(EntryScope &scope, const PatchSpec &spec, mlir::Value image);

} // namespace attune

#endif // ATTUNE_IMPORT_EMBEDDINGS_H
