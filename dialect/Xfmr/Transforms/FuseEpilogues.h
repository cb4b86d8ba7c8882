//===- FuseEpilogues.h - Epilogues of projections ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::xfmr {

/// Adds the patterns of `xfmr-fuse-epilogues` that move an activation, an addition or the residual of a norm into the
/// epilogue of a `linear`. They do not include the patterns that move an addition into a norm.
void populateEpiloguePatterns(RewritePatternSet &patterns);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H
