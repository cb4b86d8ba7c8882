//===- PlaceBuffers.cpp - Allocations become views of the workspace -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/DimBounds.h"
#include "compiler/Transforms/PlanMemoryScopes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

MemRefType attune::getRowBuffer(MemRefType type) {
  if (type.getLayout().isIdentity())
    return type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 || type.getRank() < 2 || ShapedType::isDynamic(strides.front()))
    return {};
  auto [dense, none] = MemRefType::get(type.getShape(), type.getElementType()).getStridesAndOffset();
  if (ShapedType::isDynamic(dense.front()) || strides.front() < dense.front() ||
      !llvm::equal(ArrayRef(dense).drop_front(), ArrayRef(strides).drop_front()))
    return {};
  return MemRefType::get({type.getDimSize(0), strides.front()}, type.getElementType());
}

namespace {

/// Rewrites one function according to its plan.
class FunctionRewriter {
public:
  FunctionRewriter(func::FuncOp function, FunctionPlan &plan)
      : function(function), plan(plan), builder(OpBuilder::atBlockBegin(&function.getBody().front())) {}
  void run();

private:
  Value emit(const SizeExpr &size) {
    return size.emit(builder, function.getLoc(), [&](Attribute symbol) {
      Value &value = symbols[symbol];
      if (!value)
        value = symbol == getWorkersSymbol(symbol.getContext()) ? workers : DimBounds::materialize(builder, function, symbol);
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
  llvm::DenseMap<Attribute, Value> symbols;
  SmallVector<Operation *> replaced; // erased last: they may be insertion points
};

} // namespace

/// Replaces an allocation by a view at byte |offset| of the workspace, or passes |size| bytes at |offset| to a call as
/// its workspace, with the number of workers. For an allocation, |size| is not used.
void FunctionRewriter::place(PlannedBuffer &buffer, Value offset, Value size) {
  OpBuilder local(buffer.op);
  Location loc = buffer.op->getLoc();
  if (auto alloc = dyn_cast<memref::AllocOp>(buffer.op)) {
    MemRefType type = alloc.getType();
    Value view = memref::ViewOp::create(local, loc, getRowBuffer(type), workspace, offset, alloc.getDynamicSizes());
    if (view.getType() != type) {
      auto [strides, none] = type.getStridesAndOffset();
      view = memref::ReinterpretCastOp::create(local, loc, type, view, local.getIndexAttr(0), alloc.getMixedSizes(),
                                               getAsIndexOpFoldResult(local.getContext(), strides));
    }
    alloc.replaceAllUsesWith(view);
    replaced.push_back(alloc);
  } else if (auto call = dyn_cast<func::CallOp>(buffer.op)) {
    Value part = memref::ViewOp::create(local, loc, cast<MemRefType>(workspace.getType()), workspace, offset, size);
    call.getOperandsMutable().append({part, workers});
  }
}

/// Places the buffers of |loop| from byte |offset| of the workspace on. Each worker has its own buffers: those of
/// worker w begin at byte |offset| + w * |scope|.bytes.
void FunctionRewriter::placeLoop(scf::ForallOp loop, PlannedScope &scope, Value offset) {
  Location loc = loop.getLoc();
  Value stride = emit(scope.bytes);
  SmallVector<Value> offsets, sizes;
  for (PlannedBuffer &buffer : scope.buffers) {
    offsets.push_back(emit(scope.slotOffsets[buffer.slot]));
    sizes.push_back(isa<func::CallOp>(buffer.op) ? emit(buffer.size) : Value());
  }
  OpBuilder body = OpBuilder::atBlockBegin(loop.getBody());
  Value worker = rt::WorkerIdOp::create(body, loc);
  Value base = add(body, offset, arith::MulIOp::create(body, loc, worker, stride));
  for (auto [index, buffer] : llvm::enumerate(scope.buffers))
    place(buffer, add(body, base, offsets[index]), sizes[index]);
}

void FunctionRewriter::run() {
  Location loc = function.getLoc();
  auto argument = [&](Type type, rt::Role role) {
    DictionaryAttr attrs = builder.getDictionaryAttr(builder.getNamedAttr(rt::kRoleAttr, rt::RoleAttr::get(builder.getContext(), role)));
    (void)function.insertArgument(function.getNumArguments(), type, attrs, loc);
    return function.getArguments().back();
  };
  workspace = argument(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()), rt::Role::Workspace);
  workers = argument(builder.getIndexType(), rt::Role::Workers);
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
  function.walk([&](rt::WorkerCountOp count) {
    count.getCount().replaceAllUsesWith(workers);
    count.erase();
  });
}

void attune::placeBuffers(func::FuncOp function, FunctionPlan &plan) { FunctionRewriter(function, plan).run(); }
