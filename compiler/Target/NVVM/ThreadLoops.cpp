//===- ThreadLoops.cpp - Loops that the threads of a block share --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ThreadLoops.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

/// Returns the indices of point number |number| in a space of |sizes|, the last dimension fastest.
static SmallVector<Value> pointAt(ThreadBuilder &e, ArrayRef<Value> sizes, Value number) {
  SmallVector<Value> point(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 1;) {
    point[dim] = e.rem(number, sizes[dim]);
    number = e.div(number, sizes[dim]);
  }
  if (!sizes.empty())
    point[0] = number;
  return point;
}

void ThreadLoops::forEach(ThreadBuilder &e, ArrayRef<Value> sizes, int64_t atOnce, PointBody body) const {
  Value count = e.index(1);
  for (Value size : sizes)
    count = e.mul(count, size);
  if (std::optional<int64_t> points = getConstantIntValue(count), each = getConstantIntValue(step); points && each)
    atOnce = std::clamp<int64_t>(llvm::divideCeil(*points, *each), 1, atOnce);
  Value last = e.sub(count, e.index(1));
  e.loop(first, count, e.mul(step, atOnce), [&](Value number) {
    SmallVector<std::pair<Value, std::function<void()>>> stores;
    for (int64_t i = 0; i < atOnce; ++i) {
      // Points past the last one load what the last one loads, and store nothing.
      Value mine = e.add(number, e.mul(step, i)), exists = i == 0 ? Value() : e.compare(arith::CmpIPredicate::slt, mine, count);
      stores.emplace_back(exists, body(pointAt(e, sizes, exists ? e.min(mine, last) : mine)));
    }
    for (auto &[exists, store] : stores)
      e.ifThen(exists, store);
  });
}

void ThreadLoops::forEachWarp(ThreadBuilder &e, Value count, llvm::function_ref<void(Value, Value)> body) const {
  Value warp = e.div(thread, kWarp), lane = e.rem(thread, kWarp);
  e.loop(warp, count, threads / kWarp, [&](Value item) { body(item, lane); });
}
