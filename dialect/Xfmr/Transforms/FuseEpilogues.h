//===- FuseEpilogues.h - Residuals into projections -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::xfmr {

/// Adds the patterns that make the other addend of a linear's result, in an addition or in a norm with a residual, the
/// residual of the linear.
void populateResidualPatterns(RewritePatternSet &patterns);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H
