//===- SplitDeepProjections.cpp - Projections of many features ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects fused epilogues, and the attribute `precision` of every linear. Splits f32 linears of many input features
// whose epilogues have only additions. A block of the input rows of each part then stays in the L2 cache while all
// panels of the part's weights are read.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_SPLITDEEPPROJECTIONS
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

/// The largest number of linears into which a projection may be split. A larger number is an error, since each linear
/// adds a few operations to the IR.
constexpr int64_t kMostParts = 4096;
/// The number of input features of every part but the last is rounded up to a multiple of this, but not above the
/// option `max-features`.
constexpr int64_t kPartMultiple = 64;

/// Returns true if |op| is an f32 projection whose matrix is a weight without a format of integers, and whose epilogue
/// has only additions.
bool isSum(LinearOp op) {
  bool hasGroups = op.getFormat() && !op.getFormat()->getValue().isFloat();
  return op.getActivation() == Activation::None && !op.getMultiplier() && op.getPrecision() == Precision::F32 && !hasGroups &&
         getElementTypeOrSelf(op.getType()).isF32() && isWeight(op.getWeight());
}

/// Replaces |op| by linears of |part| input features each, of which the last has the remaining features. Each linear
/// but the first adds the result of the one before as its residual.
void split(RewriterBase &rewriter, LinearOp op, int64_t part) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  int64_t features = op.getInput().getType().getDimSize(1);
  OpFoldResult tokens = tensor::getMixedSize(rewriter, loc, op.getInput(), 0);
  Value bias = op.getBias(), sum = op.getResidual();
  for (int64_t begin = 0; begin < features; begin += part) {
    int64_t end = std::min(begin + part, features);
    auto index = [&](int64_t value) -> OpFoldResult { return rewriter.getIndexAttr(value); };
    Value input = tensor::ExtractSliceOp::create(rewriter, loc, op.getInput(), ArrayRef{index(0), index(begin)},
                                                 ArrayRef{tokens, index(end - begin)}, ArrayRef{index(1), index(1)});
    Value weight = WeightSliceOp::create(rewriter, loc, op.getWeight(), begin, end);
    sum = LinearOp::create(rewriter, loc, input, weight, bias, Value(), sum, Activation::None, Precision::F32, op.getFormatAttr());
    bias = Value();
  }
  rewriter.replaceOp(op, sum);
}

struct SplitDeepProjections : xfmr::impl::SplitDeepProjectionsBase<SplitDeepProjections> {
  using SplitDeepProjectionsBase::SplitDeepProjectionsBase;

  void runOnOperation() override {
    if (maxFeatures <= 0)
      return;
    SmallVector<LinearOp> deep;
    getOperation().walk([&](LinearOp op) {
      if (isSum(op) && op.getInput().getType().getDimSize(1) > maxFeatures)
        deep.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (LinearOp op : deep) {
      int64_t features = op.getInput().getType().getDimSize(1), parts = llvm::divideCeil(features, maxFeatures);
      if (parts > kMostParts) {
        op.emitOpError("has ") << features << " input features, which are " << parts << " sums of up to " << maxFeatures.getValue()
                               << ", expected at most " << kMostParts;
        return signalPassFailure();
      }
      passed(op, "xfmr-split-deep-projections", "SplitDeepProjections")
          << remark::add("the sum over {0} features is {1} sums, each of which reads rows that stay in the cache", features, parts);
      split(rewriter, op, std::min<int64_t>(llvm::alignTo(llvm::divideCeil(features, parts), kPartMultiple), maxFeatures));
    }
  }
};

} // namespace
