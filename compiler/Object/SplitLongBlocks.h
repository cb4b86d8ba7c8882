//===- SplitLongBlocks.h - Long blocks in several functions -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_SPLITLONGBLOCKS_H
#define ATTUNE_COMPILER_OBJECT_SPLITLONGBLOCKS_H

#include "llvm/IR/Module.h"

namespace attune {

/// Moves the calls of every basic block with more than 2048 calls, such as the entry of a model with hundreds of
/// layers, to internal functions of at most 256 calls, since the time of LLVM's register allocation grows with the
/// square of the length of a block. Calls that LLVM cannot extract stay. Results and the order of calls do not change.
void splitLongBlocks(llvm::Module &module);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_SPLITLONGBLOCKS_H
