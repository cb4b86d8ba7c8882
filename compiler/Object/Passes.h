//===- Passes.h - Passes that make entries callable from C ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_PASSES_H
#define ATTUNE_COMPILER_OBJECT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Object/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Object/Passes.h.inc"

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_PASSES_H
