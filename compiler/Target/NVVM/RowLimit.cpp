//===- RowLimit.cpp - Blocks behind the last token -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/RowLimit.h"
#include "compiler/Target/NVVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;

Value attune::readTokenCount(scf::ForallOp loop, ThreadEmitter &e) {
  auto limit = loop->getAttrOfType<IntegerAttr>(kLimitAttr);
  if (!limit)
    return {};
  auto function = loop->getParentOfType<func::FuncOp>();
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kLimitAttr) == limit)
      return arith::IndexCastOp::create(e.builder, e.loc, e.builder.getIndexType(), e.load(argument, {e.add(e.size(argument, 0), -1)}));
  llvm_unreachable("the function of a limited loop has the limit as an argument");
}

void attune::skipRowsBehindTokens(scf::ForallOp loop) {
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  ThreadEmitter e(builder, loop.getLoc());
  Value count = readTokenCount(loop, e);
  if (!count)
    return;
  Value isToken = e.compare(arith::CmpIPredicate::slt, loop.getInductionVar(0), count);
  auto branch = scf::IfOp::create(builder, loop.getLoc(), isToken, /*withElseRegion=*/false);
  Block *body = loop.getBody();
  Block::OpListType &inside = branch.thenBlock()->getOperations();
  inside.splice(inside.begin(), body->getOperations(), std::next(Block::iterator(branch)), std::prev(body->end()));
}
