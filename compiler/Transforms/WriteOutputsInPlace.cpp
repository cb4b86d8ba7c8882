//===- WriteOutputsInPlace.cpp - Results in the buffers of the caller -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects entries that copy each result to a buffer of the caller (attune-outputs-to-arguments). The destination in
// which a result is computed is a tensor.empty of the entry, which may be the operand of a call. A view of the caller's
// buffer replaces this tensor.empty: for each expand_shape of the result, the buffer has a collapse_shape. Source and
// destination of the copy are then the same buffer.
//
// Upstream's elimination of tensor.empty does not serve: it works within a function and follows no reshapes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Destinations.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"

namespace attune {
#define GEN_PASS_DEF_WRITEOUTPUTSINPLACE
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Returns true if |value| is the only value that is computed in |empty|: its operation has no other result there, and
/// nothing else uses |empty|.
static bool isAlone(Value value, tensor::EmptyOp empty, const SymbolTable &symbols) {
  Operation *op = value.getDefiningOp();
  auto isElsewhere = [&](Value other) { return other == value || destinationOf(other, symbols) != empty; };
  return empty->hasOneUse() && *empty->getUsers().begin() == op && llvm::all_of(op->getResults(), isElsewhere);
}

/// Computes the source of |copy| in the destination of |copy|, a buffer, instead of in a tensor.empty. Does nothing if
/// the source is not computed in a tensor.empty that only it uses, if something else uses the buffer, or if the types
/// do not fit.
static void writeInPlace(bufferization::MaterializeInDestinationOp copy, const SymbolTable &symbols) {
  SmallVector<tensor::ExpandShapeOp> reshapes;
  Value value = copy.getSource();
  while (auto reshape = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    reshapes.push_back(reshape);
    value = reshape.getSrc();
  }
  tensor::EmptyOp empty = destinationOf(value, symbols);
  if (!empty || value == empty || !isAlone(value, empty, symbols) || empty->getBlock() != copy->getBlock() || !copy.getDest().hasOneUse())
    return;
  // The buffer has the shape of the output, whose static sizes may differ from those of the value.
  auto output = dyn_cast<MemRefType>(copy.getDest().getType());
  if (!output || !output.getLayout().isIdentity() || output.getShape() != copy.getSource().getType().getShape())
    return;
  for (tensor::ExpandShapeOp reshape : reshapes)
    output = memref::CollapseShapeOp::computeCollapsedType(output, reshape.getReassociationIndices());
  if (output.getShape() != empty.getType().getShape() || output.getElementType() != empty.getType().getElementType())
    return;
  OpBuilder builder(empty);
  Value buffer = copy.getDest();
  for (tensor::ExpandShapeOp reshape : reshapes)
    buffer = memref::CollapseShapeOp::create(builder, reshape.getLoc(), buffer, reshape.getReassociationIndices());
  auto memory = bufferization::ToTensorOp::create(builder, empty.getLoc(), empty.getType(), buffer, /*restrict=*/true, /*writable=*/true);
  empty.replaceAllUsesWith(memory.getResult());
  empty.erase();
  copy.getSourceMutable().assign(value);
  copy.getDestMutable().assign(buffer);
}

namespace {
struct WriteOutputsInPlace : attune::impl::WriteOutputsInPlaceBase<WriteOutputsInPlace> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (xfmr::getEntry(function))
        for (auto copy : function.getOps<bufferization::MaterializeInDestinationOp>())
          if (isa<BlockArgument>(copy.getDest()))
            writeInPlace(copy, symbols);
  }
};
} // namespace
