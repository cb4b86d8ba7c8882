//===- RowLimit.cpp - Blocks behind the last token -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/RowLimit.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;

Value attune::readTokenCount(scf::ForallOp loop, ThreadEmitter &e) {
  std::optional<int64_t> limit = rt::getLaunch(loop).getLimit();
  if (!limit)
    return {};
  Value offsets = rt::findLimit(loop, *limit);
  return arith::IndexCastOp::create(e.builder, e.loc, e.builder.getIndexType(), e.load(offsets, {e.add(e.size(offsets, 0), -1)}));
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
