//===- Passes.h - Passes of attune-reduce ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REDUCE_PASSES_H
#define ATTUNE_REDUCE_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Reduce/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Reduce/Passes.h.inc"

/// Adds the reduction patterns of the dialects `xfmr` and `tile` to |registry|. The pass `attune-reduce-module` and
/// MLIR's `reduction-tree` apply them.
void registerReductionPatterns(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_REDUCE_PASSES_H
