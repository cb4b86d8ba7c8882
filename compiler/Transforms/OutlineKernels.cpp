//===- OutlineKernels.cpp - Kernels as functions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects the `tiled` phase: scf.forall on tensors at the top level of functions. Leaves each of them in a private function in
// destination-passing style, and every private function with tensor results taking their destinations as last arguments, so that no buffer
// is returned after bufferization. A result that is an update of an argument, a cache, has its destination already.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace attune {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Whether |op| is cheaper to repeat inside a kernel than to pass: views, sizes, index arithmetic, constants.
static bool isRepeatable(Operation *op) {
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::DimOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return true;
  return isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIndex(); });
}

/// Collects into |ops| the repeatable producers of |value| that belong into the kernel, producers first, and into |inputs| the values it
/// must be given.
static void collect(Value value, llvm::SetVector<Operation *> &ops, llvm::SetVector<Value> &inputs) {
  Operation *op = value.getDefiningOp();
  if (!op || !isRepeatable(op)) {
    inputs.insert(value);
    return;
  }
  if (ops.contains(op))
    return;
  for (Value operand : op->getOperands())
    collect(operand, ops, inputs);
  ops.insert(op);
}

/// Collects the values from outside of |region| that its operations compute with, in their order. Unlike that of all uses it does not
/// depend on how the sizes of tiles are found, so that a kernel has the same operands in the same order whatever tiled it.
static void collectOperands(Region &region, llvm::SetVector<Value> &values) {
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<linalg::LinalgOp>(op) && !isa<xfmr::XfmrDialect>(op->getDialect()))
      return;
    for (Value value : op->getOperands()) {
      Operation *view = value.getDefiningOp();
      while (view && region.isAncestor(view->getParentRegion()) &&
             isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(view)) {
        value = view->getOperand(0);
        view = value.getDefiningOp();
      }
      if (value.getParentRegion()->isProperAncestor(&region))
        values.insert(value);
    }
  });
}

/// A C identifier made of the words of |description|.
static std::string identifier(StringRef description) {
  std::string name;
  for (char c : description) {
    if (llvm::isAlnum(c))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name.empty() ? "kernel" : name;
}

/// Moves |forall| into a new private function before |parent| and calls it instead.
static void outline(scf::ForallOp forall, func::FuncOp parent, SymbolTable &symbols) {
  Location loc = forall.getLoc();
  llvm::SetVector<Value> captured, inputs;
  llvm::SetVector<Operation *> repeated;
  collectOperands(forall.getRegion(), captured);
  getUsedValuesDefinedAbove(forall.getRegion(), captured);
  for (Value bound : forall->getOperands().drop_back(forall.getOutputs().size()))
    captured.insert(bound);
  for (Value value : captured)
    collect(value, repeated, inputs);
  // Every call gets destinations of its own: equal tensor.empty ops may have been merged.
  OpBuilder builder(forall);
  SmallVector<Value> operands = llvm::to_vector(inputs);
  for (Value output : forall.getOutputs())
    operands.push_back(output.getDefiningOp<tensor::EmptyOp>() ? builder.clone(*output.getDefiningOp())->getResult(0) : output);

  auto description = forall->getAttrOfType<StringAttr>(kKernelOpAttr);
  builder.setInsertionPoint(parent);
  auto type = builder.getFunctionType(TypeRange(ValueRange(operands)), forall.getResultTypes());
  auto kernel = func::FuncOp::create(builder, loc, identifier(description ? description.getValue() : "kernel"), type);
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, description ? description : builder.getStringAttr("kernel"));
  symbols.insert(kernel, Block::iterator(parent));

  Block *body = kernel.addEntryBlock();
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), body->getArguments().take_front(inputs.size()));
  builder.setInsertionPointToStart(body);
  for (Operation *op : repeated)
    builder.clone(*op, mapping);
  // Destinations are mapped last: a destination may also be read inside under its own name.
  auto *clone = forall->cloneWithoutRegions(mapping);
  builder.insert(clone);
  auto loop = cast<scf::ForallOp>(clone);
  forall.getRegion().cloneInto(&loop.getRegion(), mapping);
  loop.getOutputsMutable().assign(body->getArguments().take_back(forall.getOutputs().size()));
  loop->removeAttr(kKernelOpAttr);
  loop.walk([](Operation *op) { // tiling is done: what only numbers its groups would make equal kernels different
    op->removeDiscardableAttr(kGroupAttr);
    op->removeDiscardableAttr(kKernelOpAttr);
  });
  // In terms of the arguments of |parent|, so they stay there.
  Attribute flops = loop->removeAttr(xfmr::kFlopsAttr), cacheBytes = loop->removeAttr(xfmr::kCacheBytesAttr);
  func::ReturnOp::create(builder, loc, loop.getResults());

  builder.setInsertionPoint(forall);
  auto call = func::CallOp::create(builder, loc, kernel, operands);
  if (flops)
    call->setAttr(xfmr::kFlopsAttr, flops);
  if (cacheBytes)
    call->setAttr(xfmr::kCacheBytesAttr, cacheBytes);
  forall.replaceAllUsesWith(call.getResults());
  forall.erase();
}

