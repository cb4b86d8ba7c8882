//===- WeightOps.cpp - Verifiers, types and folds of weight operations ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::xfmr;

/// Returns the size in bytes, rounded up, of a tensor of |type|, whose shape is static. Returns nullopt if its size is
/// 2^63 bits or more, or if its elements are neither integers nor floats.
static std::optional<int64_t> getBytes(RankedTensorType type) {
  std::optional<int64_t> bits;
  if (type.getElementType().isIntOrFloat())
    bits = type.getElementTypeBitWidth();
  for (int64_t size : type.getShape())
    bits = bits ? llvm::checkedMul(*bits, size) : std::nullopt;
  return bits ? std::optional(*bits / 8 + (*bits % 8 != 0)) : std::nullopt;
}

/// Checks that |offset|, in bytes, is aligned, and that |weight| at this offset ends within the data section of the
/// weights file; else emits an error. Expects that the type of |weight| has been verified.
static LogicalResult verifyOffset(WeightOp weight, int64_t offset) {
  if (offset < 0 || offset % kWeightAlignment != 0) // C3
    return weight.emitOpError("expects an offset that is a multiple of ") << kWeightAlignment << ", but got " << offset;
  Operation *module = weight->getParentOp();
  std::optional<int64_t> bytes = getBytes(cast<RankedTensorType>(weight.getType())), all = module ? getWeightsBytes(module) : std::nullopt;
  if (!bytes || !all || offset > *all || *bytes > *all - offset) // C4
    return weight.emitOpError("expects to end within the 'xfmr.weights_bytes' of its module, but begins at ") << offset;
  return success();
}

LogicalResult WeightOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0)) // C1
    return emitOpError("expects a static shape of sizes above 0, but got ") << type;
  if (!getBytes(type)) // C1
    return emitOpError("expects elements of a size, and fewer than 2^63 bits, but got ") << type;
  RankedTensorType sourceType = getSourceType(getSource());
  if (!sourceType)
    return emitOpError("expects a weight source, but got ") << getSource();
  if (sourceType != type) // C2
    return emitOpError("expects a source of type ") << type << ", but got " << sourceType;
  return getOffsetAttr() ? verifyOffset(*this, getOffsetAttr().getInt()) : success();
}

LogicalResult WeightRefOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight) // C1
    return emitOpError("expects ") << getWeightAttr() << " to be a weight";
  if (weight.getType() != getType())
    return emitOpError("expects the type of weight ") << getWeightAttr() << ", " << weight.getType() << ", but got " << getType();
  return success();
}

LogicalResult WeightConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (adaptor.getWeights().empty())
    return emitOptionalError(loc, "expects at least one weight");
  auto first = cast<RankedTensorType>(adaptor.getWeights()[0].getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank()) // C1
    return emitOptionalError(loc, "expects an axis from 0 to ", first.getRank() - 1, ", but got ", axis);
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = 0;
  for (Value weight : adaptor.getWeights()) {
    auto type = cast<RankedTensorType>(weight.getType());
    bool same = type.getRank() == first.getRank() && type.getElementType() == first.getElementType();
    for (int64_t dim = 0; same && dim < first.getRank(); ++dim)
      same = dim == axis || type.getDimSize(dim) == first.getDimSize(dim);
    if (!same)
      return emitOptionalError(loc, "expects weights that differ only along axis ", axis, ", but got ", first, " and ", type);
    shape[axis] += type.getDimSize(axis);
  }
  types.push_back(first.clone(shape));
  return success();
}

/// Flattens nested concatenations along the same axis into one.
static LogicalResult flattenConcat(WeightConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> weights;
  for (Value weight : op.getWeights()) {
    auto inner = weight.getDefiningOp<WeightConcatOp>();
    if (inner && inner.getAxis() == op.getAxis())
      llvm::append_range(weights, inner.getWeights());
    else
      weights.push_back(weight);
  }
  if (weights.size() == op.getWeights().size())
    return failure();
  rewriter.replaceOpWithNewOp<WeightConcatOp>(op, op.getAxis(), weights);
  return success();
}

void WeightConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(flattenConcat); }

OpFoldResult WeightConcatOp::fold(FoldAdaptor) { return getWeights().size() == 1 ? OpFoldResult(getWeights()[0]) : OpFoldResult(); }

/// Returns |convert|(|type|) if |type| is a matrix. If |type| is a stack of E matrices, returns the type of a stack of
/// E tensors, where each has the type that |convert| returns for one of the matrices.
static RankedTensorType mapMatrices(RankedTensorType type, llvm::function_ref<RankedTensorType(RankedTensorType)> convert) {
  if (type.getRank() < 3)
    return convert(type);
  RankedTensorType one = convert(type.clone(type.getShape().drop_front()));
  SmallVector<int64_t> shape(one.getShape());
  shape.insert(shape.begin(), type.getDimSize(0));
  return one.clone(shape);
}

