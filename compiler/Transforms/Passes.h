//===- Passes.h - Target-neutral passes below the xfmr dialect --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_PASSES_H
#define ATTUNE_COMPILER_TRANSFORMS_PASSES_H

#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Transforms/Passes.h.inc"

/// Creates upstream's canonicalizer without the simplification of regions: the IR has no branches to simplify, and the
/// search for them takes as long as all patterns together.
std::unique_ptr<mlir::Pass> createCanonicalizer();

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_PASSES_H
