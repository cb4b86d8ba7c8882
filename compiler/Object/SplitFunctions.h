//===- SplitFunctions.h - Long straight code in several functions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_SPLITFUNCTIONS_H
#define ATTUNE_COMPILER_OBJECT_SPLITFUNCTIONS_H

#include "llvm/IR/Module.h"

namespace attune {

/// Moves the calls of blocks with very many of them, which are those of entries of models with hundreds of layers, to internal functions of
/// a few hundred calls each. LLVM's register allocator takes time that grows with the square of the length of a block; results and the
/// order of calls stay as they are. Other functions are not touched.
void splitLongFunctions(llvm::Module &module);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_SPLITFUNCTIONS_H
