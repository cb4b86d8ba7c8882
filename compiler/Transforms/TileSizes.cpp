//===- TileSizes.cpp - Sizes that depend on the number of rows -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/TileSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

using namespace mlir;
using namespace attune;

Value attune::countRows(RewriterBase &rewriter, DestinationStyleOpInterface op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  OpFoldResult rows = linalg::createFoldedDimOp(rewriter, loc, op.getDpsInits()[0], 0);
  AffineMap some = AffineMap::get(1, 0, {rewriter.getAffineDimExpr(0), rewriter.getAffineConstantExpr(1)}, rewriter.getContext());
  return getValueOrCreateConstantIndexOp(rewriter, loc, affine::makeComposedFoldedAffineMax(rewriter, loc, some, {rows}));
}

Value attune::divideEvenly(RewriterBase &rewriter, Location loc, Value rows, int64_t limit) {
  Value tiles = rewriter.createOrFold<arith::CeilDivUIOp>(loc, rows, arith::ConstantIndexOp::create(rewriter, loc, limit));
  return rewriter.createOrFold<arith::CeilDivUIOp>(loc, rows, tiles);
}

OpFoldResult attune::atMost(RewriterBase &rewriter, Location loc, Value rows, int64_t limit) {
  AffineMap bounded = AffineMap::get(1, 0, {rewriter.getAffineDimExpr(0), rewriter.getAffineConstantExpr(limit)}, rewriter.getContext());
  return affine::makeComposedFoldedAffineMin(rewriter, loc, bounded, {getAsOpFoldResult(rows)});
}

OpFoldResult attune::chooseByRows(RewriterBase &rewriter, DestinationStyleOpInterface op, int64_t limit, int64_t few, int64_t others) {
  Location loc = op.getLoc();
  Value rows = countRows(rewriter, op);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(rewriter, loc, value); };
  Value isFew = rewriter.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, rows, constant(limit));
  return atMost(rewriter, loc, rewriter.createOrFold<arith::SelectOp>(loc, isFew, constant(few), constant(others)), std::max(few, others));
}
