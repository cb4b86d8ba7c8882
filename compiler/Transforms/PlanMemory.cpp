//===- PlanMemory.cpp - Every buffer in one workspace ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects bufferized functions without results: entries (`xfmr.entry`, arguments with `xfmr.dims`) and the functions they call, with
// memref.alloc anywhere. Leaves no allocation: each is a view of the argument `%workspace: memref<?xi8>`.
//
// Callees are planned first. A call counts as a buffer of its caller that lives as long as the call and is as large as what the callee
// needs for these arguments, so a callee's buffers share bytes with whatever is dead at the call; a parallel loop counts as a buffer of
// `workers` times what an iteration needs. Sizes are bounds in terms of what a function knows when it starts (its arguments), because the
// place of a buffer must not depend on a size that is computed later.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/DimBounds.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/PlanMemoryScopes.h"
#include "dialect/IR/XfmrOps.h"
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

constexpr llvm::StringLiteral kWorkers = "workers";

/// Where the buffers of a function lie.
struct FunctionPlan {
  PlannedScope function;
  llvm::MapVector<Operation *, PlannedScope> loops; // outermost parallel loops
};

struct PlanMemory : attune::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  void runOnOperation() override;

private:
  LogicalResult plan(func::FuncOp function);
  LogicalResult collect(func::FuncOp function, FunctionPlan &plan);
  LogicalResult addAlloc(memref::AllocOp alloc, PlannedScope &scope, const OperationOrder &order);
  LogicalResult addCall(func::CallOp call, PlannedScope &scope, bool inParallelLoop, const OperationOrder &order);
  void rewrite(func::FuncOp function);
  void recordFormulas(SmallVectorImpl<func::FuncOp> &entries);

  DimBounds bounds;
  llvm::MapVector<Operation *, FunctionPlan> plans; // callees first
  SmallVector<Operation *> active;                  // functions being planned
};

} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

static scf::ForallOp getOutermostParallelLoop(Operation *op) {
  scf::ForallOp outermost;
  for (auto loop = op->getParentOfType<scf::ForallOp>(); loop; loop = loop->getParentOfType<scf::ForallOp>())
    outermost = loop;
  return outermost;
}

LogicalResult PlanMemory::addAlloc(memref::AllocOp alloc, PlannedScope &scope, const OperationOrder &order) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity() || type.getMemorySpace())
    return alloc.emitError("expects a buffer of identity layout in the default memory space, but got ") << type;
  if (alloc.getAlignment().value_or(1) > static_cast<uint64_t>(kBufferAlignment))
    return alloc.emitError("expects an alignment of at most ") << kBufferAlignment << ", but got " << *alloc.getAlignment();
  SizeExpr size = DataLayout::closest(alloc).getTypeSize(type.getElementType()).getFixedValue();
  bool codes = type.getRank() == 2 && type.getElementType().isIntOrFloat() && type.getElementTypeBitWidth() <= 16;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    std::optional<SizeExpr> bound = bounds.getDim(alloc, dim);
    if (bound) {
      size = size * (codes && dim == 0 ? bound->alignTo(codeRows) : *bound);
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
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return call.emitError("expects a call of a function of this module, but got ") << call.getCalleeAttr();
  if (failed(plan(callee)))
    return failure();
  const SizeExpr &bytes = plans[callee].function.bytes;
  if (bytes.getConstant() == 0)
    return success();
  if (inParallelLoop && bytes.dependsOn(kWorkers))
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
      plan.function.buffers.push_back({loop, scope.bytes * SizeExpr::symbol(kWorkers), order.first(loop), order.last(loop)});
  }
  plan.function.assignSlots();
  return success();
}

