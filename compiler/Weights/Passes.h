//===- Passes.h - Passes on weights -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_WEIGHTS_PASSES_H
#define ATTUNE_WEIGHTS_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Weights/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Weights/Passes.h.inc"

} // namespace attune

#endif // ATTUNE_WEIGHTS_PASSES_H
