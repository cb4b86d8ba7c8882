//===- Passes.h - Passes that lower host code to LLVM -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_PASSES_H
#define ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Conversion/HostToLLVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/HostToLLVM/Passes.h.inc"

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_PASSES_H
