//===- HalideOps.h - The halide dialect ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_HALIDEOPS_H
#define ATTUNE_COMPILER_TARGET_HALIDE_HALIDEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "compiler/Target/Halide/HalideDialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/Target/Halide/HalideOps.h.inc"

namespace attune {

/// Adds the dialect and the bufferization of its operations to |registry|.
void registerHalideDialect(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_HALIDEOPS_H