LogicalResult PlanMemory::plan(func::FuncOp function) {
  if (plans.contains(function))
    return success();
  if (llvm::is_contained(active, function.getOperation()))
    return function.emitError("expects no recursion, but '") << function.getName() << "' calls itself";
  active.push_back(function);
  FunctionPlan result;
  LogicalResult status = collect(function, result);
  active.pop_back();
  plans[function] = std::move(result);
  return status;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {

/// Rewrites one function according to its plan.
class FunctionRewriter {
public:
  FunctionRewriter(func::FuncOp function, FunctionPlan &plan)
      : function(function), plan(plan), builder(OpBuilder::atBlockBegin(&function.getBody().front())) {}
  void run();

private:
  Value emit(const SizeExpr &size) {
    return size.emit(builder, function.getLoc(), [&](StringRef symbol) {
      Value &value = symbols[symbol];
      if (!value)
        value = symbol == kWorkers ? workers : DimBounds::materialize(builder, function, symbol);
      return value;
    });
  }
  Value add(OpBuilder &b, Value x, Value y) { return arith::AddIOp::create(b, function.getLoc(), x, y); }
  void place(PlannedBuffer &buffer, Value offset, Value size);
  void placeLoop(scf::ForallOp loop, PlannedScope &scope, Value offset);

  func::FuncOp function;
  FunctionPlan &plan;
  OpBuilder builder; // at the beginning of the function
  Value workspace, workers;
  llvm::StringMap<Value> symbols;
  SmallVector<Operation *> replaced; // erased last: builders may stand before them
};

} // namespace

/// Replaces an allocation, or passes its part of the workspace to a call.
void FunctionRewriter::place(PlannedBuffer &buffer, Value offset, Value size) {
  OpBuilder local(buffer.op);
  Location loc = buffer.op->getLoc();
  if (auto alloc = dyn_cast<memref::AllocOp>(buffer.op)) {
    Value view = memref::ViewOp::create(local, loc, alloc.getType(), workspace, offset, alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    replaced.push_back(alloc);
  } else if (auto call = dyn_cast<func::CallOp>(buffer.op)) {
    Value part = memref::ViewOp::create(local, loc, cast<MemRefType>(workspace.getType()), workspace, offset, size);
    call.getOperandsMutable().append({part, workers});
  }
}

/// Gives each worker its part of the loop's bytes.
void FunctionRewriter::placeLoop(scf::ForallOp loop, PlannedScope &scope, Value offset) {
  Location loc = loop.getLoc();
  Value stride = emit(scope.bytes);
  SmallVector<Value> offsets, sizes;
  for (PlannedBuffer &buffer : scope.buffers) {
    offsets.push_back(emit(scope.slotOffsets[buffer.slot]));
    sizes.push_back(isa<func::CallOp>(buffer.op) ? emit(buffer.size) : Value());
  }
  OpBuilder body = OpBuilder::atBlockBegin(loop.getBody());
  Value worker = xfmr::WorkerIdOp::create(body, loc);
  Value base = add(body, offset, arith::MulIOp::create(body, loc, worker, stride));
  for (auto [index, buffer] : llvm::enumerate(scope.buffers))
    place(buffer, add(body, base, offsets[index]), sizes[index]);
}

void FunctionRewriter::run() {
  Location loc = function.getLoc();
  auto argument = [&](Type type, StringRef role) {
    DictionaryAttr attrs = builder.getDictionaryAttr(builder.getNamedAttr(xfmr::kRoleAttr, builder.getStringAttr(role)));
    (void)function.insertArgument(function.getNumArguments(), type, attrs, loc);
    return function.getArguments().back();
  };
  workspace = argument(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()), "workspace");
  workers = argument(builder.getIndexType(), "workers");
  SmallVector<std::pair<Value, Value>> places;
  for (PlannedBuffer &buffer : plan.function.buffers)
    places.emplace_back(emit(plan.function.slotOffsets[buffer.slot]), isa<func::CallOp>(buffer.op) ? emit(buffer.size) : Value());
  for (auto [buffer, offsetAndSize] : llvm::zip_equal(plan.function.buffers, places)) {
    if (auto loop = dyn_cast<scf::ForallOp>(buffer.op))
      placeLoop(loop, plan.loops[loop], offsetAndSize.first);
    else
      place(buffer, offsetAndSize.first, offsetAndSize.second);
  }
  for (Operation *op : replaced)
    op->erase();
}

void PlanMemory::rewrite(func::FuncOp function) {
  function.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  FunctionPlan &plan = plans[function];
  if (function->hasAttr(xfmr::kEntryAttr) || !plan.function.buffers.empty())
    FunctionRewriter(function, plan).run();
}

void PlanMemory::recordFormulas(SmallVectorImpl<func::FuncOp> &entries) {
  Builder builder(&getContext());
  SmallVector<NamedAttribute> formulas, dims;
  for (func::FuncOp entry : entries) {
    auto name = entry->getAttrOfType<StringAttr>(xfmr::kEntryAttr);
    formulas.emplace_back(name, builder.getStringAttr(plans[entry].function.bytes.str()));
    SmallVector<Attribute> names;
    for (StringRef dim : getEntryDims(entry))
      names.push_back(builder.getStringAttr(dim));
    dims.emplace_back(name, builder.getArrayAttr(names));
  }
  getOperation()->setAttr(xfmr::kWorkspaceAttr, builder.getDictionaryAttr(formulas));
  getOperation()->setAttr(xfmr::kEntryDimsAttr, builder.getDictionaryAttr(dims));
}

void PlanMemory::runOnOperation() {
  SmallVector<func::FuncOp> functions, entries;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    functions.push_back(function);
    if (function->hasAttr(xfmr::kEntryAttr))
      entries.push_back(function);
  }
  for (func::FuncOp function : functions)
    if (failed(plan(function)))
      return signalPassFailure();
  for (func::FuncOp function : functions)
    rewrite(function);
  recordFormulas(entries);
}
