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

/// Replaces the operations of `xfmr`, `tile` and `rt` in |module|, a clone of |original|, by calls into this process, and
/// removes weights. Returns a call for each of these operations; |original| must outlive them. The calls of
/// `xfmr.weight_ref` need their result before the first execution.
Result<std::vector<std::unique_ptr<OpCall>>> replaceByCalls(mlir::ModuleOp module, mlir::ModuleOp original, bool wide);

/// Makes f64 of all f32 in |module|, in which no operation depends on the size of f32. Fails at an operation that uses the
/// bits of an f32.
Status widenFloats(mlir::ModuleOp module);

/// Makes `memref.reinterpret_cast` of `memref.expand_shape`, whose upstream lowering fails for several dynamic sizes.
void expandShapes(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINCALLS_H
