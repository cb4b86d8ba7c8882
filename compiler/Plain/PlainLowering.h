//===- PlainLowering.h - From any phase to the llvm dialect -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINLOWERING_H
#define ATTUNE_COMPILER_PLAIN_PLAINLOWERING_H

#include "compiler/Support/Status.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// Lowers |module| to the llvm dialect by passes of MLIR alone: to loops over elements, without fusion and tiling.
/// replaceByCalls must have replaced the operations of this project's dialects. If a pass fails, returns its first
/// error.
Status lowerPlainly(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINLOWERING_H
