//===- LowPrecisionProjection.cpp - Projections of bf16 and f16 -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/LowPrecisionProjection.h"
#include "compiler/Target/NVVM/FusedEpilogue.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;

/// Returns true if |buffer| is a memref, contiguous in the last dimension, of elements for which |isElement| is true.
static bool hasType(Value buffer, bool (*isElement)(Type)) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && type.isLastDimUnitStride() && isElement(type.getElementType());
}

/// Returns true if |op|'s body is `sum + extf(row) * extf(panel)`.
static bool isWidenedMultiplyAdd(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  auto sum = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto product = sum ? sum.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  auto isWidened = [&](Value value, unsigned argument) {
    auto widened = value.getDefiningOp<arith::ExtFOp>();
    return widened && widened.getIn() == body->getArgument(argument);
  };
  return product && sum.getLhs() == body->getArgument(2) && isWidened(product.getLhs(), 0) && isWidened(product.getRhs(), 1);
}

bool attune::isMmaContraction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  MLIRContext *context = op->getContext();
  AffineExpr m = getAffineDimExpr(0, context), n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  if (maps[0] != AffineMap::get(3, 0, {m, k}, context) || maps[2] != AffineMap::get(3, 0, {m, n}, context) ||
      maps[1] != AffineMap::get(3, 0, {n.floorDiv(kPanelColumns), k.floorDiv(kChunk), n % kPanelColumns, k % kChunk}, context))
    return false;
  if (!isWidenedMultiplyAdd(op))
    return false;
  Value rows = op->getOperand(0), panels = op->getOperand(1);
  auto isCode = [](Type type) { return type.isBF16() || type.isF16(); };
  // An mma takes 16 components of K, so K must be a multiple of 16.
  return hasType(rows, isCode) && hasType(panels, isCode) && hasType(op->getOperand(2), [](Type type) { return type.isF32(); }) &&
         cast<MemRefType>(rows.getType()).getElementType() == cast<MemRefType>(panels.getType()).getElementType() &&
         !cast<MemRefType>(rows.getType()).isDynamicDim(1) && cast<MemRefType>(rows.getType()).getDimSize(1) % (2 * kChunk) == 0;
}

LowPrecisionProjection attune::matchLowPrecisionProjection(linalg::LinalgOp contraction) {
  LowPrecisionProjection projection{contraction, {}, {}};
  Value sums = contraction->getOperand(2);
  for (Operation *user : sums.getUsers())
    if (auto fill = dyn_cast<linalg::FillOp>(user);
        fill && areNeighbours(fill, contraction) && matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
      projection.zero = fill;
  if (projection.zero)
    projection.epilogue = findFusedEpilogue(contraction, sums, projection.zero);
  return projection;
}

GemmVariant attune::getGemmVariant(int64_t columns) {
  for (GemmVariant variant : {GemmVariant::Skinny, GemmVariant::Small})
    if (columns <= getMaxColumns(variant))
      return variant;
  return GemmVariant::Large;
}

int64_t attune::getMaxColumns(GemmVariant variant) {
  return variant == GemmVariant::Skinny ? 16 : variant == GemmVariant::Small ? 64 : 128;
}
