//===- ReductionPatterns.cpp - Reduction patterns of xfmr operations ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Reduce/Passes.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Reducer/ReductionPatternInterface.h"

using namespace mlir;

namespace {

/// Erases an optional operand of an operation of `xfmr` or `tile`: the first one without which the verifier accepts the
/// operation.
struct EraseOptionalOperands : RewritePattern {
  EraseOptionalOperands(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto sizes = dyn_cast_or_null<DenseI32ArrayAttr>(op->getInherentAttr(kSizes).value_or(Attribute()));
    if (!isa_and_nonnull<tiles::TileDialect, xfmr::XfmrDialect>(op->getDialect()) || !sizes)
      return failure();
    SmallVector<int32_t> left(sizes.asArrayRef());
    unsigned operand = 0;
    for (int32_t &size : left) {
      if (size == 1 && succeeded(eraseOperand(op, operand, size, left, rewriter)))
        return success();
      operand += size;
    }
    return failure();
  }

private:
  static constexpr llvm::StringLiteral kSizes = "operandSegmentSizes";

  static LogicalResult eraseOperand(Operation *op, unsigned operand, int32_t &size, ArrayRef<int32_t> sizes, PatternRewriter &rewriter) {
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    Operation *without = op->clone();
    without->eraseOperand(operand);
    size = 0;
    without->setAttr(kSizes, DenseI32ArrayAttr::get(op->getContext(), sizes));
    size = 1;
    bool isValid = succeeded(verify(without));
    if (isValid) {
      rewriter.insert(without);
      rewriter.replaceOp(op, without->getResults());
      return success();
    }
    without->destroy();
    return failure();
  }
};

struct OptionalOperandPatterns : DialectReductionPatternInterface {
  explicit OptionalOperandPatterns(Dialect *dialect) : DialectReductionPatternInterface(dialect) {}
  void populateReductionPatterns(RewritePatternSet &patterns) const override { patterns.add<EraseOptionalOperands>(patterns.getContext()); }
};

} // namespace

void attune::registerReductionPatterns(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, xfmr::XfmrDialect *dialect) { dialect->addInterfaces<OptionalOperandPatterns>(); });
  registry.addExtension(+[](MLIRContext *, tiles::TileDialect *dialect) { dialect->addInterfaces<OptionalOperandPatterns>(); });
}