/// Succeeds if |type| is a static shape, as the layout of panels needs; else emits an error at |loc|.
static LogicalResult verifyStatic(std::optional<Location> loc, RankedTensorType type) {
  return type.hasStaticShape() ? success() : emitOptionalError(loc, "expects a static shape, but got ", type);
}

LogicalResult WeightQuantizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(cast<RankedTensorType>(adaptor.getWeight().getType()).clone(IntegerType::get(context, 8)));
  return success();
}

LogicalResult WeightScalesOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getWeight().getType());
  types.push_back(type.clone(type.getShape().drop_back()));
  return success();
}

LogicalResult WeightRowSumsOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getQuantized().getType());
  types.push_back(RankedTensorType::get(type.getShape().drop_back(), IntegerType::get(context, 32)));
  return success();
}

LogicalResult WeightPackOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getWeight().getType());
  // Types are inferred while parsing, before omitted attributes have their defaults.
  auto valueOf = [](IntegerAttr attr) { return attr ? attr.getInt() : 1; };
  if (failed(verifyStatic(loc, type))) // C1
    return failure();
  int64_t width = adaptor.getWidth(), group = valueOf(adaptor.getGroupAttr()), multiple = valueOf(adaptor.getMultipleAttr());
  if (width <= 0) // C1
    return emitOptionalError(loc, "expects a positive width, but got ", width);
  if (group <= 0)
    return emitOptionalError(loc, "expects a positive group, but got ", group);
  if (multiple <= 0 || multiple % group != 0 || (group == 1 && multiple != 1)) // C2
    return emitOptionalError(loc, "expects a multiple of the group, ", group, ", but got ", multiple);
  types.push_back(mapMatrices(type, [&](RankedTensorType matrix) { return getPanelsType(matrix, width, group, multiple); }));
  return success();
}

LogicalResult WeightQuantizePanelsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                       SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getWeight().getType());
  int64_t width = adaptor.getWidth();
  if (failed(verifyStatic(loc, type))) // C1
    return failure();
  if (width <= 0 || width % 16 != 0) // C1
    return emitOptionalError(loc, "expects a width that is a positive multiple of 16, but got ", width);
  if (width > WeightFormat::kMostWidth || type.getShape().back() > WeightFormat::kMostColumns) // C1
    return emitOptionalError(loc, "expects a width of at most ", WeightFormat::kMostWidth, " and at most ", WeightFormat::kMostColumns,
                             " columns, but got ", width, " and ", type);
  WeightFormat format = adaptor.getFormat().getValue();
  if (format.isFloat()) // C2
    return emitOptionalError(loc, "expects a format with groups, but got ", format.str());
  types.push_back(mapMatrices(type, [&](RankedTensorType matrix) { return getQuantizedPanelsType(matrix, width, format); }));
  return success();
}

LogicalResult WeightDistancePanelsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                       SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getTable().getType());
  int64_t heads = adaptor.getHeads(), columns = type.getDimSize(1);
  if (failed(verifyStatic(loc, type))) // C1
    return failure();
  if (heads <= 0 || columns % heads != 0) // C1
    return emitOptionalError(loc, "expects 'heads' to divide the number of columns, ", columns, ", but got ", heads);
  types.push_back(type.clone({heads, columns / heads, type.getDimSize(0) + 2 * kDistancePadding}));
  return success();
}

LogicalResult WeightSelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getStack().getType());
  if (type.getRank() < 2) // C1
    return emitOptionalError(loc, "expects a stack of rank 2 or more, but got ", type);
  types.push_back(type.clone(type.getShape().drop_front()));
  return success();
}

LogicalResult WeightSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getWeight().getType());
  int64_t begin = adaptor.getBegin(), end = adaptor.getEnd();
  if (begin < 0 || begin >= end || end > type.getShape().back()) // C1
    return emitOptionalError(loc, "expects columns of the ", type.getShape().back(), " of its weight, but got ", begin, " to ", end);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = end - begin;
  types.push_back(type.clone(shape));
  return success();
}

OpFoldResult WeightSliceOp::fold(FoldAdaptor) { return getType() == getWeight().getType() ? OpFoldResult(getWeight()) : OpFoldResult(); }

LogicalResult WeightTransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getWeight().getType());
  types.push_back(type.clone({type.getDimSize(1), type.getDimSize(0)}));
  return success();
}

OpFoldResult WeightTransposeOp::fold(FoldAdaptor) {
  if (auto inner = getWeight().getDefiningOp<WeightTransposeOp>())
    return inner.getWeight();
  return {};
}
