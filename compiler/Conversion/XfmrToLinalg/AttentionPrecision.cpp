//===- AttentionPrecision.cpp - Operands of attention in bf16 or f16 ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects linalg on tensors and `xfmr.attention`, on a target that computes the products of attention in lower
// precision. Converts keys and values, and queries that only attention reads, to bf16 or f16: tensor cores multiply
// elements of these types, which need half the memory of f32. The result of a projection that only attention reads is
// converted as a whole, so that the epilogue of the projection stores the converted rows (QuantizedRows.cpp). Numerics:
// operands of attention are rounded, as N2 of `tile.attention_tile` allows. For most rows this changes nothing, since
// the kernels for tensor cores round the same values before they multiply. Without the conversion, values would not be
// rounded in tiles of up to four rows, which no tensor cores would compute, and in rows without a visible key, which
// get a mean of values.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace attune;

/// The number of components of a head in a chunk, which kernels for tensor cores load at once.
static constexpr int64_t kChunkComponents = 8;

namespace {
/// The rewrite of the attention ops of one function.
class AttentionConverter {
public:
  AttentionConverter(Type element, int64_t largestHead) : element(element), largestHead(largestHead) {}
  void run(xfmr::AttentionOp op);

private:
  bool takesLowPrecision(xfmr::AttentionOp op);
  bool isForAttention(Value tensor);
  Value round(Value tensor);
  Value roundRows(OpBuilder &builder, Value rows);

  Type element;
  int64_t largestHead;
  /// The results of the conversions created so far, by the value that was converted.
  DenseMap<Value, Value> rounded;
};
} // namespace

/// Returns true if keys and values of |op| are to be converted: kernels for tensor cores can compute both products of
/// |op|, and heads consist of whole chunks. These kernels support neither probabilities as a result, nor tables of
/// relative positions, nor heads of more than |largestHead| components. Keys and values in caches keep their type,
/// since the caller of an entry allocates the caches.
bool AttentionConverter::takesLowPrecision(xfmr::AttentionOp op) {
  auto isSize = [&](int64_t size) { return size % kChunkComponents == 0 && size <= largestHead; };
  return !op.isCached() && !op.getProbabilities() && !op.getRelativeKey() && !op.getRelativeQuery() && isSize(op.getHeadDim()) &&
         isSize(op.getValueDim());
}

/// Returns the tensor of which |view| is a view if |view| splits columns into heads, or is a slice with unit strides
/// and the rank of that tensor; null otherwise.
static Value getViewed(Value view) {
  if (auto expand = view.getDefiningOp<tensor::ExpandShapeOp>())
    return expand.getSrcType().getRank() == 2 && expand.getType().getRank() == 3 ? expand.getSrc() : Value();
  auto slice = view.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && slice.hasUnitStride() && slice.getType().getRank() == slice.getSourceType().getRank() ? slice.getSource() : Value();
}

/// Returns true if only attention for which takesLowPrecision holds reads |tensor|, directly or by views, as queries,
/// keys or values. Uses by `tensor.dim` do not count.
bool AttentionConverter::isForAttention(Value tensor) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    if (isa<tensor::DimOp>(use.getOwner()))
      return true;
    if (auto attention = dyn_cast<xfmr::AttentionOp>(use.getOwner()))
      return takesLowPrecision(attention) && use.getOperandNumber() < 3;
    return use.getOwner()->getNumResults() == 1 && getViewed(use.getOwner()->getResult(0)) == tensor &&
           isForAttention(use.getOwner()->getResult(0));
  });
}

/// Creates the conversion of |rows|, of rank 2, as a kernel of its own; simplifyQuantizedRows may fuse it with an
/// epilogue.
Value AttentionConverter::roundRows(OpBuilder &builder, Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  Location loc = rows.getLoc();
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, rows), element);
  auto converted =
      tiles::QuantizeRowsOp::create(builder, loc, TypeRange{empty.getType()}, rows, ValueRange{empty}, /*group=*/IntegerAttr());
  std::string text = ("rows of " + Twine(type.getDimSize(1)) + " as " + (element.isF16() ? "f16" : "bf16")).str();
  converted->setAttr(tiles::kGroupAttr, tiles::GroupAttr::get(builder.getContext(), std::nullopt, text));
  return converted.getResult(0);
}

/// Returns |tensor|, of rank 2 or 3, converted. If |tensor| splits the columns of rows into heads, converts these rows
/// and splits the result. If |tensor| is a slice of a tensor that only attention reads, or that is converted already,
/// returns a slice of that whole tensor, converted. Converts any other tensor by itself.
Value AttentionConverter::round(Value tensor) {
  if (Value known = rounded.lookup(tensor))
    return known;
  OpBuilder builder(tensor.getContext());
  builder.setInsertionPointAfterValue(tensor);
  auto type = cast<RankedTensorType>(tensor.getType());
  Location loc = tensor.getLoc();
  SmallVector<ReassociationIndices> heads{{0}, {1, 2}};
  // Takes dimensions from |rows|, which are converted, so that the unconverted tensor becomes dead.
  auto split = [&](Value rows) -> Value {
    SmallVector<OpFoldResult> shape{tensor::getMixedSize(builder, loc, rows, 0)};
    for (int64_t size : type.getShape().drop_front())
      shape.push_back(builder.getIndexAttr(size));
    return tensor::ExpandShapeOp::create(builder, loc, type.clone(element), rows, heads, shape);
  };
  auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  Value result;
  if (expand && getViewed(tensor)) {
    result = split(round(expand.getSrc()));
  } else if (slice && getViewed(tensor) && (rounded.contains(slice.getSource()) || isForAttention(slice.getSource()))) {
    result = tensor::ExtractSliceOp::create(builder, loc, type.clone(element), round(slice.getSource()), slice.getMixedOffsets(),
                                            slice.getMixedSizes(), slice.getMixedStrides());
  } else if (type.getRank() == 2) {
    result = roundRows(builder, tensor);
  } else {
    result = split(roundRows(builder, tensor::CollapseShapeOp::create(builder, loc, tensor, heads)));
  }
  return rounded[tensor] = result;
}

void AttentionConverter::run(xfmr::AttentionOp op) {
  if (!takesLowPrecision(op))
    return;
  Value all = op.getQuery();
  while (Value viewed = getViewed(all))
    all = viewed;
  if (isForAttention(all))
    op.getQueryMutable().assign(round(op.getQuery()));
  op.getKeyMutable().assign(round(op.getKey()));
  op.getValueMutable().assign(round(op.getValue()));
}

void attune::convertAttentionOperands(func::FuncOp function, Type element, int64_t largestHead) {
  AttentionConverter rounder(element, largestHead);
  function.walk([&](xfmr::AttentionOp op) { rounder.run(op); });
  // simplifyQuantizedRows would count dead views of the unconverted tensors as readers.
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}
