//===- FuseEpilogues.h - Epilogues of projections ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::xfmr {

/// Adds the patterns of `xfmr-fuse-epilogues` that move an activation or an addition, also that of a norm, into the
/// epilogue of the `linear` that computes an operand of it.
void populateEpiloguePatterns(RewritePatternSet &patterns);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_FUSEEPILOGUES_H
