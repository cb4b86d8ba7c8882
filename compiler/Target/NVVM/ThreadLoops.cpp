//===- ThreadLoops.cpp - Loops that the threads of a block share --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ThreadLoops.h"

using namespace mlir;
using namespace attune;

void ThreadLoops::forEach(ThreadBuilder &e, ArrayRef<Value> sizes, llvm::function_ref<void(ValueRange)> body) const {
  Value count = e.index(1);
  for (Value size : sizes)
    count = e.mul(count, size);
  e.loop(first, count, step, [&](Value number) {
    SmallVector<Value> point(sizes.size());
    for (size_t dim = sizes.size(); dim-- > 1;) {
      point[dim] = e.rem(number, sizes[dim]);
      number = e.div(number, sizes[dim]);
    }
    if (!sizes.empty())
      point[0] = number;
    body(point);
  });
}

void ThreadLoops::forEachWarp(ThreadBuilder &e, Value count, llvm::function_ref<void(Value, Value)> body) const {
  Value warp = e.div(thread, kWarp), lane = e.rem(thread, kWarp);
  e.loop(warp, count, threads / kWarp, [&](Value item) { body(item, lane); });
}
