//===- RowLimit.cpp - Blocks behind the last token -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/RowLimit.h"
#include "compiler/Target/NVVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;

/// The argument of |loop|'s function that has the offsets of the tokens that |limit| names; null if there is none.
static BlockArgument findOffsetsArgument(scf::ForallOp loop, IntegerAttr limit) {
  auto function = loop->getParentOfType<func::FuncOp>();
  if (!function)
    return {};
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kLimitAttr) == limit)
      return argument;
  return {};
}

LogicalResult attune::verifyRowLimit(scf::ForallOp loop) {
  Attribute attribute = loop->getAttr(kLimitAttr);
  if (!attribute)
    return success();
  auto limit = dyn_cast<IntegerAttr>(attribute);
  BlockArgument offsets = limit ? findOffsetsArgument(loop, limit) : BlockArgument();
  if (!offsets)
    return loop.emitError("expects an argument of the function with '") << kLimitAttr << "' " << attribute << ", as this loop has it";
  auto type = dyn_cast<MemRefType>(offsets.getType());
  if (!type || type.getRank() != 1 || !type.getElementType().isSignlessInteger())
    return loop.emitError("expects the argument with '")
           << kLimitAttr << "' " << attribute << " to be a buffer of offsets, but got " << offsets.getType();
  if (loop.getRank() == 0)
    return loop.emitError("expects a loop with '") << kLimitAttr << "' to have at least one dimension";
  return success();
}

Value attune::readTokenCount(scf::ForallOp loop, ThreadBuilder &e) {
  auto limit = loop->getAttrOfType<IntegerAttr>(kLimitAttr);
  if (!limit)
    return {};
  Value offsets = findOffsetsArgument(loop, limit);
  return e.toIndex(e.load(offsets, {e.add(e.size(offsets, 0), -1)}));
}

void attune::skipRowsBehindTokens(scf::ForallOp loop) {
  ThreadBuilder e(loop.getLoc(), loop.getBody(), loop.getBody()->begin());
  Value count = readTokenCount(loop, e);
  if (!count)
    return;
  Value isToken = e.compare(arith::CmpIPredicate::slt, loop.getInductionVar(0), count);
  auto branch = scf::IfOp::create(e, isToken, /*withElseRegion=*/false);
  Block *body = loop.getBody();
  Block::OpListType &inside = branch.thenBlock()->getOperations();
  inside.splice(inside.begin(), body->getOperations(), std::next(Block::iterator(branch)), std::prev(body->end()));
}
