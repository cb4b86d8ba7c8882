//===- ThreadContraction.cpp - Projections by the threads of a block -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tile of 64 x 64 results, by 128 threads of 8 x 4 sums each. For 16 components of K at a time the block copies its rows, transposed, and
// its piece of the weight panel to shared memory; of two such stages one is filled while the other is multiplied:
//
//   next   = load x[row, k + 16 ...], panel[k + 16 ..., column]           to registers, 8 floats of each
//   sum   += A[k, 8 rows] B[k, 4 columns]                                 for 16 k: three loads of 16 bytes for 32 products
//   stage' = next; barrier
//
// A panel has all its columns, so only rows and K have tails: what is beyond them is 0. Up to 16 rows (decoding) wait for weights alone.
// Then four threads read 16 columns of a row of the panel and 32 such groups share K; their sums meet in shared memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ThreadContraction.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

/// The tile: rows, columns, depth of a stage, and what of it one thread computes.
static constexpr int64_t kRows = 64, kColumns = 64, kDepth = 16, kThreadRows = 8, kThreadColumns = 4, kThreads = 128;
/// Few rows: as many at once, of as many columns, by groups of threads along K; the most that are computed this way.
static constexpr int64_t kFewAtOnce = 4, kFewColumns = 16, kFewGroups = kThreads / (kFewColumns / 4), kFewRows = 16;
/// Components that a thread loads at once.
static constexpr int64_t kFewUnroll = 4;
/// Floats after a row of a transposed tile, so that threads that write one column of it use different banks.
static constexpr int64_t kPadding = 4;

/// Whether |map| is (d0, d1, d2) -> (d1 floordiv 64, d2, d1 mod 64).
static bool isPanelMap(AffineMap map) {
  if (map.getNumDims() != 3 || map.getNumResults() != 3)
    return false;
  MLIRContext *context = map.getContext();
  AffineExpr n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  return map == AffineMap::get(3, 0, {n.floorDiv(kColumns), k, n % kColumns}, context);
}

bool attune::isContraction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  MLIRContext *context = op->getContext();
  AffineExpr m = getAffineDimExpr(0, context), n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  if (maps[0] != AffineMap::get(3, 0, {m, k}, context) || !isPanelMap(maps[1]) || maps[2] != AffineMap::get(3, 0, {m, n}, context))
    return false;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type || !type.getElementType().isF32() || !type.isLastDimUnitStride())
      return false;
  }
  // out + x * w
  auto sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto product = sum ? sum.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  return product && sum.getLhs() == op.getBlock()->getArgument(2) && product.getLhs() == op.getBlock()->getArgument(0) &&
         product.getRhs() == op.getBlock()->getArgument(1);
}

namespace {

/// Emits one contraction.
class ContractionEmitter {
public:
  ContractionEmitter(linalg::LinalgOp op, OpBuilder &builder, Value thread)
      : builder(builder), e(builder, op->getLoc()), input(op->getOperand(0)), panel(op->getOperand(1)), output(op->getOperand(2)),
        thread(thread), rows(e.size(output, 0)), columns(e.size(output, 1)), depth(e.size(input, 1)),
        vector(VectorType::get({4}, builder.getF32Type())) {}

