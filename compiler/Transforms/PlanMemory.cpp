//===- PlanMemory.cpp - Every buffer in one workspace ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A memory plan with symbolic sizes. Compiled code allocates nothing, so every buffer needs an offset in one workspace
// before batch size and sequence length are known, and the size of the workspace must be one formula of the dims.
// Buffers share bytes if their lifetimes are disjoint:
//
//   operation   0   1   2   3                 slots, the largest buffer first (F > D)
//   a  N x D    [=======]                     slot 0:  b              offset 0
//   b  N x F        [=======]                 slot 1:  a, then d      offset align(|b|)
//   d  N x D            [=======]             workspace = align(|b|) + align(|a|), align: up to a multiple of 64 bytes
//
// Lifetimes are intervals of operation numbers in program order, from the first access to the last. An access inside a
// loop to a buffer that is allocated outside extends the lifetime over the whole loop.
//
// Slots are filled greedily. Buffers come in the order of falling size, each dim taken as 64 and the number of workers
// as 8. A buffer gets the smallest slot that is free for its lifetime and provably large enough (SizeExpr::isAtMost
// compares coefficients), else a new slot of its own size. Buffers whose sizes cannot be compared, such as batch^2 and
// 100 x batch, never share a slot.
//
// Plans nest. Callees are planned first:
// - a call of a function with buffers counts as one buffer of the caller. This buffer lives as long as the call and has
//   the bytes that the callee needs for these arguments, so the callee's buffers can share bytes with every buffer that
//   is dead at the call;
// - an outermost parallel loop with buffers counts as one buffer that lives as long as the loop: `workers` copies of
//   the plan of one iteration. Worker i uses copy i.
//
// Expects bufferized functions without results: entries (`xfmr.entry`), whose `xfmr.input`, `xfmr.output` and
// `xfmr.cache` name the dims, and the functions that they call, with memref.alloc anywhere. Leaves no allocation: each
// buffer is a view of the new argument `%workspace: memref<?xi8>` (PlaceBuffers.cpp).
//
// Invariants. The buffers of a slot have disjoint lifetimes, and none is larger than the first one placed. Offsets are
// multiples of 64 bytes. Offsets are computed at the start of the function from its arguments alone; a size that is
// read from memory counts as its bound (`arith.minsi`). So the workspace is an upper bound of the bytes used where
// sizes are bounds, and exact elsewhere.
//
// Cost. For B buffers of a function, B^2 comparisons of lifetimes and sizes at compile time; at run time, the
// arithmetic of the offsets.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/DimBounds.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/PlanMemoryScopes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace attune {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

struct PlanMemory : attune::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  PlanMemory() = default;
  /// Copies the options and none of the plans.
  PlanMemory(const PlanMemory &other) : PlanMemoryBase(other) {}
  void runOnOperation() override;

private:
  LogicalResult plan(func::FuncOp function);
  LogicalResult collect(func::FuncOp function, FunctionPlan &plan);
  LogicalResult addAlloc(memref::AllocOp alloc, PlannedScope &scope, const OperationOrder &order);
  LogicalResult addCall(func::CallOp call, PlannedScope &scope, bool inParallelLoop, const OperationOrder &order);
  LogicalResult rewrite(func::FuncOp function);

  SymbolTableCollection symbols;
  DimBounds bounds;
  llvm::MapVector<Operation *, FunctionPlan> plans; // callees first
  SmallVector<Operation *> active;                  // functions being planned
};

} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Returns the outermost parallel loop around |op|; null if there is none.
static scf::ForallOp getOutermostParallelLoop(Operation *op) {
  scf::ForallOp outermost;
  for (auto loop = op->getParentOfType<scf::ForallOp>(); loop; loop = loop->getParentOfType<scf::ForallOp>())
    outermost = loop;
  return outermost;
}

LogicalResult PlanMemory::addAlloc(memref::AllocOp alloc, PlannedScope &scope, const OperationOrder &order) {
  MemRefType type = alloc.getType();
  if (!getRowBuffer(type) || type.getMemorySpace())
    return alloc.emitError("expects a buffer of identity layout, but for the stride of its rows, in the default memory space, but got ")
           << type;
  type = getRowBuffer(type);
  if (alloc.getAlignment().value_or(1) > static_cast<uint64_t>(kBufferAlignment))
    return alloc.emitError("expects an alignment of at most ") << kBufferAlignment << ", but got " << *alloc.getAlignment();
  SizeExpr size = DataLayout::closest(alloc).getTypeSize(type.getElementType()).getFixedValue();
  // AMX instructions read low-precision rows in groups of `row-group`, so a matrix of such rows has whole groups.
  bool lowPrecision = type.getRank() == 2 && type.getElementType().isIntOrFloat() && type.getElementTypeBitWidth() <= 16;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    std::optional<SizeExpr> bound = type.isDynamicDim(dim) ? bounds.getDim(alloc, dim) : SizeExpr(type.getDimSize(dim));
    if (bound) {
      size = size * (lowPrecision && dim == 0 ? bound->alignTo(rowGroup) : *bound);
      continue;
    }
    InFlightDiagnostic error = alloc.emitError("dimension ") << dim << " of this buffer has no bound in terms of the function's arguments";
    error.attachNote(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)].getLoc())
        << "the size comes from here; 'arith.minsi' with a known size gives it a bound";
    return error;
  }
  scope.buffers.push_back({alloc, size, 0, 0});
  return computeLifetime(scope.buffers.back(), order);
}

