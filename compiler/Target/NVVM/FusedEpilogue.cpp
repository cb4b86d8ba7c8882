//===- FusedEpilogue.cpp - Elementwise operations on sums -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/FusedEpilogue.h"
#include "compiler/Target/NVVM/LinalgBody.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <vector>

using namespace mlir;
using namespace attune;

bool attune::areNeighbours(Operation *first, Operation *second) {
  if (first->getBlock() != second->getBlock() || !first->isBeforeInBlock(second))
    return false;
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<gpu::BarrierOp>(op))
      return false;
  return true;
}

/// Returns true if |op| has two parallel loops and one output, and its maps of the output and of |sums| are identities.
static bool isEpilogue(linalg::LinalgOp op, Value sums) {
  if (op.getNumLoops() != 2 || op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1)
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    bool isWhole = operand.get() == sums || op.isDpsInit(&operand);
    return !isWhole || op.getMatchingIndexingMap(&operand).isIdentity();
  });
}

linalg::LinalgOp attune::findFusedEpilogue(Operation *product, Value sums, Operation *zero) {
  linalg::LinalgOp epilogue;
  for (Operation *user : sums.getUsers()) {
    if (user == product || user == zero || user == epilogue || isa<memref::DimOp>(user))
      continue;
    auto next = dyn_cast<linalg::LinalgOp>(user);
    if (!next || epilogue || !areNeighbours(product, next) || !isEpilogue(next, sums))
      return {};
    epilogue = next;
  }
  // With a fused epilogue the sums are not stored, so nothing else may read them. Either they are scratch of the block,
  // all of whose users were visited above, or the epilogue overwrites them.
  bool isScratch = isa_and_nonnull<memref::AllocOp, memref::ViewOp>(sums.getDefiningOp());
  return epilogue && (isScratch || epilogue.getDpsInits()[0] == sums) ? epilogue : linalg::LinalgOp();
}

void attune::storeSums(ThreadBuilder &e, linalg::LinalgOp epilogue, Value buffer, ArrayRef<SumAtElement> sums) {
  if (!epilogue) {
    for (const SumAtElement &sum : sums)
      e.ifThen(sum.exists, [&] { e.store(sum.value, buffer, {sum.row, sum.column}); });
    return;
  }
  std::vector<std::pair<LinalgBody, ThreadBuilder::Values>> stored;
  for (const SumAtElement &sum : sums) {
    LinalgBody body(epilogue, e);
    body.at[0] = sum.row;
    body.at[1] = sum.column;
    for (OpOperand &operand : epilogue->getOpOperands())
      if (operand.get() == buffer)
        body.known[operand.getOperandNumber()] = sum.value;
    ThreadBuilder::Values values = body.evaluate(body.loadOutputs());
    stored.emplace_back(std::move(body), std::move(values));
  }
  for (size_t i = 0; i < stored.size(); ++i)
    e.ifThen(sums[i].exists, [&] { stored[i].first.storeOutputs(stored[i].second); });
}
