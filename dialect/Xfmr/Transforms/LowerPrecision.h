//===- LowerPrecision.h - Which projections are rounded ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_LOWERPRECISION_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_LOWERPRECISION_H

#include "dialect/Xfmr/IR/XfmrOps.h"

namespace mlir::xfmr {

/// Returns the reason why the operands of |op| cannot be rounded to |precision|; if |precision| is f32, the reason why
/// its weights cannot have a format. Returns "" if there is no such reason.
StringRef whyNotInPrecision(LinearOp op, Precision precision);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_LOWERPRECISION_H
