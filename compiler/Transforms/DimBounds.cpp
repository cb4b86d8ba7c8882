//===- DimBounds.cpp - Upper bounds of sizes in terms of dims -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/DimBounds.h"
#include "compiler/Transforms/BoundArithmetic.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

SmallVector<StringRef> attune::getEntryDims(func::FuncOp entry) {
  SmallVector<StringRef> names;
  auto add = [&](StringRef name) {
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  };
  auto addAll = [&](ArrayAttr dims) {
    for (Attribute dim : dims)
      if (auto name = dyn_cast<StringAttr>(dim))
        add(name);
  };
  for (unsigned i = 0; i != entry.getNumArguments(); ++i) {
    if (xfmr::SessionDimAttr dim = xfmr::getSessionDim(entry, i))
      add(xfmr::stringifySessionDim(dim.getValue()));
    else if (ArrayAttr dims = xfmr::getArgumentDims(entry, i); dims && !xfmr::getCache(entry, i))
      addAll(dims);
  }
  for (unsigned i = 0; i != entry.getNumResults(); ++i)
    if (xfmr::OutputAttr output = xfmr::getResultOutput(entry, i))
      addAll(output.getDims());
  return names;
}

/// Returns the name of argument |index| of |function| if it is a session dim, such as `past`; else null.
static StringAttr getSessionDimName(func::FuncOp function, unsigned index) {
  xfmr::SessionDimAttr dim = xfmr::getSessionDim(function, index);
  return dim ? StringAttr::get(function.getContext(), xfmr::stringifySessionDim(dim.getValue())) : StringAttr();
}

/// Returns the bound of index argument |index|: a symbol that stands for it. In an entry, an index argument must be a
/// session dim, such as `past`; others have no bound.
static Bound getArgumentBound(func::FuncOp function, unsigned index) {
  if (!xfmr::getEntry(function))
    return SizeExpr::symbol(xfmr::ArgumentAttr::get(function.getContext(), index, std::nullopt));
  StringAttr dim = getSessionDimName(function, index);
  return dim ? Bound(SizeExpr::symbol(dim)) : std::nullopt;
}

Value DimBounds::materialize(OpBuilder &builder, func::FuncOp function, Attribute symbol) {
  auto dimOf = [&](unsigned argument, int64_t dim) -> Value {
    return memref::DimOp::create(builder, function.getLoc(), function.getArgument(argument), dim);
  };
  if (auto argument = dyn_cast<xfmr::ArgumentAttr>(symbol))
    return argument.getDim() ? dimOf(argument.getIndex(), *argument.getDim()) : Value(function.getArgument(argument.getIndex()));
  for (unsigned i = 0; i != function.getNumArguments(); ++i)
    if (StringAttr dim = getSessionDimName(function, i); dim && dim == symbol)
      return function.getArgument(i);
  for (unsigned i = 0; i != function.getNumArguments(); ++i)
    if (ArrayAttr names = xfmr::getArgumentDims(function, i))
      for (auto [dim, name] : llvm::enumerate(names))
        if (name == symbol)
          return dimOf(i, dim);
  llvm_unreachable("every symbol of an entry is named by an argument");
}

std::optional<int64_t> DimBounds::getConstantValue(Value value) {
  std::optional<SizeExpr> bound = getValue(value);
  return bound ? bound->getConstant() : std::nullopt;
}

std::optional<int64_t> DimBounds::getConstantDim(Value shaped, int64_t dim) {
  std::optional<SizeExpr> bound = getDim(shaped, dim);
  return bound ? bound->getConstant() : std::nullopt;
}

Bound DimBounds::atCall(func::CallOp call, const SizeExpr &expr) {
  bool known = true;
  SizeExpr result = expr.substitute([&](Attribute symbol) -> SizeExpr {
    auto argument = dyn_cast<xfmr::ArgumentAttr>(symbol);
    if (!argument)
      return SizeExpr::symbol(symbol);
    Value operand = call.getOperand(argument.getIndex());
    Bound bound = argument.getDim() ? getDim(operand, *argument.getDim()) : getValue(operand);
    known &= bound.has_value();
    return bound.value_or(SizeExpr(0));
  });
  return known ? Bound(result) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Index values
//===----------------------------------------------------------------------===//

Bound DimBounds::getValue(Value value) {
  if (auto it = values.find(value); it != values.end())
    return it->second;
  values[value] = std::nullopt; // cycles have no bound
  Bound bound = computeValue(value);
  if (!bound)
    bound = getSliceBound(value);
  values[value] = bound;
  return bound;
}

Bound DimBounds::getFold(OpFoldResult value) {
  if (auto constant = getConstantIntValue(value))
    return SizeExpr(*constant);
  return getValue(cast<Value>(value));
}

/// Returns a bound of |value| from the slices of stride 1 that have |value| as the size of a dimension. A slice lies
/// within its source, so |value| is at most the size of that dimension of the source. Returns the best of these bounds;
/// nullopt if there is none.
Bound DimBounds::getSliceBound(Value value) {
  Bound bound;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(user);
    if (!slice || !isa<memref::SubViewOp, tensor::ExtractSliceOp>(user))
      continue;
    for (auto [dim, size, stride] : llvm::enumerate(slice.getMixedSizes(), slice.getMixedStrides()))
      if (size == OpFoldResult(value) && isConstantIntValue(stride, 1))
        bound = min(bound, getDim(user->getOperand(0), dim));
  }
  return bound;
}

