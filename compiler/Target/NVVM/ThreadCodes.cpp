//===- ThreadCodes.cpp - Projections of bf16 by tensor cores ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tile of 64 x 64 results by 4 warps of 32 x 32, as 2 x 4 products m16n8k16. Panels have two neighbours in K side by side, which is a
// register of an operand: fragments are words of shared memory as they are, read without transposing. Rows of both tiles are padded so that
// the 32 words of a fragment lie in 32 banks: 16 + 4 words for 32 components of a row, 64 + 8 for the columns of a pair.
//
//   word of A   [row][k / 2]       a0 (g, t)  a1 (g + 8, t)  a2 (g, t + 4)  a3 (g + 8, t + 4)      g = lane / 4, t = lane % 4
//   word of B   [k / 2][column]    b0 (t, g)  b1 (t + 4, g)
//   sum         c0 (g, 2t)  c1 (g, 2t + 1)  c2 (g + 8, 2t)  c3 (g + 8, 2t + 1)
//
// A stage has 32 components. Few rows are sums of scalar products, as in f32.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ProjectionForms.h"
#include "compiler/Target/NVVM/ThreadContraction.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

/// The tile, the depth of a stage in words of two components, and what a warp computes.
static constexpr int64_t kRows = 64, kColumns = 64, kWords = 16, kThreads = kProjectionThreads, kWarpTile = 32;
/// Words from one row of a tile in shared memory to the next.
static constexpr int64_t kStrideA = kWords + 4, kStrideB = kColumns + 8;
static constexpr int64_t kStage = kRows * kStrideA + kWords * kStrideB;
/// Products of a warp, and words of K that one takes.
static constexpr int64_t kProductsM = kWarpTile / 16, kProductsN = kWarpTile / 8, kProductWords = 8;
/// Words that a thread copies at once, and how often it copies for each tile.
static constexpr int64_t kChunk = 4, kCopies = kRows * kWords / kChunk / kThreads;

bool attune::isCodeContraction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  MLIRContext *context = op->getContext();
  AffineExpr m = getAffineDimExpr(0, context), n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  if (maps[0] != AffineMap::get(3, 0, {m, k}, context) || maps[2] != AffineMap::get(3, 0, {m, n}, context) ||
      maps[1] != AffineMap::get(3, 0, {n.floorDiv(kColumns), k.floorDiv(2), n % kColumns, k % 2}, context))
    return false;
  auto rows = dyn_cast<MemRefType>(op->getOperand(0).getType()), panels = dyn_cast<MemRefType>(op->getOperand(1).getType());
  auto output = dyn_cast<MemRefType>(op->getOperand(2).getType());
  return rows && panels && output && rows.getElementType().isBF16() && panels.getElementType().isBF16() &&
         output.getElementType().isF32() && rows.isLastDimUnitStride() && panels.isLastDimUnitStride() &&
         rows.getDimSize(1) % (2 * kProductWords) == 0;
}

namespace {

/// Emits one contraction.
class CodeEmitter : public Projection {
public:
  CodeEmitter(linalg::LinalgOp op, OpBuilder &builder, Value thread)
      : Projection(op, builder, thread, builder.getI32Type(), 2 * kStage), words(cast<MemRefType>(input.getType()).getDimSize(1) / 2),
        chunk(VectorType::get({kChunk}, builder.getI32Type())) {}

private:
  Values loadNext(Value word) override;
  void storeNext(Value stage, ValueRange next) override;
  Values multiply(Value stage, ValueRange sums) override;
  void storeSums(ValueRange sums) override;
  Values noSums() override { return Values(kProductsM * kProductsN, LLVM::ZeroOp::create(builder, e.loc, sumType())); }
  Value depth() override { return e.index(words); }
  int64_t stageDepth() override { return kWords; }
  Values sumFew(Value row, Value column, Value group) override;

  Value loadChunk(Value exists, Value buffer, ValueRange at);
  Value product(ValueRange a, ValueRange b, Value sum);
  Values addPair(Value row, Value word, Value at, ValueRange sums);

