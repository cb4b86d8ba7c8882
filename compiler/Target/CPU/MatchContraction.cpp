//===- MatchContraction.cpp - What is a projection tile -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/DotContraction.h"
#include "compiler/Target/CPU/LaneBody.h"
#include "compiler/Target/CPU/VectorizeTiles.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;

/// Whether |op|'s body is `accumulator + a * b`.
static bool isMultiplyAdd(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto multiply = add ? add.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  return multiply && add.getLhs() == body->getArgument(2) && multiply.getLhs() == body->getArgument(0) &&
         multiply.getRhs() == body->getArgument(1);
}

/// Whether |op| maps `C[m, n] += A[m, k] * B[.., k, ..]` in this order of loops.
static bool hasContractionMaps(linalg::LinalgOp op) {
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  auto map = [&](AffineExpr row, AffineExpr column) { return AffineMap::get(3, 0, {row, column}, op.getContext()); };
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return maps[0] == map(m, k) && maps[2] == map(m, n) && maps[1].getNumResults() == 3 && maps[1].getResult(1) == k;
}

/// Whether |epilogue| can work on the elements of |sum| in registers, as the only reader after |op|.
static bool isEpilogue(linalg::LinalgOp epilogue, linalg::LinalgOp op, Value sum) {
  if (epilogue.getNumLoops() != 2 || epilogue.getNumParallelLoops() != 2 || epilogue.getNumDpsInits() != 1 ||
      epilogue.getDpsInits()[0] == sum || llvm::count(epilogue->getOperands(), sum) != 1)
    return false;
  for (OpOperand &operand : epilogue->getOpOperands())
    if ((operand.get() == sum || epilogue.isDpsInit(&operand)) && !epilogue.getMatchingIndexingMap(&operand).isIdentity())
      return false;
  // The product moves down to the epilogue: nothing between them may touch memory.
  for (Operation *between = op->getNextNode(); between != epilogue; between = between->getNextNode())
    if (!isMemoryEffectFree(between))
      return false;
  OpBuilder builder(epilogue);
  VectorEmitter emitter(builder, epilogue.getLoc());
  return !LaneBody(emitter, epilogue).check();
}

/// Whether |value| is a constant 0.
static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

std::optional<ContractionTile> attune::matchContraction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  if (!isDotContraction(op) && !(isMultiplyAdd(op) && hasContractionMaps(op)))
    return std::nullopt;
  Value sum = op.getDpsInits()[0];
  ContractionTile tile{op, nullptr, nullptr};
  SmallVector<Operation *> before, after;
  for (Operation *user : sum.getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (user == op || isa<memref::DimOp>(user))
      continue;
    (here && here->isBeforeInBlock(op) ? before : after).push_back(here == user ? user : nullptr);
    auto fill = here == user ? dyn_cast<linalg::FillOp>(user) : linalg::FillOp();
    if (fill && user->isBeforeInBlock(op) && fill.getDpsInits()[0] == sum)
      tile.fill = fill;
  }
  // What was written before a fill of zeros is lost, and between the two stands nothing else.
  if (!tile.fill || before.size() != 1 || !isZero(tile.fill.getDpsInputs()[0]))
    return std::nullopt;
  if (auto epilogue = after.size() == 1 ? dyn_cast_or_null<linalg::LinalgOp>(after[0]) : linalg::LinalgOp();
      epilogue && isEpilogue(epilogue, op, sum))
    tile.epilogue = epilogue;
  return tile;
}
