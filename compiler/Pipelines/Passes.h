//===- Passes.h - Phases as passes -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_PASSES_H
#define ATTUNE_COMPILER_PIPELINES_PASSES_H

#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Pipelines/Passes.h.inc"

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_PASSES_H