  void run(Value stages) {
    shared = stages;
    auto few = scf::IfOp::create(builder, e.loc, e.compare(arith::CmpIPredicate::sle, rows, e.index(kFewRows)), /*withElse=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(few.thenBlock());
    emitFewRows();
    builder.setInsertionPointToStart(few.elseBlock());
    emitTile();
  }

private:
  // A tile.
  void emitTile();
  Values loadNext(Value k);
  void storeNext(Value stage, ValueRange next);
  Values multiply(Value stage, ValueRange sums);
  void storeSums(ValueRange sums);
  // Few rows.
  void emitFewRows();
  void emitFewColumns(Value row, Value column);

  Value loadVector(Value buffer, ValueRange at) { return vector::LoadOp::create(builder, e.loc, vector, buffer, at); }
  void storeVector(Value value, Value buffer, ValueRange at) { vector::StoreOp::create(builder, e.loc, value, buffer, at); }
  Value splat(Value scalar) { return vector::BroadcastOp::create(builder, e.loc, vector, scalar); }
  Value lane(Value of, int64_t number) { return vector::ExtractOp::create(builder, e.loc, of, number); }
  Value zero() { return arith::ConstantOp::create(builder, e.loc, builder.getZeroAttr(vector)); }
  /// Where stage |stage| has row |k| of the transposed rows, or of the panel.
  Value rowOfA(Value stage, Value k) { return e.add(e.mul(stage, kStage), e.mul(k, kRows + kPadding)); }
  Value rowOfB(Value stage, Value k) { return e.add(e.add(e.mul(stage, kStage), e.mul(k, kColumns)), kDepth * (kRows + kPadding)); }

  OpBuilder &builder;
  ThreadEmitter e;
  Value input, panel, output, thread, rows, columns, depth, shared;
  VectorType vector;

public:
  /// Floats of a stage, and of shared memory.
  static constexpr int64_t kStage = kDepth * (kRows + kPadding + kColumns), kShared = 2 * kStage;
};

} // namespace

/// What the thread copies of the components from |k| on: 8 of one row, then two vectors of the panel.
Values ContractionEmitter::loadNext(Value k) {
  Values next;
  // 16 neighbours read a row's 16 components.
  Value component = e.add(k, e.rem(thread, kDepth)), first = e.div(thread, kDepth);
  Value exists = e.compare(arith::CmpIPredicate::slt, component, depth);
  for (int64_t i = 0; i < kRows * kDepth / kThreads; ++i) {
    Value row = e.add(first, i * (kThreads / kDepth));
    Value inside = e.both(exists, e.compare(arith::CmpIPredicate::slt, row, rows));
    next.push_back(e.choose(inside, [&] { return Values{e.load(input, {row, component})}; }, [&] { return Values{e.f32(0.0)}; })[0]);
  }
  Value column = e.mul(e.rem(thread, kColumns / 4), 4), line = e.add(k, e.div(thread, kColumns / 4));
  for (int64_t i = 0; i < kDepth * kColumns / 4 / kThreads; ++i) {
    Value at = e.add(line, i * (kThreads / (kColumns / 4)));
    next.push_back(e.choose(
        e.compare(arith::CmpIPredicate::slt, at, depth), [&] { return Values{loadVector(panel, {e.index(0), at, column})}; },
        [&] { return Values{zero()}; })[0]);
  }
  return next;
}

void ContractionEmitter::storeNext(Value stage, ValueRange next) {
  Value component = e.rem(thread, kDepth), first = e.div(thread, kDepth);
  constexpr int64_t kOfA = kRows * kDepth / kThreads;
  for (int64_t i = 0; i < kOfA; ++i)
    e.store(next[i], shared, e.add(rowOfA(stage, component), e.add(first, i * (kThreads / kDepth))));
  Value column = e.mul(e.rem(thread, kColumns / 4), 4), line = e.div(thread, kColumns / 4);
  for (int64_t i = 0; i < kDepth * kColumns / 4 / kThreads; ++i)
    storeVector(next[kOfA + i], shared, e.add(rowOfB(stage, e.add(line, i * (kThreads / (kColumns / 4)))), column));
}

/// |sums| and the products of all components of |stage|.
Values ContractionEmitter::multiply(Value stage, ValueRange sums) {
  Value column = e.mul(e.rem(thread, kColumns / kThreadColumns), kThreadColumns);
  Value row = e.mul(e.div(thread, kColumns / kThreadColumns), kThreadRows);
  Values result(sums);
  for (int64_t k = 0; k < kDepth; ++k) {
    Value a = e.add(rowOfA(stage, e.index(k)), row), weights = loadVector(shared, e.add(rowOfB(stage, e.index(k)), column));
    Value lower = loadVector(shared, a), upper = loadVector(shared, e.add(a, 4));
    for (int64_t r = 0; r < kThreadRows; ++r)
      result[r] = math::FmaOp::create(builder, e.loc, splat(lane(r < 4 ? lower : upper, r % 4)), weights, result[r]);
  }
  return result;
}

void ContractionEmitter::storeSums(ValueRange sums) {
  Value column = e.mul(e.rem(thread, kColumns / kThreadColumns), kThreadColumns);
  Value first = e.mul(e.div(thread, kColumns / kThreadColumns), kThreadRows);
  for (int64_t r = 0; r < kThreadRows; ++r) {
    Value row = e.add(first, r);
    e.ifThen(e.compare(arith::CmpIPredicate::slt, row, rows), [&] {
      for (int64_t c = 0; c < kThreadColumns; ++c) {
        Value at = e.add(column, c);
        e.ifThen(e.compare(arith::CmpIPredicate::slt, at, columns),
                 [&] { e.store(e.addf(e.load(output, {row, at}), lane(sums[r], c)), output, {row, at}); });
      }
    });
  }
}

void ContractionEmitter::emitTile() {
  Value zeroIndex = e.index(0), one = e.index(1);
  storeNext(zeroIndex, loadNext(zeroIndex));
  e.barrier();
  Values carried(kThreadRows, zero());
  carried.push_back(zeroIndex);
  // The last stage has nothing to load: components beyond K are 0.
  carried = e.loop(zeroIndex, depth, e.index(kDepth), carried, [&](Value k, ValueRange before) -> Values {
    Value stage = before.back(), other = e.sub(one, stage);
    Values next = loadNext(e.add(k, kDepth));
    Values sums = multiply(stage, before.drop_back());
    storeNext(other, next);
    e.barrier();
    sums.push_back(other);
    return sums;
  });
  storeSums(ValueRange(carried).drop_back());
}

/// Up to 4 rows from |row| on of 16 columns from |column| on.
void ContractionEmitter::emitFewColumns(Value row, Value column) {
  Value quad = e.mul(e.rem(thread, kFewColumns / 4), 4), group = e.div(thread, kFewColumns / 4), last = e.add(rows, -1);
  Value at = e.add(column, quad);
  Value end = e.add(depth, -1);
  Values sums =
      e.loop(group, depth, e.index(kFewUnroll * kFewGroups), Values(kFewAtOnce, zero()), [&](Value k, ValueRange carried) -> Values {
        // All loads first: a thread waits for them together.
        Values next(carried), weights, components;
        for (int64_t i = 0; i < kFewUnroll; ++i) {
          components.push_back(e.add(k, i * kFewGroups));
          weights.push_back(loadVector(panel, {e.index(0), e.min(components[i], end), at}));
        }
        for (int64_t i = 0; i < kFewUnroll; ++i)
          for (int64_t r = 0; r < kFewAtOnce; ++r) {
            Value x = e.load(input, {e.min(e.add(row, r), last), e.min(components[i], end)});
            x = e.select(e.compare(arith::CmpIPredicate::sle, components[i], end), x, e.f32(0.0));
            next[r] = math::FmaOp::create(builder, e.loc, splat(x), weights[i], next[r]);
          }
        return next;
      });
  // [group][row][column]
  constexpr int64_t kPart = kFewAtOnce * kFewColumns;
  static_assert(kFewGroups * kPart <= kShared, "sums of all groups");
  for (int64_t r = 0; r < kFewAtOnce; ++r)
    storeVector(sums[r], shared, e.add(e.add(e.mul(group, kPart), r * kFewColumns), quad));
  e.barrier();
  Value myRow = e.add(row, e.div(thread, kFewColumns)), myColumn = e.add(column, e.rem(thread, kFewColumns));
  Value mine = e.both(e.compare(arith::CmpIPredicate::slt, thread, e.index(kPart)),
                      e.both(e.compare(arith::CmpIPredicate::slt, myRow, rows), e.compare(arith::CmpIPredicate::slt, myColumn, columns)));
  e.ifThen(mine, [&] {
    Value sum =
        e.loop(e.index(0), e.index(kFewGroups), e.index(1), e.load(output, {myRow, myColumn}), [&](Value i, ValueRange carried) -> Values {
          return {e.addf(carried[0], e.load(shared, e.add(e.mul(i, kPart), thread)))};
        })[0];
    e.store(sum, output, {myRow, myColumn});
  });
  e.barrier();
}

void ContractionEmitter::emitFewRows() {
  e.loop(e.index(0), rows, e.index(kFewAtOnce), {}, [&](Value row, ValueRange) -> Values {
    e.loop(e.index(0), columns, e.index(kFewColumns), {}, [&](Value column, ValueRange) -> Values {
      emitFewColumns(row, column);
      return {};
    });
    return {};
  });
}

void attune::emitContraction(linalg::LinalgOp op, const ThreadLoops &loops) {
  OpBuilder builder(op);
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({ContractionEmitter::kShared}, builder.getF32Type(), MemRefLayoutAttrInterface(), space);
  Value shared = memref::AllocOp::create(builder, op->getLoc(), type, builder.getI64IntegerAttr(128));
  ContractionEmitter(op, builder, loops.thread).run(shared);
}