  Value lane() { return e.rem(thread, kWarp); }
  Value rowOfWarp() { return e.mul(e.div(thread, 2 * kWarp), kWarpTile); }
  Value columnOfWarp() { return e.mul(e.rem(e.div(thread, kWarp), 2), kWarpTile); }
  Value ofA(Value stage, Value row, Value word) { return e.add(e.mul(stage, kStage), e.add(e.mul(row, kStrideA), word)); }
  Value ofB(Value stage, Value word, Value column) {
    return e.add(e.add(e.mul(stage, kStage), e.add(e.mul(word, kStrideB), column)), kRows * kStrideA);
  }
  Type sumType() {
    Type f32 = builder.getF32Type();
    return LLVM::LLVMStructType::getLiteral(builder.getContext(), {f32, f32, f32, f32});
  }

  /// Pairs of components.
  int64_t words;
  VectorType chunk;
};

} // namespace

/// 8 codes of |buffer| as words, zeros if they do not exist.
Value CodeEmitter::loadChunk(Value exists, Value buffer, ValueRange at) {
  return e.choose(
      exists,
      [&] {
        Value codes = vector::LoadOp::create(builder, e.loc, VectorType::get({2 * kChunk}, builder.getBF16Type()), buffer, at);
        return Values{vector::BitCastOp::create(builder, e.loc, chunk, codes)};
      },
      [&] { return Values{arith::ConstantOp::create(builder, e.loc, builder.getZeroAttr(chunk))}; })[0];
}

/// What the thread copies of the components from word |word| on: chunks of rows, then of the panel.
Values CodeEmitter::loadNext(Value word) {
  Values next;
  Value end = e.index(words), first = e.mul(e.rem(thread, kWords / kChunk), kChunk), at = e.add(word, first);
  Value inside = e.compare(arith::CmpIPredicate::slt, at, end);
  for (int64_t i = 0; i < kCopies; ++i) {
    Value row = e.add(e.div(thread, kWords / kChunk), i * (kThreads / (kWords / kChunk)));
    Value exists = e.both(inside, e.compare(arith::CmpIPredicate::slt, row, rows));
    next.push_back(loadChunk(exists, input, {row, e.mul(at, 2)}));
  }
  Value column = e.mul(e.rem(thread, kColumns / kChunk), kChunk);
  for (int64_t i = 0; i < kCopies; ++i) {
    Value line = e.add(word, e.add(e.div(thread, kColumns / kChunk), i * (kThreads / (kColumns / kChunk))));
    next.push_back(loadChunk(e.compare(arith::CmpIPredicate::slt, line, end), panel, {e.index(0), line, column, e.index(0)}));
  }
  return next;
}

void CodeEmitter::storeNext(Value stage, ValueRange next) {
  auto store = [&](Value value, Value at) { vector::StoreOp::create(builder, e.loc, value, shared, at); };
  Value word = e.mul(e.rem(thread, kWords / kChunk), kChunk), column = e.mul(e.rem(thread, kColumns / kChunk), kChunk);
  for (int64_t i = 0; i < kCopies; ++i) {
    store(next[i], ofA(stage, e.add(e.div(thread, kWords / kChunk), i * (kThreads / (kWords / kChunk))), word));
    store(next[kCopies + i], ofB(stage, e.add(e.div(thread, kColumns / kChunk), i * (kThreads / (kColumns / kChunk))), column));
  }
}

Value CodeEmitter::product(ValueRange a, ValueRange b, Value sum) {
  SmallVector<Value> parts;
  for (int64_t i = 0; i < 4; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(builder, e.loc, sum, i));
  std::array<NVVM::MMATypes, 2> types{NVVM::MMATypes::bf16, NVVM::MMATypes::bf16};
  std::array<NVVM::MMALayout, 2> layouts{NVVM::MMALayout::row, NVVM::MMALayout::col};
  return NVVM::MmaOp::create(builder, e.loc, sumType(), a, b, parts, ArrayRef<int64_t>{16, 8, 16}, std::nullopt, std::nullopt, types,
                             layouts);
}

