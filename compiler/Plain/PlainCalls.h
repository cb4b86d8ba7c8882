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

/// Replaces the operations of `xfmr` and `tile` in |module|, a clone of |original|, by calls of functions of this
/// process (OpCall.h). Replaces those of `rt` for a single worker: `rt.parallel_call` by a `func.call`, the number of
/// the worker by 0, and the count of workers by 1. Erases `xfmr.weight`. With |wide|, the functions compute f32 as f64.
/// Returns the OpCall of each call. An OpCall refers to an operation of |original|, which must outlive it. The OpCall
/// of an `xfmr.weight_ref` is never computed: the caller must set its result before the first execution. If
/// |observesCalls|, also adds a call after each `func.call` whose operands and results have types that the plain path
/// supports. Fails if an operation has no reference function, is not in a function, or has a type that the plain path
/// does not support.
Result<std::vector<std::unique_ptr<OpCall>>> replaceByCalls(mlir::ModuleOp module, mlir::ModuleOp original, bool wide,
                                                            bool observesCalls = false);

/// Replaces f32 by f64 in all types and constants of |module|. Fails if an `arith.bitcast` has an operand or a result
/// of f32, since it uses the 32 bits of the f32.
Status widenFloats(mlir::ModuleOp module);

/// Replaces each `memref.expand_shape` by a `memref.reinterpret_cast`, since the lowering of MLIR fails if a
/// reassociation group has several dynamic sizes.
void expandShapes(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINCALLS_H
