//===- FirstDifference.h - Where do two modules first differ? ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compares the values inside of two modules, before and after a pass, in the order in which they are computed. This
// search serves passes that change several operations at once or that change buffers: no operation alone is wrong then.
//
//   before the pass                         after it
//   xfmr.linear loc("a")        x x x       xfmr.linear loc("b")        y y y     not in the first module
//   xfmr.split_heads loc("a")   x x x       xfmr.split_heads loc("a")   y y y     differs: its operand is the first
//   call @softmax               z z         call @softmax               z z       difference
//
// The search observes the f32 and f64 results of operations of `xfmr` and `tile`, and those results and buffers of f32
// and f64 that called functions return or write. It compares operations with the same name and location, and calls of
// functions with the same name. The values of one result or buffer in all executions are one sequence, so a call for
// all rows is comparable with calls for blocks of rows.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_FIRSTDIFFERENCE_H
#define ATTUNE_COMPILER_BISECT_FIRSTDIFFERENCE_H

#include "compiler/Plain/PlainSteps.h"

namespace attune {

/// Executes both modules on |inputs| and finds the operation of |after| that computes the first value that differs. If
/// operands of this operation come from operations that |before| lacks, takes the nearest of those instead. Returns the
/// name and location of the operation as text; "" if no value differs. Fails if a module cannot be executed, unless
/// |after| fails only after it has computed the different value.
Result<std::string> findFirstDifference(mlir::ModuleOp before, mlir::ModuleOp after, const PlainWeights &weights,
                                        const PlainInputs &inputs);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_FIRSTDIFFERENCE_H