/// What becomes the memory of |value|: a tensor.empty or an argument of its function that it is an update of; null if it is neither.
static Value memoryOf(Value value) {
  if (value.getDefiningOp<tensor::EmptyOp>() || isa<BlockArgument>(value))
    return value;
  auto result = cast<OpResult>(value);
  if (auto loop = dyn_cast<scf::ForallOp>(result.getOwner()))
    return memoryOf(loop.getOutputs()[result.getResultNumber()]);
  auto call = dyn_cast<func::CallOp>(result.getOwner());
  auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()) : func::FuncOp();
  if (!callee || callee.isExternal())
    return nullptr;
  // Callees take their destinations by now.
  auto argument =
      dyn_cast_if_present<BlockArgument>(memoryOf(callee.getBody().front().getTerminator()->getOperand(result.getResultNumber())));
  return argument ? memoryOf(call.getOperand(argument.getArgNumber())) : nullptr;
}

/// The tensor.empty that becomes the memory of |value|, or null.
static tensor::EmptyOp destinationOf(Value value) {
  Value memory = memoryOf(value);
  return memory ? memory.getDefiningOp<tensor::EmptyOp>() : tensor::EmptyOp();
}

/// Clones |value|, index arithmetic on arguments of |function|, to |builder| with the arguments replaced by the operands of |call|; null if
/// it depends on more.
static Value rebuild(OpBuilder &builder, Value value, func::CallOp call, IRMapping &mapping) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return call.getOperand(argument.getArgNumber());
  Operation *op = value.getDefiningOp();
  if (!isRepeatable(op) && !isa<tensor::EmptyOp>(op)) {
    // The size of something computed: the size of its destination.
    return nullptr;
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    if (auto empty = dim.getSource().getDefiningOp() ? destinationOf(dim.getSource()) : tensor::EmptyOp())
      if (auto index = dim.getConstantIndex()) {
        if (!empty.getType().isDynamicDim(*index))
          return arith::ConstantIndexOp::create(builder, op->getLoc(), empty.getType().getDimSize(*index));
        return rebuild(builder, empty.getDynamicSize(*index), call, mapping);
      }
  for (Value operand : op->getOperands()) {
    Value rebuilt = rebuild(builder, operand, call, mapping);
    if (!rebuilt)
      return nullptr;
    mapping.map(operand, rebuilt);
  }
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

/// Gives |function| one destination argument per tensor result that is not an update of an argument, and its callers tensor.empty ops for
/// them.
static LogicalResult passDestinations(func::FuncOp function, ArrayRef<func::CallOp> calls) {
  auto *terminator = function.getBody().front().getTerminator();
  SmallVector<tensor::EmptyOp> empties;
  for (Value result : terminator->getOperands()) {
    if (!isa<BlockArgument>(result) && isa_and_present<BlockArgument>(memoryOf(result)))
      continue;
    tensor::EmptyOp empty = destinationOf(result);
    if (!empty || llvm::is_contained(empties, empty))
      return function.emitError("result ") << empties.size() << " is not computed by a kernel of this function";
    empties.push_back(empty);
  }
  for (func::CallOp call : calls) {
    OpBuilder builder(call);
    IRMapping mapping;
    SmallVector<Value> operands = llvm::to_vector(call.getOperands());
    for (tensor::EmptyOp empty : empties) {
      SmallVector<Value> sizes;
      for (Value size : empty.getDynamicSizes()) {
        Value rebuilt = rebuild(builder, size, call, mapping);
        if (!rebuilt)
          return function.emitError("a result's size does not follow from the arguments");
        sizes.push_back(rebuilt);
      }
      operands.push_back(tensor::EmptyOp::create(builder, empty.getLoc(), empty.getType(), sizes));
    }
    auto replacement = func::CallOp::create(builder, call.getLoc(), function.getSymName(), call.getResultTypes(), operands);
    call.replaceAllUsesWith(replacement.getResults());
    call.erase();
  }
  for (tensor::EmptyOp empty : empties) {
    (void)function.insertArgument(function.getNumArguments(), empty.getType(), {}, empty.getLoc());
    empty.replaceAllUsesWith(Value(function.getArguments().back()));
    empty.erase();
  }
  return success();
}

/// Calls of |function| within |module|.
static SmallVector<func::CallOp> callsOf(ModuleOp module, func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (call.getCallee() == function.getSymName())
      calls.push_back(call);
  });
  return calls;
}

namespace {
struct OutlineKernels : attune::impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> functions = llvm::to_vector(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      SmallVector<scf::ForallOp> loops;
      function.walk<WalkOrder::PreOrder>([&](scf::ForallOp forall) {
        loops.push_back(forall);
        return WalkResult::skip();
      });
      for (scf::ForallOp forall : loops)
        outline(forall, function, symbols);
    }
    // Callees before callers: a call's last operands are its destinations only once its callee takes them.
    llvm::SetVector<func::FuncOp> ordered;
    for (func::FuncOp function : functions)
      addCalleesFirst(function, symbols, ordered);
    for (func::FuncOp function : ordered)
      if (function.isPrivate() && !function.isExternal() && !function->hasAttr(kKernelAttr) && function.getNumResults() != 0)
        if (failed(passDestinations(function, callsOf(module, function))))
          return signalPassFailure();
  }

private:
  /// Adds the functions that |function| calls, then |function|, to |ordered|. Recursive functions end in any order; memory planning rejects
  /// them.
  static void addCalleesFirst(func::FuncOp function, SymbolTable &symbols, llvm::SetVector<func::FuncOp> &ordered) {
    llvm::SmallPtrSet<Operation *, 16> open;
    std::function<void(func::FuncOp)> visit = [&](func::FuncOp current) {
      if (ordered.contains(current) || !open.insert(current).second)
        return;
      current.walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          visit(callee);
      });
      ordered.insert(current);
    };
    visit(function);
  }
};
} // namespace
