//===- PlainCalls.h - Operations as calls of reference functions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINCALLS_H
#define ATTUNE_COMPILER_PLAIN_PLAINCALLS_H

#include "compiler/Plain/OpCall.h"
#include "compiler/Support/Status.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace attune {

/// Replaces the operations of `xfmr` and `tile` in |module|, a clone of |original|, by calls into this process
/// (OpCall.h), and those of `rt` by plain calls and constants for a single worker. Removes weights. Returns the calls
/// into this process; |original| must outlive them. Fails if an operation has no reference function or a type that the
/// plain path does not support. The caller must set the results of the calls for `xfmr.weight_ref` before the first
/// execution. If |observesCalls|, adds a call into this process after each `func.call` that has operands and results of
/// known types.
Result<std::vector<std::unique_ptr<OpCall>>> replaceByCalls(mlir::ModuleOp module, mlir::ModuleOp original, bool wide,
                                                            bool observesCalls = false);

/// Replaces f32 by f64 in all types and constants of |module|. Fails if an operation uses the bits of an f32, which
/// depend on its size (`arith.bitcast`).
Status widenFloats(mlir::ModuleOp module);

/// Replaces each `memref.expand_shape` by a `memref.reinterpret_cast`, since the lowering of MLIR fails if a group has
/// several dynamic sizes.
void expandShapes(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINCALLS_H
