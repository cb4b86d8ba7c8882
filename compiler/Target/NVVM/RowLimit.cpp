//===- RowLimit.cpp - Guards for blocks past the last token ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/RowLimit.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;

Value attune::readTokenCount(scf::ForallOp loop, ThreadBuilder &e) {
  std::optional<int64_t> limit = rt::getLaunch(loop).getLimit();
  if (!limit)
    return {};
  Value offsets = rt::findLimit(loop, *limit);
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
