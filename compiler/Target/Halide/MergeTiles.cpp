//===- MergeTiles.cpp - One tile instead of a loop over tiles -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects a loop over `%i` from 0 to the number of rows, as `attune-tile-groups` creates it around register tiles. Its
// body computes `size` rows of the result, from row `%i` on, and inserts them. Only parallel loops are tiled, so rows
// do not depend on each other, and one iteration with `%i` = 0 and `size` = all rows computes the same result.
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/TranslateKernel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

/// Returns true if |offsets| are |row| in the first dimension and 0 in the others.
static bool startsAt(ArrayRef<OpFoldResult> offsets, Value row) {
  if (offsets.empty() || offsets[0] != OpFoldResult(row))
    return false;
  return llvm::all_of(offsets.drop_front(), [](OpFoldResult offset) { return isConstantIntValue(offset, 0); });
}

LogicalResult attune::mergeTiles(scf::ForOp loop) {
  if (loop.getNumResults() != 1 || getConstantIntValue(OpFoldResult(loop.getLowerBound())) != 0)
    return failure();
  auto insert = loop.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::InsertSliceOp>();
  auto whole = loop.getInitArgs()[0].getDefiningOp<tensor::ExtractSliceOp>();
  if (!insert || !whole || insert->getBlock() != loop.getBody() || !insert->hasOneUse() || insert.getDest() != loop.getRegionIterArg(0) ||
      !startsAt(insert.getMixedOffsets(), loop.getInductionVar()) || insert.getSourceType() != loop.getResult(0).getType() ||
      whole.getMixedSizes().empty() || whole.getMixedSizes()[0] != OpFoldResult(loop.getUpperBound()))
    return failure();
  auto size = dyn_cast<Value>(insert.getMixedSizes()[0]);
  if (!size || size == loop.getInductionVar())
    return failure();
  OpBuilder builder(loop);
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), loop.getLowerBound());
  mapping.map(loop.getRegionIterArg(0), loop.getInitArgs()[0]);
  mapping.map(size, loop.getUpperBound());
  for (Operation &op : loop.getBody()->without_terminator())
    if (&op != size.getDefiningOp() && &op != insert.getOperation())
      builder.clone(op, mapping);
  loop.getResult(0).replaceAllUsesWith(mapping.lookupOrDefault(insert.getSource()));
  loop.erase();
  return success();
}