/// Returns the bound of |expr|, an expression of |map| on |operands|. Dims and induction variables are not negative, so
/// a term with a negative constant factor counts as 0.
Bound DimBounds::getAffine(AffineExpr expr, AffineMap map, ValueRange operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return SizeExpr(std::max<int64_t>(0, constant.getValue()));
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getValue(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getValue(operands[map.getNumDims() + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  auto lhs = [&] { return getAffine(binary.getLHS(), map, operands); };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    if (Bound left = lhs(); left && constant && constant.getValue() < 0)
      return *left + SizeExpr(constant.getValue());
    return lhs() + getAffine(binary.getRHS(), map, operands);
  case AffineExprKind::Mul:
    if (constant && constant.getValue() < 0)
      return SizeExpr(0);
    return lhs() * getAffine(binary.getRHS(), map, operands);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    if (Bound left = lhs(); left && constant && constant.getValue() > 0)
      return expr.getKind() == AffineExprKind::CeilDiv ? left->ceilDiv(constant.getValue()) : left->floorDiv(constant.getValue());
    return lhs(); // a divisor is at least 1
  case AffineExprKind::Mod:
    return constant ? Bound(SizeExpr(constant.getValue() - 1)) : lhs();
  default:
    return std::nullopt;
  }
}

Bound DimBounds::computeValue(Value value) {
  if (auto constant = getConstantIntValue(value))
    return SizeExpr(std::max<int64_t>(0, *constant));
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast<func::FuncOp>(parent))
      return getArgumentBound(function, argument.getArgNumber());
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return value == loop.getInductionVar() ? getValue(loop.getUpperBound()) : std::nullopt;
    if (auto loop = dyn_cast<scf::ForallOp>(parent); loop && argument.getArgNumber() < loop.getRank())
      return getFold(loop.getMixedUpperBound()[argument.getArgNumber()]);
    return std::nullopt;
  }
  auto divide = [&](auto op, bool up) -> Bound {
    Bound left = getValue(op.getLhs());
    std::optional<int64_t> right = getConstantIntValue(op.getRhs());
    if (!left || !right || *right <= 0)
      return left;
    return up ? left->ceilDiv(*right) : left->floorDiv(*right);
  };
  auto rest = [&](auto op) -> Bound {
    std::optional<int64_t> right = getConstantIntValue(op.getRhs());
    return min(getValue(op.getLhs()), right ? Bound(SizeExpr(*right - 1)) : getValue(op.getRhs()));
  };
  return TypeSwitch<Operation *, Bound>(value.getDefiningOp())
      .Case<memref::DimOp, tensor::DimOp>([&](auto op) -> Bound {
        std::optional<int64_t> dim = op.getConstantIndex();
        return dim ? getDim(op->getOperand(0), *dim) : std::nullopt;
      })
      .Case([&](arith::AddIOp op) { return getValue(op.getLhs()) + getValue(op.getRhs()); })
      .Case([&](arith::MulIOp op) { return getValue(op.getLhs()) * getValue(op.getRhs()); })
      .Case([&](arith::SubIOp op) -> Bound {
        Bound left = getValue(op.getLhs());
        std::optional<int64_t> right = getConstantIntValue(op.getRhs());
        return left && right && *right >= 0 ? Bound(*left + SizeExpr(-*right)) : left;
      })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto op) { return min(getValue(op.getLhs()), getValue(op.getRhs())); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto op) { return max(getValue(op.getLhs()), getValue(op.getRhs())); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto op) { return divide(op, /*up=*/true); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>([&](auto op) { return divide(op, /*up=*/false); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto op) { return rest(op); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>([&](auto op) { return getValue(op.getIn()); })
      .Case([&](arith::SelectOp op) { return max(getValue(op.getTrueValue()), getValue(op.getFalseValue())); })
      .Case([&](affine::AffineApplyOp op) { return getAffine(op.getAffineMap().getResult(0), op.getAffineMap(), op.getMapOperands()); })
      .Case([&](affine::AffineMinOp op) {
        Bound bound;
        for (AffineExpr expr : op.getMap().getResults())
          bound = min(bound, getAffine(expr, op.getMap(), op.getOperands()));
        return bound;
      })
      .Case([&](affine::AffineMaxOp op) {
        Bound bound = SizeExpr(0);
        for (AffineExpr expr : op.getMap().getResults())
          bound = max(bound, getAffine(expr, op.getMap(), op.getOperands()));
        return bound;
      })
      .Case([&](scf::IfOp op) {
        unsigned result = cast<OpResult>(value).getResultNumber();
        return max(getValue(op.thenYield().getOperand(result)), getValue(op.elseYield().getOperand(result)));
      })
      .Default([](Operation *) { return std::nullopt; });
}

Bound DimBounds::getDim(Value shaped, int64_t dim) {
  auto type = dyn_cast<ShapedType>(shaped.getType());
  if (!type || !type.hasRank() || dim < 0 || dim >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(dim))
    return SizeExpr(type.getDimSize(dim));
  if (auto it = dims.find({shaped, dim}); it != dims.end())
    return it->second;
  dims[{shaped, dim}] = std::nullopt;
  Bound bound = computeDim(shaped, dim);
  dims[{shaped, dim}] = bound;
  return bound;
}

Bound DimBounds::computeDim(Value shaped, int64_t dim) {
  auto type = cast<ShapedType>(shaped.getType());
  if (auto argument = dyn_cast<BlockArgument>(shaped)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast<func::FuncOp>(parent)) {
      unsigned index = argument.getArgNumber();
      if (!xfmr::getEntry(function))
        return SizeExpr::symbol(xfmr::ArgumentAttr::get(shaped.getContext(), index, dim));
      ArrayAttr names = xfmr::getArgumentDims(function, index);
      return names ? Bound(SizeExpr::symbol(names[dim])) : std::nullopt;
    }
    if (auto loop = dyn_cast<LoopLikeOpInterface>(parent))
      if (OpOperand *init = loop.getTiedLoopInit(argument))
        return getDim(init->get(), dim);
    return std::nullopt;
  }
  auto result = cast<OpResult>(shaped);
  Operation *op = result.getOwner();
  auto product = [&](Value source, ReassociationIndices group) {
    Bound bound = SizeExpr(1);
    for (int64_t index : group)
      bound = bound * getDim(source, index);
    return bound;
  };
  Bound bound =
      TypeSwitch<Operation *, Bound>(op)
          .Case<memref::AllocOp, memref::AllocaOp, tensor::EmptyOp>(
              [&](auto op) { return getValue(op->getOperand(type.getDynamicDimIndex(dim))); })
          .Case([&](memref::ViewOp op) { return getValue(op.getSizes()[type.getDynamicDimIndex(dim)]); })
          .Case<memref::SubViewOp, tensor::ExtractSliceOp>([&](auto op) {
            llvm::SmallBitVector dropped = op.getDroppedDims();
            for (auto [index, size] : llvm::enumerate(op.getMixedSizes()))
              if (!dropped.test(index) && dim-- == 0)
                return min(getFold(size), getDim(op->getOperand(0), index));
            return Bound();
          })
          .Case<memref::CastOp, tensor::CastOp, memref::MemorySpaceCastOp>([&](auto op) { return getDim(op->getOperand(0), dim); })
          .Case([&](memref::ReinterpretCastOp op) { return getFold(op.getMixedSizes()[dim]); })
          .Case([&](memref::TransposeOp op) {
            return getDim(op.getIn(), cast<AffineDimExpr>(op.getPermutation().getResult(dim)).getPosition());
          })
          .Case<memref::CollapseShapeOp, tensor::CollapseShapeOp>(
              [&](auto op) { return product(op->getOperand(0), op.getReassociationIndices()[dim]); })
          .Case<memref::ExpandShapeOp, tensor::ExpandShapeOp>([&](auto op) { return getFold(op.getMixedOutputShape()[dim]); })
          .Case([&](tensor::InsertSliceOp op) { return getDim(op.getDest(), dim); })
          .Case([&](scf::ForallOp op) { return getDim(op.getOutputs()[result.getResultNumber()], dim); })
          .Case([&](scf::IfOp op) {
            return max(getDim(op.thenYield().getOperand(result.getResultNumber()), dim),
                       getDim(op.elseYield().getOperand(result.getResultNumber()), dim));
          })
          // The dimension that is divided among ranks is static, and all others are those of the input.
          .Case<xfmr::AllGatherOp, xfmr::RankSliceOp>([&](auto op) { return getDim(op.getInput(), dim); })
          .Case([&](arith::SelectOp op) { return max(getDim(op.getTrueValue(), dim), getDim(op.getFalseValue(), dim)); })
          .Case([&](func::CallOp op) -> Bound {
            auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
            if (!callee || callee.isExternal())
              return std::nullopt;
            Bound inside = getDim(callee.getBody().front().getTerminator()->getOperand(result.getResultNumber()), dim);
            return inside ? atCall(op, *inside) : std::nullopt;
          })
          .Default([&](Operation *) { return getTokenDim(op, result, dim); });
  if (bound)
    return bound;
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    if (OpOperand *init =
            loop.getTiedLoopInit(loop.getLoopResults() ? loop.getRegionIterArgs()[result.getResultNumber()] : BlockArgument()))
      return getDim(init->get(), dim);
  } else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
    return getDim(destination.getTiedOpOperand(result)->get(), dim);
  } else if (OpTrait::hasElementwiseMappableTraits(op)) {
    // Only shapes are compared: the operand of a conversion has another element type than its result.
    for (Value operand : op->getOperands())
      if (auto other = dyn_cast<ShapedType>(operand.getType()); other && other.hasRank() && other.getShape() == type.getShape())
        return getDim(operand, dim);
  }
  return std::nullopt;
}

