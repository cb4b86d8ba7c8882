//===- Embeddings.h - The input of the first layer of a stack ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_EMBEDDINGS_H
#define ATTUNE_IMPORT_EMBEDDINGS_H

#include "compiler/Import/TokenBatch.h"

namespace attune {

/// Emits the embeddings of the stack |role| for |tokens|, `[T, H]`.
mlir::Value emitEmbeddings(EntryScope &scope, StackRole role, TokenBatch &tokens);

/// Splits |image| `[B, C, height, width]` into patches, `[B * patches, C * patchHeight * patchWidth]`. The patches of
/// an image are in row-major order; a patch has its pixels channel by channel, also in row-major order. Pixels on the
/// right and at the bottom that do not fill a patch are dropped.
mlir::Value emitPatches(EntryScope &scope, const PatchSpec &spec, mlir::Value image);

} // namespace attune

#endif // ATTUNE_IMPORT_EMBEDDINGS_H
