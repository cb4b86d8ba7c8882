//===- RankOps.cpp - Verifier and effects of collectives ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Xfmr/IR/ShardVerification.h"

using namespace mlir;
using namespace mlir::rt;

LogicalResult AllGatherOp::verify() {
  if (getDestinations().size() != 2)
    return emitOpError("expects two destinations, but got ") << getDestinations().size();
  auto whole = cast<ShapedType>(getDestinations()[0].getType()), parts = cast<ShapedType>(getDestinations()[1].getType());
  auto shard = cast<ShapedType>(getInput().getType());
  if (failed(xfmr::verifyShardTypes(*this, whole, shard, getAxis(), getBegins(), /*lastAxis=*/1))) // C1, C2
    return failure();
  SmallVector<int64_t> expected(shard.getShape());
  expected.insert(expected.begin(), getBegins().size());
  if (!parts.hasRank() || parts.getShape() != ArrayRef<int64_t>(expected) || parts.getElementType() != shard.getElementType()) // C3
    return emitOpError("expects a second destination of ") << getBegins().size() << " times the input " << shard << ", but got " << parts;
  return success();
}

void AllGatherOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, 0, true, SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand, 0, true, SideEffects::DefaultResource::get());
  }
}
