//===- Registry.h - Dialects and passes of the compiler ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_REGISTRY_H
#define ATTUNE_COMPILER_DRIVER_REGISTRY_H

#include "mlir/IR/DialectRegistry.h"

namespace attune {

/// Adds every dialect and interface implementation that a phase uses.
void registerCompilerDialects(mlir::DialectRegistry &registry);
/// Registers Attune's passes and phase pipelines for tools that build pipelines from text.
void registerCompilerPasses();

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_REGISTRY_H
