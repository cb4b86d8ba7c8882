//===- ProjectionLoop.cpp - Loops that are one projection -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ProjectionLoop.h"
#include "compiler/Target/NVVM/FusedEpilogue.h"
#include "compiler/Transforms/DimBounds.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;

/// Clones the operations of |block| at the insertion point. In place of a loop, clones the operations of its first
/// iteration.
static void cloneBlock(OpBuilder &builder, Block &block, IRMapping &map) {
  for (Operation &op : block.without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop) {
      builder.clone(op, map);
      continue;
    }
    map.map(loop.getInductionVar(), map.lookupOrDefault(loop.getLowerBound()));
    cloneBlock(builder, *loop.getBody(), map);
  }
}

/// Clones the operations of iteration (|row|, |column|) of |loop| at the insertion point. Returns the mapping from the
/// operations of |loop| to the clones.
static IRMapping cloneIteration(OpBuilder &builder, scf::ForallOp loop, Value row, Value column) {
  IRMapping map;
  map.map(loop.getInductionVars()[0], row);
  map.map(loop.getInductionVars()[1], column);
  cloneBlock(builder, *loop.getBody(), map);
  return map;
}

LowPrecisionProjection ProjectionLoop::cloneAt(OpBuilder &builder, Value row, Value column) {
  IRMapping map = cloneIteration(builder, loop, row, column);
  auto find = [&](Operation *op) { return op ? map.lookupOrNull(op) : nullptr; };
  LowPrecisionProjection clone{cast<linalg::LinalgOp>(find(projection.contraction)), {}, cast<linalg::FillOp>(find(projection.zero))};
  if (projection.epilogue)
    clone.epilogue = cast<linalg::LinalgOp>(find(projection.epilogue));
  return clone;
}

/// Returns the row at which |rows| begins in the matrix of which it is a subview; 0 if it is no subview.
static Value getFirstRow(Value rows, OpBuilder &builder) {
  auto view = rows.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return arith::ConstantIndexOp::create(builder, rows.getLoc(), 0);
  return getValueOrCreateConstantIndexOp(builder, view.getLoc(), view.getMixedOffsets()[0]);
}

Value ProjectionLoop::firstRow(LowPrecisionProjection clone, OpBuilder &builder) {
  return getFirstRow(clone.contraction->getOperand(0), builder);
}

void ProjectionLoop::erase(LowPrecisionProjection clone) {
  for (Operation *op : {clone.epilogue.getOperation(), clone.contraction.getOperation(), clone.zero.getOperation()})
    if (op)
      op->erase();
}

/// Returns the buffer outside of |loop| of which |view| is a part, or which |view| is. The part may have fewer elements
/// than the buffer only in the dimensions |cut|. Returns null if there is no such buffer with an identity layout.
static Value findMatrix(Value view, scf::ForallOp loop, ArrayRef<int64_t> cut) {
  if (auto part = view.getDefiningOp<memref::SubViewOp>()) {
    auto source = dyn_cast<MemRefType>(part.getSource().getType());
    if (!part.hasUnitStride() || part.getType().getRank() != source.getRank())
      return {};
    for (int64_t dim = 0; dim < source.getRank(); ++dim)
      if (!llvm::is_contained(cut, dim) &&
          (!isConstantIntValue(part.getMixedOffsets()[dim], 0) || !isConstantIntValue(part.getMixedSizes()[dim], source.getDimSize(dim))))
        return {};
    view = part.getSource();
  }
  auto type = cast<MemRefType>(view.getType());
  bool isOutside = loop.isDefinedOutsideOfLoop(view);
  return isOutside && type.getLayout().isIdentity() ? view : Value();
}

/// Returns true if |value| is the affine |expression| of |variable|.
static bool isFunctionOf(OpFoldResult value, Value variable, AffineExpr expression) {
  auto apply = dyn_cast_if_present<affine::AffineApplyOp>(dyn_cast<Value>(value) ? cast<Value>(value).getDefiningOp() : nullptr);
  return apply && apply.getAffineMap().getResult(0) == expression && apply.getMapOperands().size() == 1 &&
         apply.getMapOperands()[0] == variable;
}

/// Returns true if the view |panels| begins at column |column|: panel |column| / 64, column |column| % 64 in it.
static bool beginsAt(Value panels, Value column) {
  auto view = panels.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return false;
  AffineExpr d = getAffineDimExpr(0, view.getContext());
  return isFunctionOf(view.getMixedOffsets()[0], column, d.floorDiv(kPanelColumns)) &&
         isFunctionOf(view.getMixedOffsets()[2], column, d % kPanelColumns);
}

/// Returns true if the first row of the view |input| is |row|, or |row| plus the induction variable of an inner loop.
static bool beginsAtRow(Value input, Value row) {
  auto view = input.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return false;
  auto first = dyn_cast<Value>(view.getMixedOffsets()[0]);
  if (!first || first == row)
    return first == row;
  auto apply = first.getDefiningOp<affine::AffineApplyOp>();
  auto sum = dyn_cast_if_present<AffineBinaryOpExpr>(apply ? apply.getAffineMap().getResult(0) : AffineExpr());
  if (!sum || sum.getKind() != AffineExprKind::Add || apply.getMapOperands().size() != 2 ||
      !isa<AffineDimExpr, AffineSymbolExpr>(sum.getLHS()) || !isa<AffineDimExpr, AffineSymbolExpr>(sum.getRHS()) ||
      sum.getLHS() == sum.getRHS())
    return false;
  return llvm::all_of(apply.getMapOperands(), [&](Value operand) { return operand == row || scf::getForInductionVarOwner(operand); }) &&
         llvm::is_contained(apply.getMapOperands(), row);
}

