//===- MatchContraction.cpp - Contractions over packed weights ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/MatchContraction.h"
#include "compiler/Target/CPU/LaneBody.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;

/// Returns |value| if it is a block argument, or the block argument that an op |Ext| extends to |value|; null
/// otherwise.
template <typename... Ext>
static BlockArgument widened(Value value) {
  Operation *op = value.getDefiningOp();
  return dyn_cast<BlockArgument>(op && isa<Ext...>(op) ? op->getOperand(0) : value);
}

/// Returns true if |op|'s body is `accumulator + a * b`, in floats if |floats|, else in integers. a and b must be
/// extended unless they are f32: a as unsigned if it is i8, other integers as signed.
static bool isWidenedMultiplyAdd(linalg::LinalgOp op, bool floats) {
  Block *body = op.getBlock();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !(floats ? isa<arith::AddFOp>(add) : isa<arith::AddIOp>(add)) || add->getOperand(0) != body->getArgument(2))
    return false;
  Operation *multiply = add->getOperand(1).getDefiningOp();
  if (!multiply || !(floats ? isa<arith::MulFOp>(multiply) : isa<arith::MulIOp>(multiply)))
    return false;
  Value a = multiply->getOperand(0), b = multiply->getOperand(1);
  if (floats)
    return widened<arith::ExtFOp>(a) == body->getArgument(0) && widened<arith::ExtFOp>(b) == body->getArgument(1);
  bool isUnsigned = body->getArgument(0).getType().isInteger(8);
  BlockArgument code = isUnsigned ? widened<arith::ExtUIOp>(a) : widened<arith::ExtSIOp>(a);
  return code == body->getArgument(0) && widened<arith::ExtSIOp>(b) == body->getArgument(1);
}

bool attune::isLowPrecisionContraction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  auto element = [](Value value) { return getElementTypeOrSelf(value.getType()); };
  Type a = element(op.getDpsInputs()[0]), b = element(op.getDpsInputs()[1]), c = element(op.getDpsInits()[0]);
  bool floats = c.isF32() && b.isBF16() && (a.isBF16() || a.isF32());
  bool integers = c.isInteger(32) && b.isInteger(8) && (a.isInteger(8) || a.isInteger(16));
  if ((!floats && !integers) || !isWidenedMultiplyAdd(op, floats))
    return false;
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return maps[0] == AffineMap::get(3, 0, {m, k}, op.getContext()) && maps[2] == AffineMap::get(3, 0, {m, n}, op.getContext()) &&
         maps[1].getNumResults() == 4;
}

/// Returns true if |op|'s body is `accumulator + a * b`, where b may be extended (widened).
static bool isMultiplyAdd(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto multiply = add ? add.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  return multiply && add.getLhs() == body->getArgument(2) && multiply.getLhs() == body->getArgument(0) &&
         widened<arith::ExtFOp>(multiply.getRhs()) == body->getArgument(1);
}

/// Returns true if |op| maps `C[m, n] += A[m, k] * B[.., k, ..]`, with loops in the order m, n, k.
static bool hasContractionMaps(linalg::LinalgOp op) {
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  auto map = [&](AffineExpr row, AffineExpr column) { return AffineMap::get(3, 0, {row, column}, op.getContext()); };
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return maps[0] == map(m, k) && maps[2] == map(m, n) && maps[1].getNumResults() == 3 && maps[1].getResult(1) == k;
}

/// Returns the allocation or block argument of which |buffer| is a view.
static Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Returns true if |epilogue|, which follows |op| in its block and is the only reader of |sum|, can work on the
/// elements of |sum| in registers.
static bool isEpilogue(linalg::LinalgOp epilogue, Operation *op, Value sum) {
  if (epilogue.getNumLoops() != 2 || epilogue.getNumParallelLoops() != 2 || epilogue.getNumDpsInits() != 1 ||
      epilogue.getDpsInits()[0] == sum || llvm::count(epilogue->getOperands(), sum) != 1)
    return false;
  // The epilogue must not write an operand of |op|: the product with the next panel, which follows the epilogue of this
  // one, reads all of them again.
  Value written = getRoot(epilogue.getDpsInits()[0]);
  if (llvm::any_of(op->getOperands(), [&](Value operand) { return operand != sum && getRoot(operand) == written; }))
    return false;
  for (OpOperand &operand : epilogue->getOpOperands())
    if ((operand.get() == sum || epilogue.isDpsInit(&operand)) && !epilogue.getMatchingIndexingMap(&operand).isIdentity())
      return false;
  // The product moves down to the epilogue: nothing between them may touch memory.
  for (Operation *between = op->getNextNode(); between != epilogue; between = between->getNextNode())
    if (!isMemoryEffectFree(between))
      return false;
  VectorBuilder builder(epilogue.getLoc(), epilogue);
  return !LaneBody(builder, epilogue).check();
}

linalg::LinalgOp attune::findEpilogue(tiles::GroupedProductOp op) {
  Value sums = op.getDestination();
  linalg::LinalgOp epilogue;
  for (Operation *user : sums.getUsers()) {
    if (user == op || isa<memref::DimOp>(user))
      continue;
    auto reader = dyn_cast<linalg::LinalgOp>(user);
    if (epilogue || !reader || user->getBlock() != op->getBlock() || !op->isBeforeInBlock(user) || !isEpilogue(reader, op, sums))
      return nullptr;
    epilogue = reader;
  }
  return epilogue;
}

/// Returns true if |value| is a constant 0.
static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

std::optional<ContractionTile> attune::matchContraction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  if (!isLowPrecisionContraction(op) && !(isMultiplyAdd(op) && hasContractionMaps(op)))
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
  // The fill of zeros makes earlier writes dead. No other operation before the contraction may use the sums.
  if (!tile.fill || before.size() != 1 || !isZero(tile.fill.getDpsInputs()[0]))
    return std::nullopt;
  if (auto epilogue = after.size() == 1 ? dyn_cast_or_null<linalg::LinalgOp>(after[0]) : linalg::LinalgOp();
      epilogue && isEpilogue(epilogue, op, sum))
    tile.epilogue = epilogue;
  return tile;
}
