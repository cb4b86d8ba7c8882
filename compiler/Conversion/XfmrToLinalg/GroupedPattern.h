//===- GroupedPattern.h - Conversion patterns that number kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_GROUPEDPATTERN_H
#define ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_GROUPEDPATTERN_H

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attune {

/// A pattern whose Linalg operations get the number of a kernel.
template <typename Op>
struct GroupedPattern : mlir::OpConversionPattern<Op> {
  GroupedPattern(mlir::MLIRContext *context, KernelGroups &groups) : mlir::OpConversionPattern<Op>(context), groups(groups) {}
  KernelGroups &groups;
};

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_GROUPEDPATTERN_H
