//===- TargetRegistration.h - Dialects and passes of targets ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_TARGETREGISTRATION_H
#define ATTUNE_COMPILER_TARGET_TARGETREGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace attune {

/// Adds the dialects of all registered targets and kernel backends to |registry|.
void registerTargetDialects(mlir::DialectRegistry &registry);
/// Registers the passes of all registered targets and kernel backends.
void registerTargetPasses();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_TARGETREGISTRATION_H
