//===- Work.cpp - Arithmetic of operations as closed forms ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Work.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

using Count = std::optional<SizeExpr>;

static Count countLinear(LinearOp op, DimBounds &bounds) {
  auto weight = cast<RankedTensorType>(op.getWeight().getType());
  Count rows = bounds.getDim(op.getInput(), 0);
  return rows ? Count(*rows * SizeExpr(2 * weight.getNumElements())) : std::nullopt;
}

static Count countAttention(AttentionOp op, DimBounds &bounds) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  Count offsets = bounds.getDim(op.getQueryOffsets(), 0), queries = bounds.getValue(op.getQueryLength()),
        keys = bounds.getValue(op.getKeyLength());
  if (!offsets || !queries || !keys)
    return std::nullopt;
  int64_t tables = bool(op.getRelativeKey()) + bool(op.getRelativeQuery());
  int64_t perScore = 2 * query.getDimSize(1) * ((1 + tables) * query.getDimSize(2) + op.getValueDim());
  return (*offsets + SizeExpr(-1)) * *queries * *keys * SizeExpr(perScore);
}

static Count countGroupedProduct(tiles::GroupedProductOp op, DimBounds &bounds) {
  Count rows = bounds.getDim(op.getRows(), 0);
  int64_t depth = cast<ShapedType>(op.getRows().getType()).getDimSize(1);
  int64_t columns = cast<ShapedType>(op.getDestination().getType()).getDimSize(1);
  return rows && !ShapedType::isDynamic(columns) ? Count(*rows * SizeExpr(2 * depth * columns)) : std::nullopt;
}

/// Returns true if |op| is taken for a sum of products, such as a projection, in any layout of weights: it multiplies,
/// and has three or more loops, at least one of them a reduction.
static bool sumsProducts(linalg::LinalgOp op) {
  if (op.getNumLoops() < 3 || op.getNumReductionLoops() == 0 || op->getNumRegions() == 0)
    return false;
  return llvm::any_of(*op.getBlock(), [](Operation &inner) { return isa<arith::MulFOp, arith::MulIOp>(inner); });
}

static Count countLoops(linalg::LinalgOp op, DimBounds &bounds) {
  if (!sumsProducts(op))
    return SizeExpr(0);
  SizeExpr total(2);
  for (unsigned loop = 0; loop != op.getNumLoops(); ++loop) {
    SmallVector<std::pair<Value, unsigned>> uses;
    op.mapIterationSpaceDimToAllOperandDims(loop, uses);
    // The length of a loop is that of a dimension that this loop alone indexes.
    Count length;
    for (auto [operand, dim] : uses)
      if (!length)
        length = bounds.getDim(operand, dim);
    if (!length)
      return std::nullopt;
    total = total * *length;
  }
  return total;
}

Count attune::countFlops(Operation *op, DimBounds &bounds) {
  return llvm::TypeSwitch<Operation *, Count>(op)
      .Case([&](LinearOp linear) { return countLinear(linear, bounds); })
      .Case([&](AttentionOp attention) { return countAttention(attention, bounds); })
      .Case([&](tiles::GroupedProductOp product) { return countGroupedProduct(product, bounds); })
      .Case([&](linalg::LinalgOp loops) { return countLoops(loops, bounds); })
      .Default([](Operation *) { return SizeExpr(0); });
}

/// Returns the bytes of the keys and values of one token in all heads.
static SizeExpr tokenBytes(ShapedType keys, ShapedType values) {
  return SizeExpr(keys.getDimSize(1) * (keys.getDimSize(3) + values.getDimSize(3)) * (keys.getElementTypeBitWidth() / 8));
}

Count attune::countCacheBytes(Operation *op, DimBounds &bounds) {
  if (auto attention = dyn_cast<AttentionOp>(op); attention && attention.isCached()) {
    Count offsets = bounds.getDim(attention.getQueryOffsets(), 0), keys = bounds.getValue(attention.getKeyLength());
    if (offsets && keys)
      return (*offsets + SizeExpr(-1)) * *keys * tokenBytes(attention.getKey().getType(), attention.getValue().getType());
  }
  if (auto update = dyn_cast<KvCacheUpdateOp>(op)) {
    Count tokens = bounds.getDim(update.getKey(), 0);
    if (Count length = update.getOffsets() ? Count(SizeExpr(1)) : bounds.getDim(update.getKey(), 2); tokens && length)
      return *tokens * *length * tokenBytes(update.getKeyCache().getType(), update.getValueCache().getType());
  }
  if (auto read = dyn_cast<KvCacheReadOp>(op)) {
    Count slots = bounds.getDim(read.getKeyCache(), 0), length = bounds.getValue(read.getLength());
    if (slots && length)
      return *slots * *length * tokenBytes(read.getKeyCache().getType(), read.getValueCache().getType());
  }
  return std::nullopt;
}

Count attune::countBytes(Value shaped, DimBounds &bounds, Type element) {
  auto type = dyn_cast<RankedTensorType>(shaped.getType());
  if (type && !element)
    element = type.getElementType();
  if (!type || !element.isIntOrFloat())
    return SizeExpr(0);
  SizeExpr total(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Count size = bounds.getDim(shaped, dim);
    if (!size)
      return std::nullopt;
    total = total * *size;
  }
  return total;
}

Count CallSum::countCall(func::CallOp call) {
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return SizeExpr(0);
  Count inside = count(callee);
  return inside ? bounds.atCall(call, *inside) : std::nullopt;
}

Count CallSum::count(func::FuncOp function) {
  if (auto it = counted.find(function); it != counted.end())
    return it->second;
  counted[function] = SizeExpr(0); // the count within a recursion
  SizeExpr total;
  WalkResult walk = function.walk([&](Operation *op) -> WalkResult {
    auto call = dyn_cast<func::CallOp>(op);
    Count found = call ? countCall(call) : countOp(op, bounds);
    if (!found)
      return op->emitError() << "the " << what << " of this operation cannot be computed from the dims of the entry";
    total = total + *found;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  return counted[function] = total;
}

int64_t attune::countRuns(Operation *op) {
  int64_t runs = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<llvm::APInt> count = loop.getStaticTripCount())
      runs *= count->getSExtValue();
  return runs;
}

int64_t attune::countRowsPerToken(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!loop)
    return 1;
  for (auto slice : loop.getBody()->getOps<tensor::ExtractSliceOp>())
    if (auto lists = slice.getSource().getDefiningOp<ListByExpertOp>())
      return cast<RankedTensorType>(lists.getChoices().getType()).getDimSize(1);
  return 1;
}

void attune::setWork(Operation *loop, const Count &flops, const Count &cacheBytes) {
  MLIRContext *context = loop->getContext();
  auto formula = [&](const Count &count) { return count ? count->toFormula(context) : FormulaAttr(); };
  if (flops || cacheBytes)
    loop->setAttr(tiles::kWorkAttr, tiles::WorkAttr::get(context, formula(flops), formula(cacheBytes)));
}
