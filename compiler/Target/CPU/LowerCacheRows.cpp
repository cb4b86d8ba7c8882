//===- LowerCacheRows.cpp - Values rounded into caches --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects `tile.cache_rows` on buffers with contiguous rows. Leaves a loop over values, with vectors of 16 components.
// For rows of i8 the values are read twice: for the largest magnitude, which decides the scale, and for the integers.
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CacheScales.h"
#include "compiler/Target/CPU/Passes.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attune {
#define GEN_PASS_DEF_LOWERCACHEROWS
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

void lower(tiles::CacheRowsOp op) {
  VectorBuilder b(op.getLoc(), op);
  Value values = op.getValues(), rows = op.getDestinations()[0];
  auto type = cast<MemRefType>(rows.getType());
  Type element = type.getElementType();
  int64_t size = xfmr::getHeadSize(type, 1);
  b.loop(b.index(0), b.size(values, 0), 1, [&](Value row) {
    IntegerScale scale;
    if (element.isInteger(8)) {
      IntegerScale ofRow = getScaleOfRow(b, values, row);
      storeScales(b, ofRow.scale, rows, {row, b.index(size)});
      scale = broadcast(b, ofRow);
    }
    auto store = [&](Value column, Lanes lanes) {
      Value x = b.load(values, {row, column}, lanes);
      b.store(toCacheElement(b, x, element, scale), rows, {row, column}, lanes);
    };
    int64_t whole = size / VectorBuilder::kLanes * VectorBuilder::kLanes;
    b.loop(b.index(0), b.index(whole), VectorBuilder::kLanes, [&](Value column) { store(column, Lanes::all()); });
    if (whole < size)
      store(b.index(whole), Lanes::first(size - whole));
  });
  op.erase();
}

struct LowerCacheRows : attune::impl::LowerCacheRowsBase<LowerCacheRows> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](tiles::CacheRowsOp op) -> WalkResult {
      if (!isa<MemRefType>(op.getValues().getType()))
        return WalkResult::advance();
      for (Value buffer : {Value(op.getValues()), op.getDestinations()[0]})
        if (auto type = cast<MemRefType>(buffer.getType()); !type.isLastDimUnitStride())
          return op.emitOpError("expects buffers with a contiguous last dimension, but got ") << type;
      lower(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
