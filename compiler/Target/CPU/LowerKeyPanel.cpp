//===- LowerKeyPanel.cpp - Transposition of keys in registers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects `tile.key_panel` with keys of f32 in buffers. Leaves code for blocks of 16 keys x 16 components: 16 loads
// of keys, four layers of 16 shuffles, 16 stores into rows of the panel. In a block with fewer keys the loads of
// missing keys are masked, so nothing past the keys is read and the columns past them become 0. If the head size is not
// a multiple of 16, the last lanes of the loads are masked.
//
// A panel of i8 needs the largest magnitude of each key first. A row of a transposed block has a lane for each key, so
// the maxima of 16 keys are the lanes of one vector. Each block of 16 keys is transposed twice, for the maxima and for
// the integers.
//
// A masked load of memory that has no page yet does not fault, but takes some 140 ns (Zen 4). The rows past the last
// key are such memory if the caller has allocated memory for longer sequences. So the load of a missing key has the
// address of the first key.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CacheScales.h"
#include "compiler/Target/CPU/Passes.h"
#include "compiler/Target/CPU/VectorBuilder.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attune {
#define GEN_PASS_DEF_LOWERKEYPANEL
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;
using Values = VectorBuilder::Values;

namespace {

/// Transposes 16 vectors of 16 lanes: 2 x 2 blocks of floats, then of pairs of floats, within each 128 bits, then
/// blocks of 128 bits. Each shuffle is a single instruction with AVX-512 and one for each half with AVX2.
Values transpose(VectorBuilder &e, Values rows) {
  auto shuffle = [&](Value x, Value y, ArrayRef<int64_t> lane) -> Value {
    SmallVector<int64_t> mask;
    for (int64_t quarter = 0; quarter < 16; quarter += 4)
      for (int64_t i : lane)
        mask.push_back(i < 4 ? quarter + i : 16 + quarter + i - 4);
    return vector::ShuffleOp::create(e, x, y, mask);
  };
  auto quarters = [&](Value x, Value y, int64_t first) -> Value { // quarters first, first + 2 of x, then of y
    SmallVector<int64_t> mask;
    for (int64_t base : {0, 16})
      for (int64_t quarter : {first, first + 2})
        for (int64_t i = 0; i < 4; ++i)
          mask.push_back(base + 4 * quarter + i);
    return vector::ShuffleOp::create(e, x, y, mask);
  };
  Values pairs, fours(16), result(16);
  for (int64_t i = 0; i < 16; i += 2) {
    pairs.push_back(shuffle(rows[i], rows[i + 1], {0, 4, 1, 5}));
    pairs.push_back(shuffle(rows[i], rows[i + 1], {2, 6, 3, 7}));
  }
  for (int64_t g = 0; g < 16; g += 4) // fours[g + i], quarter q: column 4 q + i of rows g to g + 3
    for (int64_t c = 0; c < 2; ++c) {
      fours[g + 2 * c] = shuffle(pairs[g + c], pairs[g + c + 2], {0, 1, 4, 5});
      fours[g + 2 * c + 1] = shuffle(pairs[g + c], pairs[g + c + 2], {2, 3, 6, 7});
    }
  for (int64_t c = 0; c < 4; ++c)
    for (int64_t q = 0; q < 2; ++q) {
      Value top = quarters(fours[c], fours[4 + c], q), bottom = quarters(fours[8 + c], fours[12 + c], q);
      result[4 * q + c] = quarters(top, bottom, 0);
      result[4 * (q + 2) + c] = quarters(top, bottom, 1);
    }
  return result;
}

/// Returns the components |d| to |d| + |components| - 1 of the 16 keys from key |column| on: for each component, a
/// vector with a lane for each key. |left| is the number of keys from |column| on, or null if that is at least 16.
/// Lanes of keys that do not exist are 0.
Values loadBlock(VectorBuilder &e, Value keys, Value d, int64_t components, Value column, Value left) {
  Values rows;
  for (int64_t i = 0; i < 16; ++i) {
    Lanes lanes = Lanes::first(components);
    Value row = e.add(column, i);
    if (left) {
      Value exists = e.compare(arith::CmpIPredicate::sgt, left, i);
      lanes = Lanes::first(e.select(exists, e.index(components), e.index(0)));
      row = e.select(exists, row, e.index(0));
    }
    rows.push_back(e.load(keys, {row, d}, lanes));
  }
  Values block = transpose(e, rows);
  block.truncate(components);
  return block;
}

/// Appends |keys|, usually a few, to the keys of |panel|: writes them element by element into the columns from |column|
/// on. Other columns are not changed.
void fillBehind(VectorBuilder &e, Value keys, Value panel, Value column) {
  auto type = cast<MemRefType>(panel.getType());
  Type element = type.getElementType();
  e.loop(e.index(0), e.size(keys, 0), 1, [&](Value j) {
    Value at = e.add(column, j);
    IntegerScale scale;
    if (element.isInteger(8)) {
      scale = getScaleOfRow(e, keys, j);
      storeScales(e, scale.scale, panel, getScaleIndices(e, panel, at));
    }
    e.loop(e.index(0), e.index(xfmr::getHeadSize(type, 0)), 1, [&](Value d) {
      memref::StoreOp::create(e, toCacheElement(e, e.loadScalar(keys, {j, d}), element, scale), panel, ValueRange{d, at});
    });
  });
}

/// Writes |keys| into the columns of |panel| from the first on. The first block of 16 columns and later blocks that
/// have keys are written whole, with zeros after the keys. Other blocks are not changed, so that the first token in a
/// panel of a cache does not write the whole panel.
void fillPanel(VectorBuilder &e, Value keys, Value panel) {
  auto type = cast<MemRefType>(panel.getType());
  Type element = type.getElementType();
  int64_t headDim = xfmr::getHeadSize(type, 0), whole = headDim / 16 * 16;
  // Returns the bits of the largest magnitudes of 16 keys.
  auto findLargest = [&](Value column, Value left) -> Value {
    auto words = VectorType::get({VectorBuilder::kLanes}, e.getI32Type());
    auto take = [&](Value d, int64_t components, Value largest) {
      for (Value lanes : loadBlock(e, keys, d, components, column, left))
        largest = maxMagnitude(e, lanes, largest);
      return largest;
    };
    Value largest = arith::ConstantOp::create(e, e.getZeroAttr(words));
    if (whole > 0)
      largest = e.loop(e.index(0), e.index(whole), 16, {largest},
                       [&](Value d, ValueRange carried) -> Values { return {take(d, 16, carried[0])}; })[0];
    return whole < headDim ? take(e.index(whole), headDim - whole, largest) : largest;
  };
  auto fillColumns = [&](Value column, Value left) {
    IntegerScale scale;
    if (element.isInteger(8)) {
      scale = getIntegerScale(e, findLargest(column, left));
      storeScales(e, scale.scale, panel, getScaleIndices(e, panel, column));
    }
    auto fillRows = [&](Value d, int64_t components) {
      for (auto [i, lanes] : llvm::enumerate(loadBlock(e, keys, d, components, column, left)))
        e.store(toCacheElement(e, lanes, element, scale), panel, {e.add(d, i), column});
    };
    if (whole > 0)
      e.loop(e.index(0), e.index(whole), 16, [&](Value d) { fillRows(d, 16); });
    if (whole < headDim)
      fillRows(e.index(whole), headDim - whole);
  };
  Value count = e.size(keys, 0), fullBlocks = e.mul(e.div(count, 16), 16);
  e.loop(e.index(0), fullBlocks, 16, [&](Value column) { fillColumns(column, Value()); });
  // Without keys the first block is written, too.
  Value hasRest = e.either(e.compare(arith::CmpIPredicate::sgt, count, fullBlocks), e.compare(arith::CmpIPredicate::eq, count, 0));
  e.ifThen(hasRest, [&] { fillColumns(fullBlocks, e.sub(count, fullBlocks)); });
}

void lower(tiles::KeyPanelOp op) {
  VectorBuilder e(op.getLoc(), op);
  Value keys = op.getKeys(), panel = op.getDestinations()[0];
  if (Value column = op.getColumn()) {
    Value isFirst = e.compare(arith::CmpIPredicate::eq, column, 0);
    e.choose(
        isFirst, [&]() -> Values { return fillPanel(e, keys, panel), Values(); },
        [&]() -> Values { return fillBehind(e, keys, panel, column), Values(); });
  } else {
    fillPanel(e, keys, panel);
  }
  op.erase();
}

struct LowerKeyPanel : attune::impl::LowerKeyPanelBase<LowerKeyPanel> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](tiles::KeyPanelOp op) {
      if (!isa<MemRefType>(op.getKeys().getType()))
        return WalkResult::advance();
      for (Value buffer : {Value(op.getKeys()), op.getDestinations()[0]})
        if (auto type = cast<MemRefType>(buffer.getType()); !type.isLastDimUnitStride())
          return op.emitOpError("expects buffers with a contiguous last dimension, but got ") << type, WalkResult::interrupt();
      if (Type keys = op.getKeys().getType(); !getElementTypeOrSelf(keys).isF32())
        return op.emitOpError("expects keys of f32, but got ") << keys, WalkResult::interrupt();
      int64_t width = cast<MemRefType>(op.getDestinations()[0].getType()).getDimSize(1);
      if (width % VectorBuilder::kLanes != 0)
        return op.emitOpError("expects a panel width that is a multiple of 16, but got ") << width, WalkResult::interrupt();
      lower(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
