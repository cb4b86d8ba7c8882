//===- ThreadHeads.cpp - Keys and rotations as loops of threads ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/DistributeOps.h"
#include "dialect/Tile/IR/TileOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// Emits |op| so that neighboring threads write neighboring columns of the panel. Columns before the first new key keep
/// their values, columns past the last key become 0.
void attune::emitKeyPanel(tiles::KeyPanelOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  Value keys = op.getKeys(), panel = op.getDestinations()[0];
  Value first = op.getColumn() ? op.getColumn() : e.index(0), width = e.size(panel, 1);
  loops.forEach(e, {e.size(panel, 0), e.sub(width, first)}, [&](ValueRange point) {
    Value row = point[1];
    Value exists = e.compare(arith::CmpIPredicate::slt, row, e.size(keys, 0));
    Value key = e.choose(exists, [&] { return Values{e.load(keys, {row, point[0]})}; }, [&] { return Values{e.f32(0.0)}; })[0];
    e.store(key, panel, {point[0], e.add(first, row)});
  });
}

void attune::emitKeyRows(tiles::UnpackKeysOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  Value panel = op.getPanel(), rows = op.getDestinations()[0];
  loops.forEach(e, {e.size(rows, 0), e.size(rows, 1)},
                [&](ValueRange point) { e.store(e.load(panel, {point[1], point[0]}), rows, point); });
}

/// Emits |op|: a thread rotates one pair of components, or copies one component that is not rotated.
void attune::emitRotary(tiles::RotaryTileOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  Value input = op.getInput(), table = op.getTable(), result = op.getDestinations()[0];
  int64_t turned = cast<MemRefType>(table.getType()).getDimSize(1), half = turned / 2;
  int64_t headDim = cast<MemRefType>(input.getType()).getDimSize(2);
  loops.forEach(e, {e.size(input, 0), e.size(input, 1), e.index(half)}, [&](ValueRange point) {
    Value token = point[0], head = point[1], pair = point[2];
    Value position = e.toIndex(e.load(op.getPositions(), token));
    Value cosine = e.load(table, {position, pair}), sine = e.load(table, {position, e.add(pair, half)});
    Value first = op.getInterleaved() ? e.mul(pair, 2) : pair, second = e.add(first, op.getInterleaved() ? 1 : half);
    Value a = e.load(input, {token, head, first}), b = e.load(input, {token, head, second});
    Value minus = arith::NegFOp::create(e, sine);
    e.store(e.fma(b, minus, e.mulf(a, cosine)), result, {token, head, first});
    e.store(e.fma(a, sine, e.mulf(b, cosine)), result, {token, head, second});
  });
  if (turned < headDim)
    loops.forEach(e, {e.size(input, 0), e.size(input, 1), e.index(headDim - turned)}, [&](ValueRange point) {
      Value at[] = {point[0], point[1], e.add(point[2], turned)};
      e.store(e.load(input, at), result, at);
    });
}
