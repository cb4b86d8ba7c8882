//===- GroupedPattern.h - Conversion patterns that number kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_GROUPEDPATTERN_H
#define ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_GROUPEDPATTERN_H

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Transforms/IndexBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attune {

/// A pattern that can mark the operations that it creates as one kernel, by |groups|.
template <typename Op>
struct GroupedPattern : mlir::OpConversionPattern<Op> {
  GroupedPattern(mlir::MLIRContext *context, KernelGroups &groups) : mlir::OpConversionPattern<Op>(context), groups(groups) {}
  KernelGroups &groups;
};

using Values = IndexBuilder::Values;

/// A conversion by the function |emit|, which returns the values that replace an operation, or no values if the
/// conversion does not apply to the operation.
template <typename Op>
class EmitPattern : public GroupedPattern<Op> {
public:
  using Emit = Values (*)(IndexBuilder &b, Op op, typename Op::Adaptor adaptor, KernelGroups &groups);

  EmitPattern(mlir::MLIRContext *context, KernelGroups &groups, Emit emit) : GroupedPattern<Op>(context, groups), emit(emit) {}

  llvm::LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor, mlir::ConversionPatternRewriter &rewriter) const override {
    IndexBuilder b(op.getLoc(), rewriter);
    Values values = emit(b, op, adaptor, this->groups);
    if (values.empty())
      return mlir::failure();
    rewriter.replaceOp(op, values);
    return mlir::success();
  }

private:
  Emit emit;
};

/// Adds the conversion of Op by |emit|. The compiler deduces Op from the type of the second parameter of |emit|.
template <typename Op>
void addConversion(mlir::RewritePatternSet &patterns, KernelGroups &groups,
                   Values (*emit)(IndexBuilder &, Op, typename Op::Adaptor, KernelGroups &)) {
  patterns.add<EmitPattern<Op>>(patterns.getContext(), groups, emit);
}

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_GROUPEDPATTERN_H
