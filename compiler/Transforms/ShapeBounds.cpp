//===- ShapeBounds.cpp - Upper bounds of dimensions of tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/BoundArithmetic.h"
#include "compiler/Transforms/DimBounds.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;

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
      if (!function->hasAttr(xfmr::kEntryAttr))
        return SizeExpr::symbol(argumentSymbol(index, dim));
      ArrayAttr names = getDimNames(function, index);
      auto name = names && dim < static_cast<int64_t>(names.size()) ? dyn_cast<StringAttr>(names[dim]) : StringAttr();
      return name ? Bound(SizeExpr::symbol(name.getValue())) : std::nullopt;
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
    for (Value operand : op->getOperands())
      if (operand.getType() == shaped.getType())
        return getDim(operand, dim);
  }
  return std::nullopt;
}

/// Shapes of the operations of the dialect.
Bound DimBounds::getTokenDim(Operation *op, OpResult result, int64_t dim) {
  using namespace mlir::xfmr;
  return TypeSwitch<Operation *, Bound>(op)
      .Case<LinearOp, FfnOp, LayerNormOp, RmsNormOp, ActivationOp, SoftmaxOp, DropoutOp, SplitHeadsOp, MergeHeadsOp, RotaryOp,
            AdditiveMaskOp, CountedPositionsOp, ScatterProbabilitiesOp>([&](auto op) { return getDim(op->getOperand(0), dim); })
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
