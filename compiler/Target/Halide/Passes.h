//===- Passes.h - Passes for kernels by Halide -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_PASSES_H
#define ATTUNE_COMPILER_TARGET_HALIDE_PASSES_H

#include "compiler/Target/Halide/HalideOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Target/Halide/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Target/Halide/Passes.h.inc"

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_PASSES_H
