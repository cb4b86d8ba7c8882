//===- OutlineKernels.cpp - Kernels as functions --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects the IR of the phase `tiled`: scf.forall on tensors. Moves each loop that is in no other scf.forall to a
// private function in destination-passing style. Every other private function with tensor results gets their
// destinations as last arguments, too, so that no private function returns a buffer after bufferization. A result that
// is an update of an argument (a cache) has its destination already.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Captures.h"
#include "compiler/Transforms/Destinations.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/RowWise.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace attune {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Collects the values from outside of |region| that its operations of linalg, `tile` and `xfmr` use, directly or
/// through views, in the order of these operations. This order is the same whichever pass tiled the kernel. If all
/// operations counted, the order would depend on the arithmetic of tile sizes.
static void collectOperands(Region &region, llvm::SetVector<Value> &values) {
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<linalg::LinalgOp>(op) && !isa<tiles::TileDialect, xfmr::XfmrDialect>(op->getDialect()))
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

/// Returns |description| with an underscore for each run of characters that are neither letters nor digits, but none at
/// the beginning or end; "kernel" if nothing is left. A name that would begin with a digit begins with "kernel_".
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
  if (name.empty())
    return "kernel";
  return llvm::isDigit(name.front()) ? "kernel_" + name : name;
}

/// Moves |forall| into a new private function before |parent| and calls it instead.
static void outline(scf::ForallOp forall, func::FuncOp parent, SymbolTable &symbols) {
  Location loc = forall.getLoc();
  llvm::SetVector<Value> captured;
  Captures captures(forall.getOutputs(), symbols);
  collectOperands(forall.getRegion(), captured);
  getUsedValuesDefinedAbove(forall.getRegion(), captured);
  for (Value bound : forall->getOperands().drop_back(forall.getOutputs().size()))
    captured.insert(bound);
  for (Value value : captured)
    captures.add(value);
  // Every call gets destinations of its own: equal tensor.empty ops may have been merged.
  OpBuilder builder(forall);
  SmallVector<Value> operands = llvm::to_vector(captures.inputs);
  for (Value output : forall.getOutputs())
    operands.push_back(output.getDefiningOp<tensor::EmptyOp>() ? builder.clone(*output.getDefiningOp())->getResult(0) : output);

  tiles::KernelAttr description = tiles::getKernel(forall);
  StringRef text = description ? description.getText() : "kernel";
  builder.setInsertionPoint(parent);
  auto type = builder.getFunctionType(TypeRange(ValueRange(operands)), forall.getResultTypes());
  auto kernel = func::FuncOp::create(builder, loc, identifier(text), type);
  kernel.setPrivate();
  kernel->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(builder.getContext(), text));
  symbols.insert(kernel, Block::iterator(parent));

  Block *body = kernel.addEntryBlock();
  IRMapping mapping;
  builder.setInsertionPointToStart(body);
  captures.rebuild(builder, loc, body->getArguments(), mapping);
  // Destinations are replaced last and by themselves, since the body may read the same tensor as an input.
  auto *clone = forall->cloneWithoutRegions(mapping);
  builder.insert(clone);
  auto loop = cast<scf::ForallOp>(clone);
  forall.getRegion().cloneInto(&loop.getRegion(), mapping);
  loop.getOutputsMutable().assign(body->getArguments().take_back(forall.getOutputs().size()));
  // Tiling is done, and group numbers would make equal kernels different.
  loop.walk([](Operation *op) {
    op->removeDiscardableAttr(tiles::kGroupAttr);
    op->removeDiscardableAttr(tiles::kKernelAttr);
  });
  // The work is in terms of the arguments of |parent|, so it belongs on the call.
  Attribute work = loop->removeAttr(tiles::kWorkAttr);
  func::ReturnOp::create(builder, loc, loop.getResults());
  xfmr::analysis(kernel, "attune-outline-kernels", "Kernel")
      << remark::metric(xfmr::kRemarkKernel, text) << remark::add("{0} parallel loops, {1} operands", loop.getRank(), operands.size());
  if (description && description.getRowWise())
    markRows(kernel, loop);

  builder.setInsertionPoint(forall);
  auto call = func::CallOp::create(builder, loc, kernel, operands);
  if (work)
    call->setAttr(tiles::kWorkAttr, work);
  forall.replaceAllUsesWith(call.getResults());
  forall.erase();
}

/// Returns the calls of |function| in |module|.
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
    for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      SmallVector<scf::ForallOp> loops;
      function.walk<WalkOrder::PreOrder>([&](scf::ForallOp forall) {
        loops.push_back(forall);
        return WalkResult::skip();
      });
      for (scf::ForallOp forall : loops)
        outline(forall, function, symbols);
    }
    // Callees before callers: the last operands of a call are its destinations only after its callee was changed to
    // take them. Memory planning rejects recursive functions.
    xfmr::CalleesFirst order(module, symbols);
    for (func::FuncOp function : order.functions)
      if (function.isPrivate() && !function.isExternal() && !tiles::getKernel(function) && function.getNumResults() != 0)
        if (failed(passDestinations(function, callsOf(module, function), symbols)))
          return signalPassFailure();
  }
};
} // namespace