/// Returns true if |view| begins at column |column| and at row |row|, or |row| plus induction variables of inner loops.
static bool beginsAtElement(Value view, Value row, Value column) {
  int64_t found[2] = {0, 0};
  for (auto part = view.getDefiningOp<memref::SubViewOp>(); part; part = part.getSource().getDefiningOp<memref::SubViewOp>()) {
    if (!part.hasUnitStride() || part.getMixedOffsets().size() != 2)
      return false;
    for (int64_t dim = 0; dim < 2; ++dim) {
      OpFoldResult offset = part.getMixedOffsets()[dim];
      auto value = dyn_cast<Value>(offset);
      if (value && value == (dim == 0 ? row : column))
        ++found[dim];
      else if (!isConstantIntValue(offset, 0) && !(value && dim == 0 && scf::getForInductionVarOwner(value)))
        return false;
    }
  }
  return found[0] == 1 && found[1] == 1;
}

/// Returns true if |loop| has two dimensions that begin at 0, and its body is only index arithmetic, views, loops of at
/// most one iteration with steps of at least |rows|, and operations for which |isProduct| returns true.
static bool hasOnlyProducts(scf::ForallOp loop, int64_t rows, llvm::function_ref<bool(Operation *)> isProduct) {
  if (loop.getRank() != 2 || !isConstantIntValue(loop.getMixedLowerBound()[0], 0) || !isConstantIntValue(loop.getMixedLowerBound()[1], 0))
    return false;
  DimBounds bounds;
  WalkResult walk = loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (isProduct(op))
      return WalkResult::skip();
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      std::optional<int64_t> step = getConstantIntValue(inner.getStep());
      if (inner.getNumResults() != 0 || !step || *step < rows || !isConstantIntValue(inner.getLowerBound(), 0))
        return WalkResult::interrupt();
      std::optional<int64_t> most = bounds.getConstantValue(inner.getUpperBound());
      return most && *most <= *step ? WalkResult::advance() : WalkResult::interrupt();
    }
    return isMemoryEffectFree(op) || isa<memref::ViewOp, rt::WorkerIdOp>(op) || op->hasTrait<OpTrait::IsTerminator>()
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return !walk.wasInterrupted();
}

std::optional<ProjectionLoop> attune::matchProjectionLoop(scf::ForallOp loop, int64_t rows) {
  linalg::LinalgOp contraction;
  SmallVector<Operation *> others;
  bool isPure = hasOnlyProducts(loop, rows, [&](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && !contraction && isMmaContraction(linalgOp))
      contraction = linalgOp;
    else if (linalgOp)
      others.push_back(op);
    return linalgOp != nullptr;
  });
  if (!isPure || !contraction)
    return std::nullopt;
  ProjectionLoop whole{loop, matchLowPrecisionProjection(contraction), findMatrix(contraction->getOperand(0), loop, {0}),
                       findMatrix(contraction->getOperand(1), loop, {0, 2})};
  LowPrecisionProjection &projection = whole.projection;
  auto isPart = [&](Operation *op) { return op == projection.zero.getOperation() || op == projection.epilogue.getOperation(); };
  if (!whole.input || !whole.panels || !projection.zero || !llvm::all_of(others, isPart) ||
      !beginsAt(contraction->getOperand(1), loop.getInductionVars()[1]) ||
      !beginsAtRow(contraction->getOperand(0), loop.getInductionVars()[0]))
    return std::nullopt;
  return whole;
}

GroupedProjection GroupedLoop::cloneAt(OpBuilder &builder, Value row, Value column) {
  IRMapping map = cloneIteration(builder, loop, row, column);
  GroupedProjection clone{cast<tiles::GroupedProductOp>(map.lookupOrNull(projection.product.getOperation())), {}};
  if (projection.epilogue)
    clone.epilogue = cast<linalg::LinalgOp>(map.lookupOrNull(projection.epilogue.getOperation()));
  return clone;
}

Value GroupedLoop::firstRow(GroupedProjection clone, OpBuilder &builder) { return getFirstRow(clone.product.getRows(), builder); }

void GroupedLoop::erase(GroupedProjection clone) {
  if (clone.epilogue)
    clone.epilogue->erase();
  clone.product.erase();
}

std::optional<GroupedLoop> attune::matchGroupedLoop(scf::ForallOp loop, int64_t rows) {
  SmallVector<tiles::GroupedProductOp> products;
  SmallVector<linalg::LinalgOp> others;
  bool isPure = hasOnlyProducts(loop, rows, [&](Operation *op) {
    if (auto product = dyn_cast<tiles::GroupedProductOp>(op))
      products.push_back(product);
    else if (auto other = dyn_cast<linalg::LinalgOp>(op))
      others.push_back(other);
    else
      return false;
    return true;
  });
  if (!isPure || products.size() != 1 || others.size() > 1)
    return std::nullopt;
  tiles::GroupedProductOp product = products[0];
  GroupedProjection projection{product, findFusedEpilogue(product, product.getDestination())};
  if (!others.empty() && projection.epilogue != others[0])
    return std::nullopt;
  GroupedLoop whole{loop, projection, findMatrix(product.getRows(), loop, {0})};
  Value row = loop.getInductionVars()[0], column = loop.getInductionVars()[1];
  auto panels = product.getPanels().getDefiningOp<memref::SubViewOp>();
  AffineExpr inPanels = getAffineDimExpr(0, loop.getContext()).floorDiv(static_cast<int64_t>(product.getWidth()));
  if (!whole.input || !beginsAtRow(product.getRows(), row) || !beginsAtElement(projection.getOutput(), row, column) || !panels ||
      !findMatrix(panels, loop, {0}) || !isFunctionOf(panels.getMixedOffsets()[0], column, inPanels))
    return std::nullopt;
  return whole;
}
