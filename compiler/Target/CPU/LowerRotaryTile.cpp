//===- LowerRotaryTile.cpp - Rotary embeddings and unpacking of keys -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `tile.rotary_tile` and `tile.unpack_keys` on f32 buffers, with positions of i64. A rotary embedding becomes a
// loop over tokens and heads, with the vectors of a head unrolled. If pair i consists of component i of the first half
// and component i of the second half of the rotated components, 16 pairs are two vectors. If a pair is two neighbors
// (interleaved), 8 pairs are one vector, in which a shuffle swaps neighbors. The code of `tile.unpack_keys` copies keys
// of a panel into rows, element by element.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"
#include "compiler/Target/CPU/VectorBuilder.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attune {
#define GEN_PASS_DEF_LOWERROTARYTILE
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;
using Values = VectorBuilder::Values;

namespace {

/// Emits the code of one tile.rotary_tile.
class RotaryEmitter {
public:
  explicit RotaryEmitter(tiles::RotaryTileOp op)
      : op(op), e(op.getLoc(), op), input(op.getInput()), table(op.getTable()), result(op.getDestinations()[0]),
        turned(cast<MemRefType>(table.getType()).getDimSize(1)), headDim(cast<MemRefType>(input.getType()).getDimSize(2)) {}

  void run() {
    e.loop(e.index(0), e.size(input, 0), 1, [&](Value t) {
      token = t;
      position = e.toIndex(e.loadScalar(op.getPositions(), {token}));
      e.loop(e.index(0), e.size(input, 1), 1, [&](Value h) {
        head = h;
        op.getInterleaved() ? emitPairs() : emitHalves();
        emitRest();
      });
    });
  }

private:
  /// Returns the rotated pair, x c - y s and y c + x s, for the cosine c and the sine s.
  Values turn(Value x, Value y, Value cosine, Value sine) {
    Value minus = arith::NegFOp::create(e, sine);
    return {e.fma(y, minus, e.mulf(x, cosine)), e.fma(x, sine, e.mulf(y, cosine))};
  }

  void emitHalves() {
    int64_t half = turned / 2;
    VectorBuilder::forChunks(half, [&](int64_t column, Lanes lanes) {
      Values first{token, head, e.index(column)}, second{token, head, e.index(half + column)};
      Value cosine = e.load(table, {position, e.index(column)}, lanes), sine = e.load(table, {position, e.index(half + column)}, lanes);
      Values both = turn(e.load(input, first, lanes), e.load(input, second, lanes), cosine, sine);
      e.store(both[0], result, first, lanes);
      e.store(both[1], result, second, lanes);
    });
  }

  /// Emits interleaved pairs, 8 at a time: x c + swap(x) s, where even lanes of s have the negated sine.
  void emitPairs() {
    int64_t half = turned / 2;
    SmallVector<int64_t> twice, swapped;
    SmallVector<float> signs;
    for (int64_t lane = 0; lane < VectorBuilder::kLanes; ++lane) {
      twice.push_back(lane / 2);
      swapped.push_back(lane ^ 1);
      signs.push_back(lane % 2 ? 1.0f : -1.0f);
    }
    Value sign = arith::ConstantOp::create(e, DenseElementsAttr::get(e.getType(), ArrayRef<float>(signs)));
    auto shuffle = [&](Value vector, ArrayRef<int64_t> mask) -> Value { return vector::ShuffleOp::create(e, vector, vector, mask); };
    for (int64_t pair = 0; pair < half; pair += VectorBuilder::kLanes / 2) {
      Lanes pairs = Lanes::first(std::min<int64_t>(half - pair, VectorBuilder::kLanes / 2)), lanes = Lanes::first(2 * (half - pair));
      Value cosine = shuffle(e.load(table, {position, e.index(pair)}, pairs), twice);
      Value sine = e.mulf(shuffle(e.load(table, {position, e.index(half + pair)}, pairs), twice), sign);
      Values at{token, head, e.index(2 * pair)};
      Value x = e.load(input, at, lanes);
      e.store(e.fma(shuffle(x, swapped), sine, e.mulf(x, cosine)), result, at, lanes);
    }
  }

  /// Copies the components that are not rotated.
  void emitRest() {
    VectorBuilder::forChunks(headDim - turned, [&](int64_t column, Lanes lanes) {
      Values at{token, head, e.index(turned + column)};
      e.store(e.load(input, at, lanes), result, at, lanes);
    });
  }

  tiles::RotaryTileOp op;
  VectorBuilder e;
  Value input, table, result;
  int64_t turned, headDim;
  Value token, head, position;
};

void lower(tiles::UnpackKeysOp op) {
  VectorBuilder e(op.getLoc(), op);
  Value panel = op.getPanel(), rows = op.getDestinations()[0];
  e.loop(e.index(0), e.size(rows, 0), 1, [&](Value j) {
    e.loop(e.index(0), e.size(panel, 0), 1,
           [&](Value d) { memref::StoreOp::create(e, e.loadScalar(panel, {d, j}), rows, ValueRange{j, d}); });
  });
}

/// Reports an error and fails if an operand of |op| is neither a buffer of f32 with contiguous rows nor a buffer of
/// i64.
LogicalResult verifyBuffers(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto type = cast<MemRefType>(operand.getType());
    if (!(type.getElementType().isF32() && type.isLastDimUnitStride()) && !type.getElementType().isInteger(64))
      return op->emitOpError("expects f32 buffers with a contiguous last dimension, but got ") << type;
  }
  return success();
}

struct LowerRotaryTile : attune::impl::LowerRotaryTileBase<LowerRotaryTile> {
  void runOnOperation() override {
    WalkResult walk = getOperation()->walk([&](Operation *op) {
      if (!isa<tiles::RotaryTileOp, tiles::UnpackKeysOp>(op) || !isa<MemRefType>(op->getOperand(0).getType()))
        return WalkResult::advance();
      if (failed(verifyBuffers(op)))
        return WalkResult::interrupt();
      if (auto rotary = dyn_cast<tiles::RotaryTileOp>(op))
        RotaryEmitter(rotary).run();
      else
        lower(cast<tiles::UnpackKeysOp>(op));
      op->erase();
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