LogicalResult PlanMemory::addCall(func::CallOp call, PlannedScope &scope, bool inParallelLoop, const OperationOrder &order) {
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return call.emitError("expects a call of a function of this module, but got ") << call.getCalleeAttr();
  if (failed(plan(callee)))
    return failure();
  const SizeExpr &bytes = plans[callee].function.bytes;
  if (bytes.getConstant() == 0)
    return success();
  if (inParallelLoop && bytes.dependsOn(getWorkersSymbol(&getContext())))
    return call.emitError("a parallel loop must not call a function that has a parallel loop with buffers");
  std::optional<SizeExpr> size = bounds.atCall(call, bytes);
  if (!size)
    return call.emitError("an argument of this call has no bound in terms of the caller's arguments, and buffers of '")
           << call.getCallee() << "' depend on it";
  scope.buffers.push_back({call, *size, order.first(call), order.last(call)});
  return success();
}

LogicalResult PlanMemory::collect(func::FuncOp function, FunctionPlan &plan) {
  OperationOrder order(function);
  WalkResult walk = function.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (!isa<memref::AllocOp, func::CallOp>(op))
      return WalkResult::advance();
    scf::ForallOp loop = getOutermostParallelLoop(op);
    PlannedScope &scope = loop ? plan.loops[loop] : plan.function;
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return addAlloc(alloc, scope, order);
    return addCall(cast<func::CallOp>(op), scope, loop != nullptr, order);
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto &[loop, scope] : plan.loops) {
    scope.assignSlots();
    if (!scope.buffers.empty())
      plan.function.buffers.push_back(
          {loop, scope.bytes * SizeExpr::symbol(getWorkersSymbol(&getContext())), order.first(loop), order.last(loop)});
  }
  plan.function.assignSlots();
  return success();
}

/// Emits a remark about each buffer of |scope|, with its size and its offset from the beginning of |scope| in bytes,
/// and a remark about |function| with the numbers of buffers and slots, the bytes of |scope|, and the sum of the sizes
/// of its buffers. Sizes are computed for dims of 64 and 8 workers. `First` and `Last` are the numbers of the
/// operations at which a lifetime begins and ends.
static void report(func::FuncOp function, const PlannedScope &scope) {
  constexpr llvm::StringLiteral pass = "attune-plan-memory";
  if (!xfmr::recordsRemarks(function) || scope.buffers.empty())
    return;
  int64_t sum = 0;
  for (const PlannedBuffer &buffer : scope.buffers) {
    sum += typicalBytes(buffer.size);
    std::string what;
    llvm::raw_string_ostream stream(what);
    if (auto call = dyn_cast<func::CallOp>(buffer.op))
      stream << "buffers of " << call.getCallee();
    else if (auto alloc = dyn_cast<memref::AllocOp>(buffer.op))
      stream << alloc.getType();
    else
      stream << "buffers of the iterations of a parallel loop";
    xfmr::analysis(buffer.op, pass, "Buffer") << remark::metric("Buffer", what) << remark::metric("TypicalBytes", typicalBytes(buffer.size))
                                              << remark::metric("TypicalOffset", typicalBytes(scope.slotOffsets[buffer.slot]))
                                              << remark::metric("First", buffer.first) << remark::metric("Last", buffer.last)
                                              << remark::metric("Slot", buffer.slot);
  }
  xfmr::passed(function, pass, "PlanMemory") << remark::add("{0} buffers in {1} slots; for dims of 64, {2} bytes in the place of {3}",
                                                            scope.buffers.size(), scope.slotOffsets.size(), typicalBytes(scope.bytes), sum);
}

LogicalResult PlanMemory::plan(func::FuncOp function) {
  if (plans.contains(function))
    return success();
  if (llvm::is_contained(active, function.getOperation()))
    return function.emitError("expects no recursion, but '") << function.getName() << "' calls itself";
  active.push_back(function);
  FunctionPlan result;
  LogicalResult status = collect(function, result);
  if (succeeded(status)) {
    report(function, result.function);
    for (auto &[loop, scope] : result.loops)
      report(function, scope);
  }
  active.pop_back();
  plans[function] = std::move(result);
  return status;
}

LogicalResult PlanMemory::rewrite(func::FuncOp function) {
  function.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  FunctionPlan &plan = plans[function];
  if (xfmr::getEntry(function) || !plan.function.buffers.empty()) {
    placeBuffers(function, plan);
    if (xfmr::getEntry(function))
      function->setAttr(rt::kWorkspaceAttr, plan.function.bytes.toFormula(&getContext()));
    return success();
  }
  WalkResult walk = function.walk([](rt::WorkerCountOp count) -> WalkResult {
    return count.emitOpError("expects a function with buffers, since others are not told the number of workers");
  });
  return failure(walk.wasInterrupted());
}

void PlanMemory::runOnOperation() {
  if (failed(rt::verifyRanges([&] { return getOperation().emitError(); }, {{"row-group", rowGroup, rt::FieldRange::Positive}})))
    return signalPassFailure();
  SmallVector<func::FuncOp> functions;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal())
      functions.push_back(function);
  for (func::FuncOp function : functions)
    if (failed(plan(function)))
      return signalPassFailure();
  for (func::FuncOp function : functions)
    if (failed(rewrite(function)))
      return signalPassFailure();
}
