//===- ThreadContraction.cpp - Projections by the threads of a block -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// f32 GEMM without tensor cores. 128 threads compute a tile of 64 x 64 results, 8 x 4 sums each. For 16 components of K
// at a time the block copies its rows, transposed, and its part of the weight panel to shared memory; one of two such
// stages is filled while the other is multiplied:
//
//   next   = load x[row, k + 16 ...], panel[k + 16 ..., column]           to registers, 8 floats of each
//   sum   += A[k, 8 rows] B[k, 4 columns]     for each of 16 k: three loads of 16 bytes for 32 products
//   stage' = next; barrier
//
// A panel always has 64 columns, so only rows and K have tails. Elements past the last row or past K are read as 0.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ThreadContraction.h"
#include "compiler/Target/NVVM/ProjectionForms.h"
#include "compiler/Transforms/DimBounds.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// Rows, columns and stage depth of the tile; rows and columns of one thread; threads.
static constexpr int64_t kRows = 64, kColumns = 64, kDepth = 16, kThreadRows = 8, kThreadColumns = 4, kThreads = kBlockThreads;
/// Components that a thread loads at once in the variant for few rows.
static constexpr int64_t kFewUnroll = 4;
/// Padding floats after a row of the transposed rows of A, so that the 16 threads that write one column of the
/// transposed rows use eight banks, not one.
static constexpr int64_t kPadding = 4;
/// Floats of a stage.
static constexpr int64_t kStage = kDepth * (kRows + kPadding + kColumns);

/// Returns true if |map| is (d0, d1, d2) -> (d1 floordiv 64, d2, d1 mod 64).
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
  DimBounds bounds;
  std::pair<int64_t, int64_t> tile[] = {{0, kRows}, {1, kColumns}};
  for (auto [dim, most] : tile) {
    std::optional<int64_t> size = bounds.getConstantDim(op.getDpsInits()[0], dim);
    if (!size || *size > most)
      return false;
  }
  // The body must be out + x * w.
  auto sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto product = sum ? sum.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  return product && sum.getLhs() == op.getBlock()->getArgument(2) && product.getLhs() == op.getBlock()->getArgument(0) &&
         product.getRhs() == op.getBlock()->getArgument(1);
}

namespace {

/// Emits the code of one thread for a contraction of f32.
class ContractionEmitter : public Projection {
public:
  ContractionEmitter(linalg::LinalgOp op, Value thread)
      : Projection(op, thread, Float32Type::get(op->getContext()), 2 * kStage), size(e.size(input, 1)),
        vector(VectorType::get({4}, e.getF32Type())) {}

private:
  Values loadNext(Value k) override;
  void storeNext(Value stage, ValueRange next) override;
  Values multiply(Value stage, ValueRange sums) override;
  void storeSums(ValueRange sums) override;
  Values noSums() override { return Values(kThreadRows, zero()); }
  Value depth() override { return size; }
  int64_t stageDepth() override { return kDepth; }
  Values sumFew(Value row, Value column, Value group) override;

  Value loadVector(Value buffer, ValueRange at) { return vector::LoadOp::create(e, vector, buffer, at); }
  void storeVector(Value value, Value buffer, ValueRange at) { vector::StoreOp::create(e, value, buffer, at); }
  Value splat(Value scalar) { return vector::BroadcastOp::create(e, vector, scalar); }
  Value lane(Value of, int64_t number) { return vector::ExtractOp::create(e, of, number); }
  Value zero() { return arith::ConstantOp::create(e, e.getZeroAttr(vector)); }
  /// Return the offset, in floats, of row |k| of stage |stage|: rowOfA of the transposed rows, rowOfB of the panel.
  Value rowOfA(Value stage, Value k) { return e.add(e.mul(stage, kStage), e.mul(k, kRows + kPadding)); }
  Value rowOfB(Value stage, Value k) { return e.add(e.add(e.mul(stage, kStage), e.mul(k, kColumns)), kDepth * (kRows + kPadding)); }

  /// The size of K.
  Value size;
  VectorType vector;
};

} // namespace

/// Loads the thread's part of the stage at |k|: one component of each of 8 rows, then two vectors of the panel.
Values ContractionEmitter::loadNext(Value k) {
  Values next;
  // 16 neighboring threads read a row's 16 components.
  Value component = e.add(k, e.rem(thread, kDepth)), first = e.div(thread, kDepth);
  Value exists = e.compare(arith::CmpIPredicate::slt, component, size);
  for (int64_t i = 0; i < kRows * kDepth / kThreads; ++i) {
    Value row = e.add(first, i * (kThreads / kDepth));
    Value inside = e.both(exists, e.compare(arith::CmpIPredicate::slt, row, rows));
    next.push_back(e.choose(inside, [&] { return Values{e.load(input, {row, component})}; }, [&] { return Values{e.f32(0.0)}; })[0]);
  }
  Value column = e.mul(e.rem(thread, kColumns / 4), 4), line = e.add(k, e.div(thread, kColumns / 4));
  for (int64_t i = 0; i < kDepth * kColumns / 4 / kThreads; ++i) {
    Value at = e.add(line, i * (kThreads / (kColumns / 4)));
    next.push_back(e.choose(
        e.compare(arith::CmpIPredicate::slt, at, size), [&] { return Values{loadVector(panel, {e.index(0), at, column})}; },
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

/// Returns |sums| plus the products of all components of |stage|.
Values ContractionEmitter::multiply(Value stage, ValueRange sums) {
  Value column = e.mul(e.rem(thread, kColumns / kThreadColumns), kThreadColumns);
  Value row = e.mul(e.div(thread, kColumns / kThreadColumns), kThreadRows);
  Values result(sums);
  for (int64_t k = 0; k < kDepth; ++k) {
    Value a = e.add(rowOfA(stage, e.index(k)), row), weights = loadVector(shared, e.add(rowOfB(stage, e.index(k)), column));
    Value lower = loadVector(shared, a), upper = loadVector(shared, e.add(a, 4));
    for (int64_t r = 0; r < kThreadRows; ++r)
      result[r] = math::FmaOp::create(e, splat(lane(r < 4 ? lower : upper, r % 4)), weights, result[r]);
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

Values ContractionEmitter::sumFew(Value row, Value column, Value group) {
  Value last = e.add(rows, -1), end = e.add(size, -1);
  return e.loop(group, size, e.index(kFewUnroll * kFewGroups), Values(kFewAtOnce, zero()), [&](Value k, ValueRange carried) -> Values {
    // All loads first: a thread waits for them together.
    Values next(carried), weights, components;
    for (int64_t i = 0; i < kFewUnroll; ++i) {
      components.push_back(e.add(k, i * kFewGroups));
      weights.push_back(loadVector(panel, {e.index(0), e.min(components[i], end), column}));
    }
    for (int64_t i = 0; i < kFewUnroll; ++i)
      for (int64_t r = 0; r < kFewAtOnce; ++r) {
        Value x = e.load(input, {e.min(e.add(row, r), last), e.min(components[i], end)});
        x = e.select(e.compare(arith::CmpIPredicate::sle, components[i], end), x, e.f32(0.0));
        next[r] = math::FmaOp::create(e, splat(x), weights[i], next[r]);
      }
    return next;
  });
}

void attune::emitContraction(linalg::LinalgOp op, const ThreadLoops &loops) { ContractionEmitter(op, loops.thread).emit(); }
