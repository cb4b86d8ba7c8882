//===- FirstDifference.h - Where do two modules first differ? ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compares the values inside of two modules, before and after a pass, in the order in which they are computed. Needed
// for passes that change several operations at once, or buffers: no operation alone is wrong then.
//
//   before the pass                         after it
//   xfmr.linear loc("a")        x x x       xfmr.linear loc("b")        y y y     not in the first module
//   xfmr.split_heads loc("a")   x x x       xfmr.split_heads loc("a")   y y y     differs: its operand is the first
//   call @softmax               z z         call @softmax               z z       difference
//
// Observed are the floats among the results of operations of `xfmr` and `tile`, which the two modules have at the same
// location, and the float tensors and buffers that called functions write. The values of one operation in all of its
// executions are one sequence, so a call for all rows is comparable with calls for blocks of rows.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_FIRSTDIFFERENCE_H
#define ATTUNE_COMPILER_BISECT_FIRSTDIFFERENCE_H

#include "compiler/Plain/PlainSteps.h"

namespace attune {

/// Executes both modules on |inputs| and finds the operation of |after| that computes the first value that differs.
/// Returns its name and location as text or, if its operands come from operations that |before| lacks, those of the
/// nearest of these; "" if no value differs. Fails if a module cannot be executed, unless |after| fails behind the
/// difference.
Result<std::string> findFirstDifference(mlir::ModuleOp before, mlir::ModuleOp after, const PlainWeights &weights,
                                        const PlainInputs &inputs);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_FIRSTDIFFERENCE_H
