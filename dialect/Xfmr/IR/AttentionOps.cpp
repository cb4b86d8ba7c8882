//===- AttentionOps.cpp - Verifiers, types and folds of attention operations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"
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
  int64_t heads = type.getDimSize(1), size = type.getDimSize(2);
  bool isStatic = !ShapedType::isDynamic(heads) && !ShapedType::isDynamic(size);
  types.push_back(type.clone({type.getDimSize(0), isStatic ? heads * size : ShapedType::kDynamic}));
  return success();
}

OpFoldResult MergeHeadsOp::fold(FoldAdaptor) {
  if (auto split = getInput().getDefiningOp<SplitHeadsOp>())
    return split.getInput();
  return {};
}

/// Checks the constraints C3 to C7 of `xfmr.attention`, as far as types and attributes show them, and the number of
/// heads of `probabilities`. |op| is an AttentionOp or a MultiHeadAttentionOp with |heads| query heads of size
/// |headDim|.
template <typename AnyAttentionOp>
static LogicalResult verifyScores(AnyAttentionOp op, int64_t heads, int64_t headDim) {
  auto typeOf = [](Value value) { return value ? cast<RankedTensorType>(value.getType()) : RankedTensorType(); };
  RankedTensorType mask = typeOf(op.getMask());
  if (mask && mask.getRank() == 4 && mask.getDimSize(1) != heads && mask.getDimSize(1) != 1 && !mask.isDynamicDim(1)) // C3
    return op.emitOpError("expects 'mask' to have 1 or ") << heads << " heads, but got " << mask;
  if (auto type = typeOf(op.getHeadMask()); type && type.getDimSize(0) != heads)
    return op.emitOpError("expects 'head_mask' to have ") << heads << " elements, the number of heads, but got " << type.getDimSize(0);
  auto isEven = [](int64_t size) { return !ShapedType::isDynamic(size) && size % 2 == 0; };
  if (auto type = typeOf(op.getDistanceBias());
      type && ((type.getDimSize(0) != heads && type.getDimSize(0) != 1) || isEven(type.getDimSize(1)))) // C4
    return op.emitOpError("expects 'distance_bias' to have 1 or ") << heads << " rows and an odd number of columns, but got " << type;
  std::pair<StringRef, Value> tables[] = {{"relative_key", op.getRelativeKey()}, {"relative_query", op.getRelativeQuery()}};
  for (auto [name, table] : tables) { // C5
    RankedTensorType type = typeOf(table);
    if (!type)
      continue;
    bool isPanels = type.getRank() == 3, isStatic = type.hasStaticShape();
    int64_t rows = isPanels ? type.getDimSize(2) - 2 * kDistancePadding : type.getDimSize(0), columns = type.getDimSize(1);
    bool ofHeads = isPanels ? type.getDimSize(0) == heads : columns == heads * headDim;
    bool ofAll = isPanels ? type.getDimSize(0) == 1 : columns == headDim;
    if (!isStatic || rows < 1 || isEven(rows) || !(ofHeads || ofAll) || (isPanels && columns != headDim))
      return op.emitOpError("expects '") << name << "' to have a static odd number of rows, and " << headDim
                                         << " columns, the head size, or " << heads * headDim << ", those of all heads, but got " << type;
  }
  std::pair<StringRef, std::optional<uint64_t>> windows[] = {{"window_left", op.getWindowLeft()}, {"window_right", op.getWindowRight()}};
  for (auto [name, size] : windows) // C6
    if (size && static_cast<int64_t>(*size) < 0)
      return op.emitOpError("expects '") << name << "' not to be negative, but got " << static_cast<int64_t>(*size);
  if (auto softcap = op.getSoftcap(); softcap && !(softcap->convertToDouble() > 0))
    return op.emitOpError("expects a positive 'softcap', but got ") << op.getSoftcapAttr();
  if (op.getMaskFill() && (!mask || !mask.getElementType().isInteger()))
    return op.emitOpError("expects a mask of i1 or i64 for 'mask_fill'");
  if (op.getMaskFill() && !(op.getMaskFill()->convertToDouble() > kHiddenScore))
    return op.emitOpError("expects 'mask_fill' above ")
           << kHiddenScore << ", below which scores are hidden, but got " << op.getMaskFillAttr();
  if (auto type = typeOf(op.getSinks()); type && type.getDimSize(0) != heads) // C7
    return op.emitOpError("expects 'sinks' to have ") << heads << " elements, the number of heads, but got " << type.getDimSize(0);
  if (op.getSinks() && op.getMaskedRows() != MaskedRows::Zero)
    return op.emitOpError("expects masked_rows = zero for 'sinks', but got ") << stringifyMaskedRows(op.getMaskedRows());
  Value probabilities = op.getProbabilities();
  if (!probabilities && op.getScoreStage() != ScoreStage::Softmax)
    return op.emitOpError("expects 'probabilities' for score_stage = ") << stringifyScoreStage(op.getScoreStage());
  if (probabilities && cast<RankedTensorType>(probabilities.getType()).getDimSize(1) != heads) // C2
    return op.emitOpError("expects 'probabilities' of ") << heads << " heads, but got " << probabilities.getType();
  return success();
}

