//===- TurnPanels.cpp - In which order a panel meets the rows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Panel after panel reads all rows of a block. Where these and the weights of a panel do not fit into a cache, a cache that keeps what was
// used last would have dropped each row shortly before its turn, always. If every second panel goes through the rows from the end it misses
// only what does not fit.
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"
#include "compiler/Target/CPU/VectorizeTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace attune {
#define GEN_PASS_DEF_TURNPANELS
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Lets every second panel of |panelWidth| columns, those of the second dimension of |blocks|, go through |tiles| from the last one to the
/// first.
static void turnEverySecond(RewriterBase &rewriter, scf::ForallOp blocks, scf::ForOp tiles, int64_t panelWidth) {
  Location loc = tiles.getLoc();
  rewriter.setInsertionPoint(tiles);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(rewriter, loc, value); };
  Value panel = arith::DivUIOp::create(rewriter, loc, blocks.getInductionVars()[1], constant(panelWidth));
  Value odd = arith::AndIOp::create(rewriter, loc, panel, constant(1));
  Value turned = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, odd, constant(0));
  Value begin = tiles.getLowerBound(), step = tiles.getStep();
  Value length = arith::SubIOp::create(rewriter, loc, tiles.getUpperBound(), begin);
  Value count = arith::CeilDivUIOp::create(rewriter, loc, length, step);
  Value last = arith::MulIOp::create(rewriter, loc, arith::SubIOp::create(rewriter, loc, count, constant(1)), step);
  // begin + last - (row - begin).
  Value ends = arith::AddIOp::create(rewriter, loc, arith::AddIOp::create(rewriter, loc, last, begin), begin);
  rewriter.setInsertionPointToStart(tiles.getBody());
  Value row = tiles.getInductionVar();
  Operation *mirrored = arith::SubIOp::create(rewriter, loc, ends, row);
  Operation *chosen = arith::SelectOp::create(rewriter, loc, turned, mirrored->getResult(0), row);
  rewriter.replaceAllUsesExcept(row, chosen->getResult(0), SmallPtrSet<Operation *, 2>{mirrored, chosen});
}

namespace {
struct TurnPanels : attune::impl::TurnPanelsBase<TurnPanels> {
  using TurnPanelsBase::TurnPanelsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](linalg::LinalgOp op) {
      auto tiles = op->getParentOfType<scf::ForOp>();
      auto blocks = op->getParentOfType<scf::ForallOp>();
      if (tiles && blocks && blocks.getRank() == 2 && matchContraction(op) && isTooDeep(op))
        turnEverySecond(rewriter, blocks, tiles, panelWidth);
    });
  }

private:
  /// Whether the rows of a full block and a panel are more than a cache keeps. Codes of lower precision are not.
  bool isTooDeep(linalg::LinalgOp contraction) {
    int64_t depth = contraction.getStaticLoopRanges()[2];
    bool isF32 = cast<ShapedType>(contraction.getDpsInputs()[1].getType()).getElementType().isF32();
    return isF32 && ShapedType::isStatic(depth) && 4 * depth * (maxBlockRows + panelWidth) > blockBytes;
  }
};
} // namespace
