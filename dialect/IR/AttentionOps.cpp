//===- AttentionOps.cpp - Verifiers, types and folds of attention operations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/IR/XfmrOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult SplitHeadsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t heads = adaptor.getNumHeads(), features = type.getDimSize(1);
  if (heads <= 0 || ShapedType::isDynamic(features) || features % heads != 0) // C1
    return emitOptionalError(loc, "expects 'num_heads' to divide the features of 'input', ", features, ", but got ", heads);
  types.push_back(type.clone({type.getDimSize(0), heads, features / heads}));
  return success();
}

OpFoldResult SplitHeadsOp::fold(FoldAdaptor) {
  if (auto merge = getInput().getDefiningOp<MergeHeadsOp>(); merge && merge.getInput().getType() == getType())
    return merge.getInput();
  return {};
}

LogicalResult MergeHeadsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  types.push_back(type.clone({type.getDimSize(0), type.getDimSize(1) * type.getDimSize(2)}));
  return success();
}

OpFoldResult MergeHeadsOp::fold(FoldAdaptor) {
  if (auto split = getInput().getDefiningOp<SplitHeadsOp>())
    return split.getInput();
  return {};
}

/// Checks C3 of attention: the shapes of |mask| and |headMask| for |heads| heads.
static LogicalResult verifyMasks(Operation *op, Value mask, Value headMask, int64_t heads) {
  if (auto type = mask ? cast<RankedTensorType>(mask.getType()) : RankedTensorType()) {
    if (type.getRank() == 4 && type.getDimSize(1) != heads && type.getDimSize(1) != 1)
      return op->emitOpError("expects 'mask' to have 1 or ") << heads << " heads, but got " << type;
  }
  if (auto type = headMask ? cast<RankedTensorType>(headMask.getType()) : RankedTensorType())
    if (type.getDimSize(0) != heads)
      return op->emitOpError("expects 'head_mask' to have ") << heads << " elements, the number of heads, but got " << type.getDimSize(0);
  return success();
}

/// Checks that |probabilities|, if present, have |heads| heads.
static LogicalResult verifyProbabilities(Operation *op, Value probabilities, int64_t heads) {
  if (!probabilities || cast<RankedTensorType>(probabilities.getType()).getDimSize(1) == heads)
    return success();
  return op->emitOpError("expects 'probabilities' of ") << heads << " heads, but got " << probabilities.getType();
}

LogicalResult AttentionOp::verify() {
  auto query = getQuery().getType(), key = getKey().getType(), value = getValue().getType(), result = getResult().getType();
  int64_t heads = query.getDimSize(1), kvHeads = key.getDimSize(1);
  if (query.getDimSize(2) != key.getDimSize(2)) // C1
    return emitOpError("expects 'query' and 'key' of one head size, but got ") << query.getDimSize(2) << " and " << key.getDimSize(2);
  if (value.getDimSize(1) != kvHeads)
    return emitOpError("expects 'key' and 'value' of one number of heads, but got ") << kvHeads << " and " << value.getDimSize(1);
  if (kvHeads <= 0 || heads % kvHeads != 0)
    return emitOpError("expects the heads of 'key' to divide those of 'query', ") << heads << ", but got " << kvHeads;
  if (result.getDimSize(1) != heads || result.getDimSize(2) != value.getDimSize(2)) // C2
    return emitOpError("expects a result of ") << heads << " heads of size " << value.getDimSize(2) << ", but got " << result;
  if (failed(verifyProbabilities(*this, getProbabilities(), heads)))
    return failure();
  return verifyMasks(*this, getMask(), getHeadMask(), heads); // C3
}

namespace {
/// Drops a `probabilities` result nobody uses.
template <typename AnyAttentionOp>
struct DropUnusedProbabilities : OpRewritePattern<AnyAttentionOp> {
  using OpRewritePattern<AnyAttentionOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(AnyAttentionOp op, PatternRewriter &rewriter) const override {
    if (!op.getProbabilities() || !op.getProbabilities().use_empty())
      return failure();
    auto plain = AnyAttentionOp::create(rewriter, op.getLoc(), TypeRange{op.getResult().getType()}, op->getOperands(),
                                        op->getAttrs());
    rewriter.replaceOp(op, {plain.getResult(), Value()});
    return success();
  }
};
} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedProbabilities<AttentionOp>>(context);
}

void MultiHeadAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedProbabilities<MultiHeadAttentionOp>>(context);
}

LogicalResult MultiHeadAttentionOp::verify() {
  int64_t features = getQuery().getType().getDimSize(1), memory = getMemory().getType().getDimSize(1);
  int64_t heads = getNumHeads(), kvHeads = getNumKvHeads();
  auto columns = [&](Value weight, StringRef name, int64_t expected) -> LogicalResult {
    int64_t got = cast<RankedTensorType>(weight.getType()).getDimSize(1);
    if (got != expected)
      return emitOpError("expects '") << name << "' to have " << expected << " columns, but got " << got;
    return success();
  };
  auto rows = [](Value weight) { return cast<RankedTensorType>(weight.getType()).getDimSize(0); };
  if (heads <= 0 || kvHeads <= 0 || heads % kvHeads != 0) // C1
    return emitOpError("expects 'num_kv_heads' to divide 'num_heads', ") << heads << ", but got " << kvHeads;
  if (failed(columns(getWq(), "wq", features)) || failed(columns(getWk(), "wk", memory)) || failed(columns(getWv(), "wv", memory)))
    return failure();
  if (rows(getWq()) % heads != 0)
    return emitOpError("expects 'num_heads' to divide the rows of 'wq', ") << rows(getWq()) << ", but got " << heads;
  if (rows(getWq()) / heads * kvHeads != rows(getWk()))
    return emitOpError("expects 'wk' to have ") << rows(getWq()) / heads * kvHeads << " rows, but got " << rows(getWk());
  if (rows(getWv()) % kvHeads != 0)
    return emitOpError("expects 'num_kv_heads' to divide the rows of 'wv', ") << rows(getWv()) << ", but got " << kvHeads;
  int64_t merged = rows(getWv()) / kvHeads * heads;
  if (getWo() && failed(columns(getWo(), "wo", merged)))
    return failure();
  int64_t outputs = getWo() ? rows(getWo()) : merged;
  if (getResult().getType().getDimSize(1) != outputs)
    return emitOpError("expects a result of ") << outputs << " features, but got " << getResult().getType();
  std::pair<Value, Value> biases[] = {{getBq(), getWq()}, {getBk(), getWk()}, {getBv(), getWv()}, {getBo(), getWo()}};
  StringRef names[] = {"bq", "bk", "bv", "bo"};
  for (auto [pair, name] : llvm::zip(biases, names)) { // C2
    if (!pair.first)
      continue;
    if (!pair.second)
      return emitOpError("expects no '") << name << "' without its weight";
    if (rows(pair.first) != rows(pair.second))
      return emitOpError("expects '") << name << "' to have " << rows(pair.second) << " elements, but got " << rows(pair.first);
  }
  if (bool(getBq()) != bool(getBk()) || bool(getBq()) != bool(getBv()) || (getBo() && !getBq()))
    return emitOpError("expects 'bq', 'bk' and 'bv' together, and 'bo' only with them");
  if (failed(verifyProbabilities(*this, getProbabilities(), heads))) // C3
    return failure();
  return verifyMasks(*this, getMask(), getHeadMask(), heads);
}
