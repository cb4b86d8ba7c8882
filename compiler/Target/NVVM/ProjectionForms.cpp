//===- ProjectionForms.cpp - Variants of an f32 projection ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ProjectionForms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// The largest number of rows of a tile that the variant for few rows computes.
static constexpr int64_t kFewRows = 16;

Projection::Projection(linalg::LinalgOp op, Value thread, Type word, int64_t sharedWords)
    : e(op->getLoc(), op), input(op->getOperand(0)), panel(op->getOperand(1)), output(op->getOperand(2)), thread(thread),
      shared(e.allocateShared(word, {sharedWords})), rows(e.size(output, 0)), columns(e.size(output, 1)) {
  assert(sharedWords >= kFewShared && "sums of all groups");
}

void Projection::emit() {
  auto few = scf::IfOp::create(e, e.compare(arith::CmpIPredicate::sle, rows, kFewRows), /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(few.thenBlock());
  emitFewRows();
  e.setInsertionPointToStart(few.elseBlock());
  emitTile();
}

void Projection::emitTile() {
  Value zero = e.index(0), one = e.index(1);
  storeNext(zero, loadNext(zero));
  e.barrier();
  Values carried = noSums();
  carried.push_back(zero);
  // The last iteration loads a stage past the end of K, whose components are 0.
  carried = e.loop(zero, depth(), e.index(stageDepth()), carried, [&](Value at, ValueRange before) -> Values {
    Value stage = before.back(), other = e.sub(one, stage);
    Values next = loadNext(e.add(at, stageDepth()));
    Values sums = multiply(stage, before.drop_back());
    storeNext(other, next);
    e.barrier();
    sums.push_back(other);
    return sums;
  });
  storeSums(ValueRange(carried).drop_back());
}

void Projection::emitFewRows() {
  e.loop(e.index(0), rows, kFewAtOnce,
         [&](Value row) { e.loop(e.index(0), columns, kFewColumns, [&](Value column) { emitFewColumns(row, column); }); });
}

/// Emits the sums of up to 4 rows from |row| on and 16 columns from |column| on, and adds them to the output.
void Projection::emitFewColumns(Value row, Value column) {
  Type word = cast<MemRefType>(shared.getType()).getElementType();
  Value quad = e.mul(e.rem(thread, kFewColumns / 4), 4), group = e.div(thread, kFewColumns / 4);
  Values sums = sumFew(row, e.add(column, quad), group);
  // The sums in shared memory: [group][row][column], one word each.
  constexpr int64_t kPart = kFewAtOnce * kFewColumns;
  for (int64_t r = 0; r < kFewAtOnce; ++r) {
    Value words = e.createOrFold<vector::BitCastOp>(VectorType::get({4}, word), sums[r]);
    vector::StoreOp::create(e, words, shared, e.add(e.add(e.mul(group, kPart), r * kFewColumns), quad));
  }
  e.barrier();
  Value myRow = e.add(row, e.div(thread, kFewColumns)), myColumn = e.add(column, e.rem(thread, kFewColumns));
  Value mine = e.both(e.compare(arith::CmpIPredicate::slt, thread, kPart),
                      e.both(e.compare(arith::CmpIPredicate::slt, myRow, rows), e.compare(arith::CmpIPredicate::slt, myColumn, columns)));
  e.ifThen(mine, [&] {
    Value before = e.load(output, {myRow, myColumn});
    Value sum = e.loop(e.index(0), e.index(kFewGroups), e.index(1), before, [&](Value i, ValueRange carried) -> Values {
      Value part = e.load(shared, e.add(e.mul(i, kPart), thread));
      if (!word.isF32())
        part = arith::BitcastOp::create(e, e.getF32Type(), part);
      return {e.addf(carried[0], part)};
    })[0];
    e.store(sum, output, {myRow, myColumn});
  });
  e.barrier();
}
