//===- BufferizableModels.h - Bufferization of tile and rt operations -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_BUFFERIZABLEMODELS_H
#define ATTUNE_COMPILER_TRANSFORMS_BUFFERIZABLEMODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace attune {

/// Registers BufferizableOpInterface for the operations of the tile and rt dialects that reach bufferization.
void registerBufferizableModels(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_BUFFERIZABLEMODELS_H
