//===- OutlineParallel.cpp - Parallel bodies as functions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects scf.forall on buffers, without results. Leaves for each outermost one a function over a range of the flattened iterations and an
// xfmr.parallel_call of it; loops inside bodies and loops of one iteration become scf.for. Functions that call the host get it as first
// argument.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"
#include "dialect/IR/XfmrOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attune {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

/// Whether |op| is cheaper to repeat in every body call than to pass: constants, index arithmetic, views with their static strides.
static bool isRepeatable(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (isa<memref::ViewOp, memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::ReinterpretCastOp,
          memref::GetGlobalOp>(op))
    return true;
  return isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIndex(); });
}

/// Index arithmetic is repeated only where that captures nothing more than its result would.
static bool isRepeatable(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isRepeatable(op))
    return false;
  return !value.getType().isIndex() || llvm::all_of(op->getOperands(), [](Value operand) { return isRepeatable(operand); });
}

/// Splits what |value| needs into repeated operations (producers first) and captured values.
static void capture(Value value, llvm::SetVector<Operation *> &repeated, llvm::SetVector<Value> &captures) {
  if (!isRepeatable(value)) {
    captures.insert(value);
    return;
  }
  for (Value operand : value.getDefiningOp()->getOperands())
    capture(operand, repeated, captures);
  repeated.insert(value.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Outlining one loop
//===----------------------------------------------------------------------===//

namespace {

/// A parallel loop, its bounds as values and its trip counts.
struct ParallelLoop {
  ParallelLoop(scf::ForallOp forall, OpBuilder &builder);
  /// The iteration number in every dimension as index of the flattened loop: the last dimension is the fastest.
  void buildBody(OpBuilder &builder, IRMapping &map, Value worker, Value begin, Value end);

  scf::ForallOp forall;
  Location loc;
  SmallVector<Value> lowerBounds, steps, counts;

private:
  Value constant(OpBuilder &b, int64_t c) { return arith::ConstantIndexOp::create(b, loc, c); }
  SmallVector<Value> delinearize(OpBuilder &b, Value index, ArrayRef<Value> counts);
  SmallVector<Value> increment(OpBuilder &b, ValueRange numbers, ArrayRef<Value> counts);
};

} // namespace

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

/// The numbers of the next iteration, without a division.
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

void ParallelLoop::buildBody(OpBuilder &b, IRMapping &map, Value worker, Value begin, Value end) {
  auto mapped = [&](ArrayRef<Value> values) { return llvm::map_to_vector(values, [&](Value v) { return map.lookupOrNull(v); }); };
  SmallVector<Value> localCounts = mapped(counts), localSteps = mapped(steps), localBounds = mapped(lowerBounds);
  bool isFlat = counts.size() == 1;
  SmallVector<Value> first = isFlat ? SmallVector<Value>() : delinearize(b, begin, localCounts);
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(b, 1), first);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> numbers = isFlat ? SmallVector<Value>{loop.getInductionVar()} : llvm::to_vector_of<Value>(loop.getRegionIterArgs());
  for (auto [dim, variable] : llvm::enumerate(forall.getInductionVars())) {
    Value scaled = b.createOrFold<arith::MulIOp>(loc, numbers[dim], localSteps[dim]);
    map.map(variable, b.createOrFold<arith::AddIOp>(loc, scaled, localBounds[dim]));
  }
  for (Operation &op : forall.getBody()->without_terminator())
    b.clone(op, map);
  if (!isFlat)
    scf::YieldOp::create(b, loc, increment(b, numbers, localCounts));
  loop.walk([&](xfmr::WorkerIdOp id) {
    id.replaceAllUsesWith(worker);
    id.erase();
  });
}

/// Replaces |forall| by a call of the host.
static void outline(scf::ForallOp forall, SymbolTable &symbols) {
  auto parent = forall->getParentOfType<func::FuncOp>();
  OpBuilder builder(forall);
  Location loc = forall.getLoc();
  ParallelLoop loop(forall, builder);

  llvm::SetVector<Value> used, captures;
  llvm::SetVector<Operation *> repeated;
  getUsedValuesDefinedAbove(forall.getRegion(), used);
  used.insert(loop.steps.begin(), loop.steps.end());
  used.insert(loop.lowerBounds.begin(), loop.lowerBounds.end());
  used.insert(loop.counts.begin() + 1, loop.counts.end()); // the first is the host's business
  for (Value value : used)
    capture(value, repeated, captures);

  SmallVector<Type> types = llvm::map_to_vector(captures, [](Value v) { return v.getType(); });
  types.append(3, builder.getIndexType());
  auto body = func::FuncOp::create(loc, (parent.getName() + "_parallel").str(), builder.getFunctionType(types, {}));
  body.setPrivate();
  symbols.insert(body, Block::iterator(parent));
  Block *block = body.addEntryBlock();
  IRMapping map;
  map.map(captures.getArrayRef(), block->getArguments().drop_back(3));
  OpBuilder inside = OpBuilder::atBlockBegin(block);
  for (Operation *op : repeated)
    inside.clone(*op, map);
  loop.buildBody(inside, map, block->getArgument(block->getNumArguments() - 3), block->getArgument(block->getNumArguments() - 2),
                 block->getArguments().back());
  inside.setInsertionPointToEnd(block);
  func::ReturnOp::create(inside, loc);

  Value count = loop.counts[0];
  for (Value other : ArrayRef(loop.counts).drop_front())
    count = builder.createOrFold<arith::MulIOp>(loc, count, other);
  auto grainAttr = forall->getAttrOfType<IntegerAttr>(xfmr::kGrainAttr);
  Value grain = arith::ConstantIndexOp::create(builder, loc, grainAttr ? grainAttr.getInt() : 1);
  xfmr::ParallelCallOp::create(builder, loc, parent.getArgument(0), count, grain, body.getName(), captures.getArrayRef());
  forall.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct OutlineParallel : attune::impl::OutlineParallelBase<OutlineParallel> {
  void runOnOperation() override;

private:
  LogicalResult makeSequential(func::FuncOp function);
  LogicalResult passHost(ArrayRef<scf::ForallOp> loops);
};

} // namespace

/// Loops inside parallel loops, and those that run once, need no host.
LogicalResult OutlineParallel::makeSequential(func::FuncOp function) {
  SmallVector<scf::ForallOp> sequential;
  WalkResult walk = function.walk([&](scf::ForallOp loop) -> WalkResult {
    if (loop.getNumResults() != 0)
      return loop.emitError("expects a parallel loop on buffers, but got ") << loop.getNumResults() << " results";
    std::optional<SmallVector<int64_t>> counts;
    if (loop.isNormalized() && llvm::none_of(loop.getStaticUpperBound(), ShapedType::isDynamic))
      counts = llvm::to_vector(loop.getStaticUpperBound());
    if (loop->getParentOfType<scf::ForallOp>() || (counts && llvm::all_of(*counts, [](int64_t n) { return n == 1; })))
      sequential.push_back(loop);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  IRRewriter rewriter(&getContext());
  for (scf::ForallOp loop : sequential) {
    rewriter.setInsertionPoint(loop);
    if (failed(scf::forallToForLoop(rewriter, loop)))
      return loop.emitError("cannot make this loop sequential");
  }
  return success();
}

/// Gives the host to every function that has one of |loops| or calls such a function.
LogicalResult OutlineParallel::passHost(ArrayRef<scf::ForallOp> loops) {
  SymbolTable symbols(getOperation());
  llvm::SetVector<func::FuncOp> functions;
  for (scf::ForallOp loop : loops)
    functions.insert(loop->getParentOfType<func::FuncOp>());
  SmallVector<func::CallOp> calls;
  for (unsigned i = 0; i != functions.size(); ++i) {
    for (SymbolTable::SymbolUse use : SymbolTable::getSymbolUses(functions[i], getOperation()).value_or(SymbolTable::UseRange({}))) {
      auto call = dyn_cast<func::CallOp>(use.getUser());
      if (!call)
        continue;
      if (call->getParentOfType<scf::ForallOp>())
        return call.emitError("a parallel loop must not call '") << call.getCallee() << "', which has a parallel loop";
      calls.push_back(call);
      functions.insert(call->getParentOfType<func::FuncOp>());
    }
  }
  Builder builder(&getContext());
  DictionaryAttr role = builder.getDictionaryAttr(builder.getNamedAttr(xfmr::kRoleAttr, builder.getStringAttr("host")));
  for (func::FuncOp function : functions)
    (void)function.insertArgument(0, LLVM::LLVMPointerType::get(&getContext()), role, function.getLoc());
  for (func::CallOp call : calls)
    call->insertOperands(0, {call->getParentOfType<func::FuncOp>().getArgument(0)});
  return success();
}

void OutlineParallel::runOnOperation() {
  SmallVector<scf::ForallOp> loops;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (failed(makeSequential(function)))
      return signalPassFailure();
    function.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  }
  if (failed(passHost(loops)))
    return signalPassFailure();
  SymbolTable symbols(getOperation());
  for (scf::ForallOp loop : loops)
    outline(loop, symbols);
  getOperation().walk([](xfmr::WorkerIdOp id) {
    if (id->getParentOfType<func::FuncOp>()) {
      OpBuilder builder(id);
      Value zero = arith::ConstantIndexOp::create(builder, id.getLoc(), 0);
      id.replaceAllUsesWith(zero);
      id.erase();
    }
  });
}
