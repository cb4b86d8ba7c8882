//===- LaneBody.cpp - Bodies of linalg ops on 16 lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LaneBody.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

/// Returns true if |expr| is the last loop of |op|.
static bool isInner(AffineExpr expr, linalg::LinalgOp op) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  return dim && dim.getPosition() == op.getNumLoops() - 1;
}

static bool isContiguous(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return type.getRank() > 0 && type.isLastDimUnitStride();
}

bool LaneBody::isUniform(OpOperand &operand) {
  if (!isa<MemRefType>(operand.get().getType()))
    return true;
  return llvm::none_of(op.getMatchingIndexingMap(&operand).getResults(), [&](AffineExpr expr) { return isInner(expr, op); });
}

const char *LaneBody::check() {
  if (op.getNumLoops() == 0)
    return "it has no loop";
  if (op.getNumDpsInits() != 1)
    return "it has more than one output";
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    ArrayRef<AffineExpr> results = op.getMatchingIndexingMap(&operand).getResults();
    for (auto [index, expr] : llvm::enumerate(results)) {
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return "an operand is indexed by more than a loop";
      if (isInner(expr, op) && (index + 1 != results.size() || !isContiguous(operand.get())))
        return "an operand is not contiguous along the last loop";
    }
    Type element = cast<MemRefType>(operand.get().getType()).getElementType();
    if (!element.isF32() && !element.isBF16() && !element.isInteger(64) && !element.isInteger(32) && !isUniform(operand))
      return "an operand has elements that are none of f32, bf16, i64 and i32";
  }
  // The values of the body that can differ between lanes.
  llvm::SmallPtrSet<Value, 16> varying;
  for (OpOperand &operand : op->getOpOperands())
    if (!isUniform(operand) || op.isDpsInit(&operand))
      varying.insert(op.getMatchingBlockArgument(&operand));
  auto varies = [&](Value value) { return varying.contains(value); };
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(bodyOp);
    auto load = dyn_cast<memref::LoadOp>(bodyOp);
    bool simple = OpTrait::hasElementwiseMappableTraits(&bodyOp) || bodyOp.hasTrait<OpTrait::ConstantLike>();
    if (bodyOp.getNumResults() != 1 || (!index && !load && !simple))
      return "its body has an operation without a vector form";
    bool inner = index && index.getDim() + 1 == op.getNumLoops();
    if (!inner && llvm::none_of(bodyOp.getOperands(), varies))
      continue;
    varying.insert(bodyOp.getResult(0));
    if (!load)
      continue;
    if (!isContiguous(load.getMemRef()) || !load.getMemRefType().getElementType().isF32())
      return "it gathers from a buffer that is not contiguous or not f32";
    auto last = load.getIndices().back().getDefiningOp<linalg::IndexOp>();
    if (!last || last.getDim() + 1 != op.getNumLoops() || llvm::any_of(load.getIndices().drop_back(), varies))
      return "it gathers elements that are not side by side";
  }
  return nullptr;
}

SmallVector<Value> LaneBody::indicesOf(OpOperand &operand, const LanePoint &point) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      indices.push_back(builder.index(constant.getValue()));
    else
      indices.push_back(isInner(expr, op) ? point.inner : point.outer[cast<AffineDimExpr>(expr).getPosition()]);
  }
  return indices;
}

Value LaneBody::fetch(OpOperand &operand, const LanePoint &point) {
  Value buffer = operand.get();
  if (!isa<MemRefType>(buffer.getType()))
    return buffer;
  SmallVector<Value> indices = indicesOf(operand, point);
  if (isUniform(operand))
    return memref::LoadOp::create(builder, buffer, indices);
  return builder.load(buffer, indices, point.lanes);
}

void LaneBody::prefetch(const LanePoint &point, unsigned given) {
  for (OpOperand *operand : op.getDpsInputOperands())
    if (operand->getOperandNumber() != given && isa<MemRefType>(operand->get().getType()) &&
        op.getMatchingIndexingMap(operand).isPermutation())
      memref::PrefetchOp::create(builder, operand->get(), indicesOf(*operand, point), /*isWrite=*/false,
                                 /*localityHint=*/3, /*isDataCache=*/true);
}

