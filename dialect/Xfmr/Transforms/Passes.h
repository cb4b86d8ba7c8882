//===- Passes.h - Passes on xfmr operations ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_PASSES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_PASSES_H

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::xfmr {

#define GEN_PASS_DECL
#include "dialect/Xfmr/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dialect/Xfmr/Transforms/Passes.h.inc"

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_PASSES_H
