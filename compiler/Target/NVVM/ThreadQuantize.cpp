//===- ThreadQuantize.cpp - Rows converted to bf16 or f16 -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/DistributeOps.h"
#include "dialect/Tile/IR/TileOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

void attune::emitQuantizeRows(tiles::QuantizeRowsOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  Value input = op.getInput(), quantized = op.getQuantized();
  // Addresses in a single row differ by constants, so there are registers for twice as many points.
  int64_t atOnce = cast<MemRefType>(quantized.getType()).getDimSize(0) == 1 ? 2 * kPointsAtOnce : kPointsAtOnce;
  Type element = cast<MemRefType>(quantized.getType()).getElementType();
  loops.forEach(e, {e.size(quantized, 0), e.size(quantized, 1)}, atOnce, [&](ValueRange point) {
    Value exists = e.compare(arith::CmpIPredicate::slt, point[1], e.size(input, 1));
    Value x = e.choose(exists, [&] { return Values{e.load(input, point)}; }, [&] { return Values{e.f32(0.0)}; })[0];
    // A destination of f32 gets values that are rounded to bf16.
    Value rounded = arith::TruncFOp::create(e, element.isF32() ? e.getBF16Type() : element, x);
    if (element.isF32())
      rounded = arith::ExtFOp::create(e, element, rounded);
    return [&e, quantized, rounded, at = Values(point)] { e.store(rounded, quantized, at); };
  });
}
