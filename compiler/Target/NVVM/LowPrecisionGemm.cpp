//===- LowPrecisionGemm.cpp - Parts that variants of projections share ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/LowPrecisionGemm.h"

using namespace mlir;
using namespace attune;

void attune::keepSums(ThreadBuilder &e, ValueRange sums, Value shared, Value warp, Value lane) {
  Value g = e.div(lane, 4), pair = e.mul(e.rem(lane, 4), 2);
  for (int64_t i = 0; i < 8; ++i)
    e.store(sums[i], shared, {warp, e.add(g, i % 4 / 2 * 8), e.add(pair, i / 4 * 8 + i % 2)});
}

void attune::joinSums(ThreadBuilder &e, Value shared, Value thread, llvm::function_ref<void(Value, Value, Value)> body) {
  int64_t warps = cast<MemRefType>(shared.getType()).getDimSize(0);
  for (int64_t i = 0; i < kSplitRows * kSplitColumns / kBlockThreads; ++i) {
    Value down = e.add(e.div(thread, kSplitColumns), i * (kBlockThreads / kSplitColumns)), right = e.rem(thread, kSplitColumns), sum;
    for (int64_t w = 0; w < warps; ++w) {
      Value part = e.load(shared, {e.index(w), down, right});
      sum = sum ? e.addf(sum, part) : part;
    }
    body(down, right, sum);
  }
}

LowPrecisionGemm::LowPrecisionGemm(const LowPrecisionProjection &projection, ThreadBuilder &e, Value thread, ArrayRef<int64_t> shape)
    : projection(projection), e(e), cores(e, projection.element()), input(projection.contraction->getOperand(0)),
      panels(projection.contraction->getOperand(1)), thread(thread), lane(e.rem(thread, kWarp)), warp(e.div(thread, kWarp)),
      chunks(projection.chunks()), shared(shape.empty() ? Value() : e.allocateShared(e.getF32Type(), shape)),
      rows(e.size(projection.contraction->getOperand(2), 0)), columns(e.size(projection.contraction->getOperand(2), 1)) {}

void LowPrecisionGemm::storeSlice(Value firstRow, Value firstColumn, int64_t width, llvm::function_ref<Value(Value, Value)> sumAt) {
  Value right = e.rem(thread, width), column = e.add(firstColumn, right), left = e.sub(rows, firstRow);
  Value exists = e.compare(arith::CmpIPredicate::slt, column, columns), clamped = e.min(column, e.add(columns, -1));
  int64_t step = kBlockThreads / width;
  auto store = [&](int64_t atOnce, bool isWhole) -> Values {
    Value end = isWhole ? e.index(kSliceRows) : e.min(left, e.index(kSliceRows));
    e.loop(e.div(thread, width), end, atOnce * step, [&](Value first) {
      SmallVector<SumAtElement> sums;
      for (int64_t i = 0; i < atOnce; ++i) {
        Value down = e.add(first, i * step);
        sums.push_back({isWhole ? Value() : exists, e.add(firstRow, down), isWhole ? column : clamped, sumAt(down, right)});
      }
      storeResult(sums);
    });
    return {};
  };
  Value isWhole = e.both(e.compare(arith::CmpIPredicate::sge, left, kSliceRows),
                         e.compare(arith::CmpIPredicate::sle, e.add(firstColumn, width), columns));
  constexpr int64_t kAtOnce = 8;
  e.choose(isWhole, [&] { return store(kAtOnce, true); }, [&] { return store(1, false); });
}

void LowPrecisionGemm::storeResult(ArrayRef<SumAtElement> sums) {
  Value whole = projection.contraction->getOperand(2);
  if (projection.zero)
    return storeSums(e, projection.epilogue, whole, sums);
  assert(!projection.epilogue && "an epilogue needs sums that begin with zero");
  for (const SumAtElement &sum : sums)
    e.ifThen(sum.exists, [&] {
      Value at[] = {sum.row, sum.column};
      e.store(e.addf(e.load(whole, at), sum.value), whole, at);
    });
}
