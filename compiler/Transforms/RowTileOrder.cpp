//===- RowTileOrder.cpp - In which order a panel meets the rows ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/RowTileOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

void attune::turnEverySecondPanel(RewriterBase &rewriter, linalg::LinalgOp tiled, int64_t panelWidth) {
  auto tiles = tiled->getParentOfType<scf::ForOp>();
  auto blocks = tiled->getParentOfType<scf::ForallOp>();
  // A block of no more rows than a tile has no loop over tiles; a matrix of one panel has no loop over panels.
  if (!tiles || !blocks || blocks.getRank() != 2)
    return;
  Location loc = tiles.getLoc();
  rewriter.setInsertionPoint(tiles);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(rewriter, loc, value); };
  Value panel = arith::DivUIOp::create(rewriter, loc, blocks.getInductionVars()[1], constant(panelWidth));
  Value turned =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(rewriter, loc, panel, constant(1)), constant(0));
  Value begin = tiles.getLowerBound(), step = tiles.getStep();
  Value length = arith::SubIOp::create(rewriter, loc, tiles.getUpperBound(), begin);
  Value count = arith::CeilDivUIOp::create(rewriter, loc, length, step);
  Value last = arith::MulIOp::create(rewriter, loc, arith::SubIOp::create(rewriter, loc, count, constant(1)), step);
  // From the other end: begin + last - (row - begin).
  Value ends = arith::AddIOp::create(rewriter, loc, arith::AddIOp::create(rewriter, loc, last, begin), begin);
  rewriter.setInsertionPointToStart(tiles.getBody());
  Value row = tiles.getInductionVar();
  Operation *mirrored = arith::SubIOp::create(rewriter, loc, ends, row);
  Operation *chosen = arith::SelectOp::create(rewriter, loc, turned, mirrored->getResult(0), row);
  rewriter.replaceAllUsesExcept(row, chosen->getResult(0), SmallPtrSet<Operation *, 2>{mirrored, chosen});
}