/// |sums| and the products of all components of |stage|.
Values CodeEmitter::multiply(Value stage, ValueRange sums) {
  Value g = e.div(lane(), 4), t = e.rem(lane(), 4), row = e.add(rowOfWarp(), g), column = e.add(columnOfWarp(), g);
  Values result(sums);
  for (int64_t word = 0; word < kWords; word += kProductWords) {
    Value near = e.add(t, word), far = e.add(t, word + 4);
    SmallVector<Values> a, b;
    for (int64_t i = 0; i < kProductsM; ++i) {
      Value upper = e.add(row, 16 * i), lower = e.add(row, 16 * i + 8);
      a.push_back({e.load(shared, ofA(stage, upper, near)), e.load(shared, ofA(stage, lower, near)), e.load(shared, ofA(stage, upper, far)),
                   e.load(shared, ofA(stage, lower, far))});
    }
    for (int64_t j = 0; j < kProductsN; ++j)
      b.push_back({e.load(shared, ofB(stage, near, e.add(column, 8 * j))), e.load(shared, ofB(stage, far, e.add(column, 8 * j)))});
    for (int64_t i = 0; i < kProductsM; ++i)
      for (int64_t j = 0; j < kProductsN; ++j)
        result[i * kProductsN + j] = product(a[i], b[j], result[i * kProductsN + j]);
  }
  return result;
}

void CodeEmitter::storeSums(ValueRange sums) {
  Value g = e.div(lane(), 4), pair = e.mul(e.rem(lane(), 4), 2);
  for (int64_t i = 0; i < kProductsM; ++i)
    for (int64_t j = 0; j < kProductsN; ++j)
      for (int64_t part = 0; part < 4; ++part) {
        Value row = e.add(e.add(rowOfWarp(), g), 16 * i + part / 2 * 8), column = e.add(e.add(columnOfWarp(), pair), 8 * j + part % 2);
        Value exists = e.both(e.compare(arith::CmpIPredicate::slt, row, rows), e.compare(arith::CmpIPredicate::slt, column, columns));
        Value sum = LLVM::ExtractValueOp::create(builder, e.loc, sums[i * kProductsN + j], part);
        e.ifThen(exists, [&] { e.store(e.addf(e.load(output, {row, column}), sum), output, {row, column}); });
      }
}

/// |sums| of 4 rows and the products of the pair of components |word|, for the 4 columns from |at| on.
Values CodeEmitter::addPair(Value row, Value word, Value at, ValueRange sums) {
  auto wide = VectorType::get({8}, builder.getF32Type());
  Value codes = vector::LoadOp::create(builder, e.loc, VectorType::get({8}, builder.getBF16Type()), panel,
                                       ValueRange{e.index(0), word, at, e.index(0)});
  Value weights = arith::ExtFOp::create(builder, e.loc, wide, codes), last = e.add(rows, -1);
  Value parts[2] = {vector::ShuffleOp::create(builder, e.loc, weights, weights, ArrayRef<int64_t>{0, 2, 4, 6}),
                    vector::ShuffleOp::create(builder, e.loc, weights, weights, ArrayRef<int64_t>{1, 3, 5, 7})};
  Values next(sums);
  for (int64_t r = 0; r < kFewAtOnce; ++r)
    for (int64_t i = 0; i < 2; ++i) {
      Value code = e.load(input, {e.min(e.add(row, r), last), e.add(e.mul(word, 2), i)});
      Value x = arith::ExtFOp::create(builder, e.loc, builder.getF32Type(), code);
      next[r] = math::FmaOp::create(builder, e.loc, vector::BroadcastOp::create(builder, e.loc, parts[i].getType(), x), parts[i], next[r]);
    }
  return next;
}

Values CodeEmitter::sumFew(Value row, Value column, Value group) {
  auto vector = VectorType::get({4}, builder.getF32Type());
  Values none(kFewAtOnce, arith::ConstantOp::create(builder, e.loc, builder.getZeroAttr(vector)));
  return e.loop(group, e.index(words), e.index(kFewGroups), none,
                [&](Value word, ValueRange carried) { return addPair(row, word, column, carried); });
}

void attune::emitCodeContraction(linalg::LinalgOp op, const ThreadLoops &loops) {
  OpBuilder builder(op);
  CodeEmitter(op, builder, loops.thread).emit();
}