/// Returns the bound of dimension |dim| of |result|, a result of |op|; nullopt unless |op| is one of the operations of
/// the xfmr dialect below.
Bound DimBounds::getTokenDim(Operation *op, OpResult result, int64_t dim) {
  using namespace mlir::xfmr;
  return TypeSwitch<Operation *, Bound>(op)
      .Case<LinearOp, FfnOp, LayerNormOp, RmsNormOp, ActivationOp, SoftmaxOp, DropoutOp, SplitHeadsOp, MergeHeadsOp, RotaryOp, ClampedGluOp,
            ChooseExpertsOp, ExpertsOp, AdditiveMaskOp, CountedPositionsOp, ScatterProbabilitiesOp, VisibleBeforeOp>(
          [&](auto op) { return getDim(op->getOperand(0), dim); })
      .Case([&](AttentionOp op) -> Bound {
        if (result.getResultNumber() == 0)
          return getDim(op.getQuery(), dim);
        Bound offsets = dim == 0 ? getDim(op.getQueryOffsets(), 0) : std::nullopt;
        return dim != 0  ? getValue(dim == 2 ? op.getQueryLength() : op.getKeyLength())
               : offsets ? Bound(*offsets + SizeExpr(-1))
                         : std::nullopt;
      })
      .Case([&](SequenceOffsetsOp op) { return getValue(op.getBatch()) + Bound(SizeExpr(1)); })
      .Case([&](PackTokensOp op) {
        Bound batch = getDim(op.getMask(), 0);
        return result.getResultNumber() == 0 ? batch + Bound(SizeExpr(1)) : batch * getDim(op.getMask(), 1);
      })
      .Case([&](GroupByExpertOp op) { return getDim(op.getChoices(), 0) * getDim(op.getChoices(), 1); })
      .Case([&](ListByExpertOp op) { return getDim(op.getChoices(), 0); })
      .Case([&](AddRowsOp op) { return getDim(op.getSum(), dim); })
      .Case([&](KvCacheUpdateOp op) { return getDim(op->getOperand(2 + result.getResultNumber()), dim); })
      .Case([&](MaskCacheUpdateOp op) { return getDim(op.getCache(), dim); })
      .Case([&](MaskCacheReadOp op) { return dim == 0 ? getDim(op.getSlots(), 0) : getValue(op.getLength()); })
      .Case([&](GatherTokensOp op) { return dim == 0 ? getDim(op.getPositions(), 0) : getDim(op.getInput(), dim); })
      .Case([&](ScatterTokensOp op) { return getValue(op.getRows()); })
      .Case([&](EmbeddingOp op) { return getDim(op.getIds(), 0); })
      .Case([&](PoolOp op) -> Bound {
        Bound offsets = getDim(op.getOffsets(), 0);
        return offsets ? Bound(*offsets + SizeExpr(-1)) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}