Value LaneBody::widen(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  if (value.getType().isF32())
    return builder.splat(value);
  auto type = VectorType::get({VectorBuilder::kLanes}, value.getType());
  return vector::BroadcastOp::create(builder, type, value);
}

/// Emits |bodyOp| and returns its result. Its operands are in `values` or `uniform`, or are defined outside the body.
/// With a null |point|, returns null for `linalg.index` and for results that are not uniform.
Value LaneBody::compute(Operation &bodyOp, const LanePoint *point) {
  auto valueOf = [&](Value operand) -> Value {
    if (operand.getParentBlock() != op.getBlock())
      return operand;
    if (Value found = uniform.lookup(operand))
      return found;
    return point ? values.lookup(operand) : Value();
  };
  if (auto index = dyn_cast<linalg::IndexOp>(bodyOp)) {
    if (index.getDim() + 1 != op.getNumLoops())
      return point ? point->outer[index.getDim()] : Value();
    if (!point)
      return {};
    auto type = VectorType::get({VectorBuilder::kLanes}, builder.getIndexType());
    Value base = vector::BroadcastOp::create(builder, type, point->inner);
    return arith::AddIOp::create(builder, base, vector::StepOp::create(builder, type));
  }
  SmallVector<Value> operands;
  bool scalar = true;
  for (Value operand : bodyOp.getOperands()) {
    Value value = valueOf(operand);
    if (!value)
      return {};
    scalar &= !isa<VectorType>(value.getType());
    operands.push_back(value);
  }
  if (auto load = dyn_cast<memref::LoadOp>(bodyOp); load && !scalar) {
    // check() has verified that the last index is the last loop itself.
    SmallVector<Value> indices(operands.begin() + 1, operands.end());
    indices.back() = point->inner;
    return builder.load(operands[0], indices, point->lanes);
  }
  if (scalar) {
    IRMapping mapping;
    for (auto [from, to] : llvm::zip(bodyOp.getOperands(), operands))
      mapping.map(from, to);
    return builder.clone(bodyOp, mapping)->getResult(0);
  }
  for (Value &operand : operands)
    operand = widen(operand);
  auto type = VectorType::get({VectorBuilder::kLanes}, bodyOp.getResult(0).getType());
  OperationState state(builder.getLoc(), bodyOp.getName(), operands, {type}, bodyOp.getAttrs());
  return builder.create(state)->getResult(0);
}

void LaneBody::prepare(ValueRange outer) {
  uniform.clear();
  LanePoint point{llvm::to_vector(outer), Value(), Lanes::all()};
  Block *body = op.getBlock();
  for (OpOperand &operand : op->getOpOperands())
    if (isUniform(operand) && op.payloadUsesValueFromOperand(&operand) && !op.isDpsInit(&operand))
      uniform[op.getMatchingBlockArgument(&operand)] = fetch(operand, point);
  for (Operation &bodyOp : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(bodyOp)) {
      if (index.getDim() + 1 != op.getNumLoops())
        uniform[index] = outer[index.getDim()];
    } else if (Value value = compute(bodyOp, nullptr)) {
      uniform[bodyOp.getResult(0)] = value;
    }
  }
}

Value LaneBody::evaluate(const LanePoint &point, const llvm::DenseMap<unsigned, Value> &given) {
  values.clear();
  for (OpOperand &operand : op->getOpOperands()) {
    Value argument = op.getMatchingBlockArgument(&operand);
    if (Value value = given.lookup(operand.getOperandNumber()))
      values[argument] = value;
    else if (!uniform.contains(argument) && op.payloadUsesValueFromOperand(&operand))
      values[argument] = fetch(operand, point);
  }
  for (Operation &bodyOp : op.getBlock()->without_terminator())
    if (!uniform.contains(bodyOp.getResult(0)))
      values[bodyOp.getResult(0)] = compute(bodyOp, &point);
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  if (yielded.getParentBlock() != op.getBlock())
    return yielded;
  Value found = uniform.lookup(yielded);
  return found ? found : values.lookup(yielded);
}

void LaneBody::store(Value value, const LanePoint &point) {
  OpOperand &output = *op.getDpsInitOperand(0);
  SmallVector<Value> indices = indicesOf(output, point);
  if (isUniform(output))
    memref::StoreOp::create(builder, value, output.get(), indices);
  else
    builder.store(widen(value), output.get(), indices, point.lanes);
}
