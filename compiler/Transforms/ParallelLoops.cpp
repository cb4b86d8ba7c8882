//===- ParallelLoops.cpp - Parallel loops that become functions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/ParallelLoops.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune;

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

/// Returns true if |op| is cheaper to repeat in every call of the body than its result is to pass: constants, addresses
/// of globals, index arithmetic, and views. Sizes and strides of a view that cannot be repeated are passed.
static bool canRecompute(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (isa<memref::ViewOp, memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::ReinterpretCastOp,
          memref::GetGlobalOp>(op))
    return true;
  return isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIndex(); });
}

/// Returns true if |value| is computed again in the body instead of captured. Index arithmetic is computed again only
/// if all of its operands are, too.
static bool canRecompute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !canRecompute(op))
    return false;
  return !value.getType().isIndex() || llvm::all_of(op->getOperands(), [](Value operand) { return canRecompute(operand); });
}

/// Splits the computation of |value| into operations to repeat (producers first) and values to capture.
static void capture(Value value, llvm::SetVector<Operation *> &repeated, llvm::SetVector<Value> &captures) {
  if (!canRecompute(value)) {
    captures.insert(value);
    return;
  }
  for (Value operand : value.getDefiningOp()->getOperands())
    capture(operand, repeated, captures);
  repeated.insert(value.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

ParallelLoop::ParallelLoop(scf::ForallOp forall, OpBuilder &builder) : forall(forall), loc(forall.getLoc()) {
  for (auto [lower, upper, step] : llvm::zip_equal(forall.getMixedLowerBound(), forall.getMixedUpperBound(), forall.getMixedStep())) {
    lowerBounds.push_back(getValueOrCreateConstantIndexOp(builder, loc, lower));
    steps.push_back(getValueOrCreateConstantIndexOp(builder, loc, step));
    Value span = builder.createOrFold<arith::SubIOp>(loc, getValueOrCreateConstantIndexOp(builder, loc, upper), lowerBounds.back());
    Value count = builder.createOrFold<arith::CeilDivSIOp>(loc, span, steps.back());
    counts.push_back(builder.createOrFold<arith::MaxSIOp>(loc, count, constant(builder, 0)));
  }
}

SmallVector<Value> ParallelLoop::delinearize(OpBuilder &b, Value index, ArrayRef<Value> counts) {
  SmallVector<Value> numbers(counts.size());
  for (size_t dim = counts.size() - 1; dim > 0; --dim) {
    numbers[dim] = b.createOrFold<arith::RemUIOp>(loc, index, counts[dim]);
    index = b.createOrFold<arith::DivUIOp>(loc, index, counts[dim]);
  }
  numbers[0] = index;
  return numbers;
}

/// Returns the indices of the iteration after the one with the indices |numbers|, computed without a division.
SmallVector<Value> ParallelLoop::increment(OpBuilder &b, ValueRange numbers, ArrayRef<Value> counts) {
  SmallVector<Value> next(numbers);
  Value zero = constant(b, 0), one = constant(b, 1), carry = one;
  for (size_t dim = counts.size(); dim-- > 0;) {
    next[dim] = arith::AddIOp::create(b, loc, next[dim], carry);
    if (dim == 0)
      break;
    Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next[dim], counts[dim]);
    next[dim] = arith::SelectOp::create(b, loc, wraps, zero, next[dim]);
    carry = arith::SelectOp::create(b, loc, wraps, one, zero);
  }
  return next;
}

std::pair<llvm::SetVector<Value>, llvm::SetVector<Operation *>> ParallelLoop::capture(ValueRange more) {
  llvm::SetVector<Value> used, captures;
  llvm::SetVector<Operation *> repeated;
  getUsedValuesDefinedAbove(forall.getRegion(), used);
  used.insert(steps.begin(), steps.end());
  used.insert(lowerBounds.begin(), lowerBounds.end());
  used.insert(more.begin(), more.end());
  for (Value value : used)
    ::capture(value, repeated, captures);
  return {captures, repeated};
}

void ParallelLoop::cloneIteration(OpBuilder &b, IRMapping &map, ValueRange numbers, Value worker) {
  for (auto [dim, variable] : llvm::enumerate(forall.getInductionVars())) {
    Value scaled = b.createOrFold<arith::MulIOp>(loc, numbers[dim], map.lookupOrNull(steps[dim]));
    map.map(variable, b.createOrFold<arith::AddIOp>(loc, scaled, map.lookupOrNull(lowerBounds[dim])));
  }
  for (Operation &op : forall.getBody()->without_terminator())
    b.clone(op, map);
  b.getInsertionBlock()->walk([&](rt::WorkerIdOp id) {
    id.replaceAllUsesWith(worker);
    id.erase();
  });
}

void ParallelLoop::buildIteration(OpBuilder &b, IRMapping &map, Value worker, Value number) {
  SmallVector<Value> localCounts = llvm::map_to_vector(counts, [&](Value v) { return map.lookupOrNull(v); });
  cloneIteration(b, map, delinearize(b, number, localCounts), worker);
}

void ParallelLoop::buildBody(OpBuilder &b, IRMapping &map, Value worker, Value begin, Value end) {
  SmallVector<Value> localCounts = llvm::map_to_vector(counts, [&](Value v) { return map.lookupOrNull(v); });
  bool isFlat = counts.size() == 1;
  SmallVector<Value> first = isFlat ? SmallVector<Value>() : delinearize(b, begin, localCounts);
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(b, 1), first);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> numbers = isFlat ? SmallVector<Value>{loop.getInductionVar()} : llvm::to_vector_of<Value>(loop.getRegionIterArgs());
  cloneIteration(b, map, numbers, worker);
  if (!isFlat)
    scf::YieldOp::create(b, loc, increment(b, numbers, localCounts));
}

LogicalResult attune::verifyOnBuffers(scf::ForallOp loop) {
  if (loop->getNumResults() == 0)
    return success();
  return loop.emitError("expects a parallel loop on buffers, but got ") << loop->getNumResults() << " results";
}

LogicalResult attune::passHost(ModuleOp module, ArrayRef<Operation *> hostUsers) {
  llvm::SetVector<func::FuncOp> functions;
  for (Operation *user : hostUsers)
    functions.insert(user->getParentOfType<func::FuncOp>());
  SmallVector<func::CallOp> calls;
  SymbolTable symbols(module);
  xfmr::FunctionUsers users(module, symbols);
  for (unsigned i = 0; i != functions.size(); ++i) {
    for (func::CallOp call : users.getCalls(functions[i])) {
      if (call->getParentOfType<scf::ForallOp>())
        return call.emitError("a parallel loop must not call '") << call.getCallee() << "', which has a parallel loop";
      calls.push_back(call);
      functions.insert(call->getParentOfType<func::FuncOp>());
    }
  }
  Builder builder(module.getContext());
  DictionaryAttr role =
      builder.getDictionaryAttr(builder.getNamedAttr(rt::kRoleAttr, rt::RoleAttr::get(module.getContext(), rt::Role::Host)));
  for (func::FuncOp function : functions)
    (void)function.insertArgument(0, LLVM::LLVMPointerType::get(module.getContext()), role, function.getLoc());
  for (func::CallOp call : calls)
    call->insertOperands(0, {call->getParentOfType<func::FuncOp>().getArgument(0)});
  return success();
}
