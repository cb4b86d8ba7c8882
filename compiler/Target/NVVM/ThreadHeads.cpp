//===- ThreadHeads.cpp - Keys, cached values and rotations by threads ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/CacheLoads.h"
#include "compiler/Target/NVVM/DistributeOps.h"
#include "compiler/Transforms/CacheElements.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/CacheLayout.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// Quantizes the rows of |from|, f32 `[n, size]`, with one warp for each row. |store| stores the integer of component
/// |column| of row |row|, |storeScale| stores the scale of row |row|.
static void quantizeRows(ThreadBuilder &e, const ThreadLoops &loops, Value from, int64_t size,
                         llvm::function_ref<void(Value integer, Value row, Value column)> store,
                         llvm::function_ref<void(Value scale, Value row)> storeScale) {
  loops.forEachWarp(e, e.size(from, 0), [&](Value row, Value lane) {
    Value none = arith::ConstantIntOp::create(e, 0, 32), end = e.index(size);
    Value largest = e.loop(lane, end, e.index(kWarp), none, [&](Value column, ValueRange carried) -> Values {
      return {maxMagnitude(e, e.load(from, {row, column}), carried[0])};
    })[0];
    IntegerScale scale =
        getIntegerScale(e, e.reduceLanes(largest, [&](Value a, Value b) -> Value { return arith::MaxSIOp::create(e, a, b); }));
    e.loop(lane, end, kWarp,
           [&](Value column) { store(toCacheElement(e, e.load(from, {row, column}), e.getI8Type(), scale), row, column); });
    e.ifThen(e.compare(arith::CmpIPredicate::eq, lane, 0), [&] { storeScale(scale.scale, row); });
  });
}

/// Emits |op|. Columns before the first new key keep their values. In a panel of floats, neighboring threads write the
/// same component of neighboring keys or, if there is one new key only, neighboring components of this key; columns
/// past the last new key become 0. In a panel of integers, each warp writes whole keys with their scales, and columns
/// past the last new key keep their values.
void attune::emitKeyPanel(tiles::KeyPanelOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  Value keys = op.getKeys(), panel = op.getDestinations()[0];
  auto type = cast<MemRefType>(panel.getType());
  Value first = op.getColumn() ? op.getColumn() : e.index(0), width = e.size(panel, 1);
  if (hasScales(panel)) {
    quantizeRows(
        e, loops, keys, xfmr::getHeadSize(type, 0),
        [&](Value integer, Value row, Value d) { e.store(integer, panel, {d, e.add(first, row)}); },
        [&](Value scale, Value row) { storeKeyScale(e, scale, panel, e.add(first, row)); });
    return;
  }
  // Two loops, so that no load is in a branch, where a thread would wait for each load before it starts the next.
  Value components = e.size(panel, 0), columns = e.sub(width, first), copied = e.min(e.size(keys, 0), columns);
  loops.forEach(e, {components, copied}, kPointsAtOnce, [&](ValueRange point) {
    Value element = toCacheElement(e, e.loadWide(keys, {point[1], point[0]}), type.getElementType(), {});
    return [&e, element, panel, at = Values{point[0], e.add(first, point[1])}] { e.store(element, panel, at); };
  });
  Value zero = toCacheElement(e, e.f32(0.0), type.getElementType(), {}), last = e.add(first, copied);
  loops.forEach(e, {components, e.sub(columns, copied)}, kPointsAtOnce, [&](ValueRange point) {
    return [&e, zero, panel, at = Values{point[0], e.add(last, point[1])}] { e.store(zero, panel, at); };
  });
}

void attune::emitCacheRows(tiles::CacheRowsOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  Value values = op.getValues(), rows = op.getDestinations()[0];
  auto type = cast<MemRefType>(rows.getType());
  if (hasScales(rows)) {
    quantizeRows(
        e, loops, values, xfmr::getHeadSize(type, 1),
        [&](Value integer, Value row, Value column) { e.store(integer, rows, {row, column}); },
        [&](Value scale, Value row) { storeValueScale(e, scale, rows, row); });
    return;
  }
  loops.forEach(e, {e.size(values, 0), e.size(values, 1)}, kPointsAtOnce, [&](ValueRange point) {
    Value element = toCacheElement(e, e.load(values, point), type.getElementType(), {});
    return [&e, element, rows, at = Values(point)] { e.store(element, rows, at); };
  });
}

void attune::emitKeyRows(tiles::UnpackKeysOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  Value panel = op.getPanel(), rows = op.getDestinations()[0];
  loops.forEach(e, {e.size(rows, 0), e.size(rows, 1)}, kPointsAtOnce, [&](ValueRange point) {
    return [&e, value = e.load(panel, {point[1], point[0]}), rows, at = Values(point)] { e.store(value, rows, at); };
  });
}

/// Emits |op|: a point of the first loop is a pair of components to rotate, a point of the second loop is a component
/// to copy.
void attune::emitRotary(tiles::RotaryTileOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  Value input = op.getInput(), table = op.getTable(), result = op.getDestinations()[0];
  int64_t turned = cast<MemRefType>(table.getType()).getDimSize(1), half = turned / 2;
  int64_t headDim = cast<MemRefType>(input.getType()).getDimSize(2);
  loops.forEach(e, {e.size(input, 0), e.size(input, 1), e.index(half)}, kPointsAtOnce, [&](ValueRange point) {
    Value token = point[0], head = point[1], pair = point[2];
    Value position = e.toIndex(e.load(op.getPositions(), token));
    Value cosine = e.load(table, {position, pair}), sine = e.load(table, {position, e.add(pair, half)});
    Value first = op.getInterleaved() ? e.mul(pair, 2) : pair, second = e.add(first, op.getInterleaved() ? 1 : half);
    Value a = e.load(input, {token, head, first}), b = e.load(input, {token, head, second});
    Value minus = arith::NegFOp::create(e, sine);
    Value turnedA = e.fma(b, minus, e.mulf(a, cosine)), turnedB = e.fma(a, sine, e.mulf(b, cosine));
    return [=, &e] {
      e.store(turnedA, result, {token, head, first});
      e.store(turnedB, result, {token, head, second});
    };
  });
  if (turned < headDim)
    loops.forEach(e, {e.size(input, 0), e.size(input, 1), e.index(headDim - turned)}, kPointsAtOnce, [&](ValueRange point) {
      Values at{point[0], point[1], e.add(point[2], turned)};
      return [&e, value = e.load(input, at), result, at] { e.store(value, result, at); };
    });
}