/// Checks the part of the constraint C1 of `attention` that distinguishes caches from token tensors.
static LogicalResult verifyCaches(AttentionOp op) {
  auto key = op.getKey().getType(), value = op.getValue().getType();
  if (op.isCached() != (value.getRank() == 4))
    return op.emitOpError("expects 'key' and 'value' to be caches or neither, but got ") << key << " and " << value;
  if (op.isCached() && (op.getKeyOffsets() || !op.getKeyLengths()))
    return op.emitOpError("expects 'key_lengths' and no 'key_offsets' for caches");
  if (!op.isCached() && !op.getKeyOffsets())
    return op.emitOpError("expects 'key_offsets' for keys that are no cache");
  if (!op.isCached() && op.getSlots())
    return op.emitOpError("expects no 'slots' for keys that are no cache");
  if (op.isCached() && (key.isDynamicDim(4) || key.getDimSize(4) == 0 || key.getDimSize(4) % 16 != 0))
    return op.emitOpError("expects a panel width that is a positive multiple of 16, but got ") << key;
  if (op.isCached() && key.getElementType().isInteger(8) && key.getDimSize(4) % 64 != 0)
    return op.emitOpError("expects a panel width that is a multiple of 64 for i8, but got ") << key;
  if (op.isCached() && key.getElementType() != value.getElementType())
    return op.emitOpError("expects caches of one type of elements, but got ") << key << " and " << value;
  if (!op.isCached() && !(isa<FloatType>(key.getElementType()) && isa<FloatType>(value.getElementType())))
    return op.emitOpError("expects keys and values that are no cache to be of a floating-point type, but got ") << key << " and " << value;
  return success();
}

LogicalResult AttentionOp::verify() {
  auto query = getQuery().getType(), key = getKey().getType(), value = getValue().getType(), result = getResult().getType();
  int64_t heads = getNumHeads(), kvHeads = getNumKvHeads(), headDim = getHeadSize(key, isCached() ? 3 : 2);
  if (failed(verifyCaches(*this))) // C1
    return failure();
  if (query.getDimSize(2) != headDim)
    return emitOpError("expects 'query' and 'key' of one head size, but got ") << query.getDimSize(2) << " and " << headDim;
  if (value.getDimSize(1) != kvHeads)
    return emitOpError("expects 'key' and 'value' of one number of heads, but got ") << kvHeads << " and " << value.getDimSize(1);
  if (kvHeads <= 0 || heads % kvHeads != 0)
    return emitOpError("expects the heads of 'key' to divide those of 'query', ") << heads << ", but got " << kvHeads;
  if (result.getDimSize(1) != heads || result.getDimSize(2) != getValueDim()) // C2
    return emitOpError("expects a result of ") << heads << " heads of size " << getValueDim() << ", but got " << result;
  return verifyScores(*this, heads, headDim);
}

void AttentionOp::build(OpBuilder &builder, OperationState &state, Type probabilities, Value query, Value key, Value value,
                        Value queryOffsets, Value keyOffsets, Value queryLength, Value keyLength, double scale) {
  auto type = cast<RankedTensorType>(query.getType());
  Type result = type.clone({type.getDimSize(0), type.getDimSize(1), cast<RankedTensorType>(value.getType()).getShape().back()});
  build(builder, state, result, probabilities, query, key, value, queryOffsets, keyOffsets, queryLength, keyLength, Value(), Value(),
        Value(), Value(), Value(), Value(), Value(), Value(), APFloat(scale), /*causal=*/false, Alignment::End, nullptr, nullptr, nullptr,
        nullptr);
}

void MultiHeadAttentionOp::build(OpBuilder &builder, OperationState &state, Type result, Type probabilities, Value query, Value memory,
                                 Value wq, Value wk, Value wv, Value wo, Value bq, Value bk, Value bv, Value bo, Value queryOffsets,
                                 Value keyOffsets, Value queryLength, Value keyLength, int64_t numHeads, int64_t numKvHeads, double scale) {
  build(builder, state, result, probabilities, query, memory, Value(), wq, wk, wv, wo, bq, bk, bv, bo, queryOffsets, keyOffsets,
        queryLength, keyLength, Value(), Value(), Value(), Value(), Value(), Value(), Value(), numHeads, numKvHeads, APFloat(scale),
        /*causal=*/false, Alignment::End, nullptr, nullptr, nullptr, nullptr);
}

/// Drops a `probabilities` result without users, and resets `score_stage`, which selects its values, to the default.
template <typename AnyAttentionOp>
static LogicalResult dropUnusedProbabilities(AnyAttentionOp op, PatternRewriter &rewriter) {
  if (!op.getProbabilities() || !op.getProbabilities().use_empty())
    return failure();
  auto plain = AnyAttentionOp::create(rewriter, op.getLoc(), TypeRange{op.getResult().getType()}, op->getOperands(), op->getAttrs());
  plain.setScoreStage(ScoreStage::Softmax);
  rewriter.replaceOp(op, {plain.getResult(), Value()});
  return success();
}

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropUnusedProbabilities<AttentionOp>);
}

void MultiHeadAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropUnusedProbabilities<MultiHeadAttentionOp>);
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
  if (failed(columns(getWq(), "wq", features)) || failed(columns(getWk(), "wk", memory)) ||
      failed(columns(getWv(), "wv", getValue() ? cast<RankedTensorType>(getValue().getType()).getDimSize(1) : memory)))
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
  return verifyScores(*this, heads, rows(getWq()) / heads); // C3
}
